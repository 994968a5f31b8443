// SPDX-License-Identifier: LGPL-2.1-or-later
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>
#include <vector>

#include "cuda/cube_file.h"

namespace stripe {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{256} << 10;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw CubeFileError(path + ": " + what);
}

[[noreturn]] void fail_with(int error, const std::string& path, const std::string& what) {
  fail(path, what + ": " + std::generic_category().message(error));
}

/// An open file that is closed with it.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path);
  ~OpenFile() { close(fd_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  struct stat status() const;

  /// Up to so many bytes; 0 at the end.
  std::size_t read_some(char* data, std::size_t size_bytes);

 private:
  const std::string& path_;
  int fd_ = -1;
};

// Opening a FIFO would wait for its other end, a terminal could become the process's own.
OpenFile::OpenFile(const std::string& path) : path_(path) {
  do fd_ = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  while (fd_ < 0 && errno == EINTR);
  if (fd_ < 0) fail_with(errno, path, "can't be opened");
}

struct stat OpenFile::status() const {
  struct stat status {};
  if (fstat(fd_, &status) != 0) fail_with(errno, path_, "can't be examined");
  return status;
}

std::size_t OpenFile::read_some(char* data, std::size_t size_bytes) {
  ssize_t count = 0;
  do count = read(fd_, data, size_bytes);
  while (count < 0 && errno == EINTR);
  if (count < 0) fail_with(errno, path_, "can't be read");
  return static_cast<std::size_t>(count);
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "something else";
}

void expect_readable(const std::string& path, const struct stat& status) {
  if (!S_ISREG(status.st_mode))
    fail(path, std::string("is ") + kind_of(status.st_mode) +
                   ", not a regular file; choose a .cube file");
  if (status.st_size > largest_cube_file_bytes)
    fail(path, "is larger than 256 MiB, which no LUT needs; choose a .cube file");
}

bool is_unchanged(const struct stat& before, const struct stat& after) {
  return before.st_size == after.st_size && before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
         before.st_mtim.tv_nsec == after.st_mtim.tv_nsec;
}

/// The whole file, or what there is of it up to a NUL: text has none, and a hole is nothing else.
std::string text_of(const std::string& path) {
  OpenFile file(path);
  const struct stat before = file.status();
  expect_readable(path, before);
  const auto expected = static_cast<std::size_t>(before.st_size);
  std::vector<char> chunk(std::min(chunk_bytes, expected + 1));
  std::string text;
  bool is_whole = true;
  while (const std::size_t count = file.read_some(chunk.data(), chunk.size())) {
    is_whole = text.size() + count <= expected;
    if (!is_whole) break;
    // Memory grows with what was read, and isn't reserved: the rest may be a hole.
    text.append(chunk.data(), count);
    if (std::memchr(chunk.data(), 0, count)) return text;
  }
  if (!is_whole || text.size() < expected || !is_unchanged(before, file.status()))
    fail(path,
         "changed while it was read, or isn't as long as it says; write it to another name "
         "and rename that");
  return text;
}

}  // namespace

std::shared_ptr<const Lut> read_cube_file(const std::string& path) {
  try {
    return std::make_shared<const Lut>(parse_cube(text_of(path), path));
  } catch (const std::bad_alloc&) {
    fail(path, "there is not enough memory to read it; use a smaller LUT");
  }
}

}  // namespace stripe
