// SPDX-License-Identifier: LGPL-2.1-or-later
// .cube files on the disk: what is no file, what is too much, what changes meanwhile, and what the
// system answers to it.

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>

#include "cuda/cube_file.h"
#include "support/allocations.h"
#include "support/cube_texts.h"
#include "support/library_main.h"

namespace {

ssize_t real_read(int fd, void* data, std::size_t size) {
  return syscall(SYS_read, fd, data, size);
}

/// What `read` does, where something is set.
std::function<ssize_t(int, void*, std::size_t)> read_instead;

}  // namespace

// Instead of the C library's, so that a test can be the system.
extern "C" ssize_t read(int fd, void* data, std::size_t size) {
  return read_instead ? read_instead(fd, data, size) : real_read(fd, data, size);
}

using namespace test;
using stripe::CubeFileError;
using stripe::read_cube_file;

namespace {

constexpr off_t mebibyte = 1 << 20;

/// A folder that goes with it.
struct Folder {
  Folder() {
    char name[] = "/tmp/stripe-cube-XXXXXX";
    fail_unless(mkdtemp(name) != nullptr);
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }

  std::string file(const std::string& text) const {
    const std::string name = path + "/some.cube";
    std::FILE* out = std::fopen(name.c_str(), "wb");
    fail_unless(out != nullptr);
    fail_unless_equals_uint64(std::fwrite(text.data(), 1, text.size(), out), text.size());
    std::fclose(out);
    return name;
  }

  /// As `file`, and a hole after it up to `size` bytes.
  std::string sparse_file(const std::string& text, off_t size) const {
    const std::string name = file(text);
    fail_unless_equals_int(truncate(name.c_str(), size), 0);
    return name;
  }

  std::string path;
};

int open_files() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return static_cast<int>(std::distance(begin(files), end(files)));
}

std::string refusal_of(const std::string& path) {
  try {
    read_cube_file(path);
  } catch (const CubeFileError& error) {
    return error.what();
  }
  return "";
}

/// Refused with a message that begins with the path and has these words; nothing stays open.
void expect_refusal(const std::string& path, const std::string& words) {
  const int before = open_files();
  const std::string error = refusal_of(path);
  fail_unless(error.starts_with(path + ":") && error.find(words) != std::string::npos,
              "not %s...%s but: %s", path.c_str(), words.c_str(),
              error.empty() ? "no error" : error.c_str());
  fail_unless_equals_int(open_files(), before);
}

GST_START_TEST(a_file) {
  const Folder folder;
  const std::string path = folder.file(plain_cube);
  const int before = open_files();
  expect_cube(*read_cube_file(path));
  fail_unless_equals_int(symlink(path.c_str(), (folder.path + "/link").c_str()), 0);
  expect_cube(*read_cube_file(folder.path + "/link"));
  fail_unless_equals_int(open_files(), before);
}
GST_END_TEST;

GST_START_TEST(a_file_of_many_reads) {
  const Folder folder;
  std::string comments;
  while (comments.size() < 3 * mebibyte) comments += "# " + std::string(997, 'x') + "\n";
  expect_cube(*read_cube_file(folder.file(comments + plain_cube)));
}
GST_END_TEST;

GST_START_TEST(an_error_in_the_text_names_file_and_line) {
  const Folder folder;
  const std::string path = folder.file("LUT_3D_SIZE 2\n0 0 x\n" + cube_entries);
  fail_unless(refusal_of(path).starts_with(path + ":2: "), "%s", refusal_of(path).c_str());
  expect_refusal(folder.file(""), ":1: no LUT_1D_SIZE");
}
GST_END_TEST;

GST_START_TEST(no_such_file) {
  const Folder folder;
  expect_refusal("", std::generic_category().message(ENOENT));
  expect_refusal(folder.path + "/none.cube", std::generic_category().message(ENOENT));
  expect_refusal(folder.file("") + "/x", std::generic_category().message(ENOTDIR));
  expect_refusal(folder.path + "/" + std::string(300, 'x'),
                 std::generic_category().message(ENAMETOOLONG));
}
GST_END_TEST;

// None may wait: the FIFO has nobody at its other end, and /dev/zero has no end.
GST_START_TEST(what_is_no_regular_file) {
  const Folder folder;
  expect_refusal(folder.path, "is a directory");
  expect_refusal("/dev/zero", "is a device");
  expect_refusal("/dev/null", "is a device");
  const std::string fifo = folder.path + "/fifo";
  fail_unless_equals_int(mkfifo(fifo.c_str(), 0600), 0);
  expect_refusal(fifo, "is a FIFO");
  // Nor where somebody writes.
  const int writer = open(fifo.c_str(), O_RDWR);
  fail_unless(write(writer, plain_cube.data(), plain_cube.size()) > 0);
  expect_refusal(fifo, "is a FIFO");
  close(writer);
  sockaddr_un address{AF_UNIX, {}};
  const std::string name = folder.path + "/socket";
  name.copy(address.sun_path, sizeof address.sun_path - 1);
  const int server = socket(AF_UNIX, SOCK_STREAM, 0);
  fail_unless_equals_int(bind(server, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  expect_refusal(name, "can't be opened");
  close(server);
}
GST_END_TEST;

/// Refuses it, having read and allocated about as much as before the first NUL.
void expect_quick_refusal(const std::string& path, const std::string& words, off_t text_bytes) {
  off_t bytes_read = 0;
  read_instead = [&](int fd, void* data, std::size_t size) {
    const ssize_t count = real_read(fd, data, size);
    bytes_read += std::max<ssize_t>(count, 0);
    return count;
  };
  const std::size_t most = most_at_once([&] { expect_refusal(path, words); });
  read_instead = nullptr;
  fail_unless(bytes_read <= text_bytes + mebibyte, "%ld bytes read", static_cast<long>(bytes_read));
  fail_unless(static_cast<off_t>(most) <= 2 * text_bytes + mebibyte, "%zu bytes at once", most);
}

GST_START_TEST(giants) {
  const Folder folder;
  expect_quick_refusal(folder.sparse_file(plain_cube, 256 * mebibyte + 1), "larger than 256 MiB",
                       0);
  expect_quick_refusal(folder.sparse_file(plain_cube, off_t{1} << 42), "larger than 256 MiB", 0);
  expect_quick_refusal(folder.sparse_file(plain_cube, 256 * mebibyte), ":10: a NUL byte", 0);
  expect_quick_refusal(folder.sparse_file("", 200 * mebibyte), ":1: a NUL byte", 0);
  std::string comments;
  while (comments.size() < 5 * mebibyte) comments += "#" + std::string(98, 'x') + "\n";
  expect_quick_refusal(folder.sparse_file(comments, 256 * mebibyte), ": a NUL byte",
                       static_cast<off_t>(comments.size()));
}
GST_END_TEST;

GST_START_TEST(interrupted_and_short_reads) {
  const Folder folder;
  const std::string path = folder.file(plain_cube);
  int calls = 0;
  read_instead = [&](int fd, void* data, std::size_t size) {
    if (++calls % 3 != 0) {
      errno = EINTR;
      return ssize_t{-1};
    }
    return real_read(fd, data, std::min<std::size_t>(size, 1));
  };
  const auto lut = read_cube_file(path);
  read_instead = nullptr;
  expect_cube(*lut);
  fail_unless_equals_int(calls, 3 * (static_cast<int>(plain_cube.size()) + 1));
}
GST_END_TEST;

GST_START_TEST(opened_for_this_process_alone_and_without_waiting) {
  const Folder folder;
  const std::string path = folder.file(plain_cube);
  int flags = 0, descriptor_flags = 0;
  read_instead = [&](int fd, void* data, std::size_t size) {
    flags = fcntl(fd, F_GETFL);
    descriptor_flags = fcntl(fd, F_GETFD);
    return real_read(fd, data, size);
  };
  read_cube_file(path);
  read_instead = nullptr;
  fail_unless((flags & O_NONBLOCK) && (flags & O_ACCMODE) == O_RDONLY);
  fail_unless(descriptor_flags & FD_CLOEXEC);
}
GST_END_TEST;

/// Does this to the file after its first 30 bytes were read.
void expect_change_seen(const std::string& path, const std::function<void()>& change) {
  off_t bytes_read = 0;
  read_instead = [&](int fd, void* data, std::size_t size) {
    const ssize_t count = real_read(fd, data, bytes_read == 0 ? 30 : size);
    if (bytes_read == 0) change();
    bytes_read += count;
    return count;
  };
  expect_refusal(path, "changed while it was read");
  read_instead = nullptr;
}

void set_time(const std::string& path, time_t seconds) {
  const timespec times[2] = {{seconds, 0}, {seconds, 1}};
  fail_unless_equals_int(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

GST_START_TEST(files_that_change_meanwhile) {
  const Folder folder;
  const std::string path = folder.file(plain_cube);
  const auto append = [&] {
    std::FILE* file = std::fopen(path.c_str(), "ab");
    std::fputs("# more\n", file);
    std::fclose(file);
  };
  expect_change_seen(path, append);
  folder.file(plain_cube);
  const auto size = static_cast<off_t>(plain_cube.size());
  expect_change_seen(path, [&] { fail_unless(truncate(path.c_str(), size - 1) == 0); });
  folder.file(plain_cube);
  expect_change_seen(path, [&] { fail_unless(truncate(path.c_str(), 0) == 0); });
  folder.file(plain_cube);
  set_time(path, 1000);
  expect_change_seen(path, [&] { set_time(path, 1001); });
  // Another file in its place is none of this one.
  folder.file(plain_cube);
  read_instead = [&](int fd, void* data, std::size_t bytes) {
    unlink(path.c_str());
    return real_read(fd, data, bytes);
  };
  const auto lut = read_cube_file(path);
  read_instead = nullptr;
  expect_cube(*lut);
}
GST_END_TEST;

// Somebody writes faster than this reads.
GST_START_TEST(a_file_that_grows_without_end) {
  const Folder folder;
  const std::string path = folder.file(plain_cube);
  off_t bytes_read = 0;
  read_instead = [&](int, void* data, std::size_t size) {
    std::fill_n(static_cast<char*>(data), size, '\n');
    bytes_read += static_cast<off_t>(size);
    return static_cast<ssize_t>(size);
  };
  expect_refusal(path, "changed while it was read");
  read_instead = nullptr;
  fail_unless(bytes_read <= mebibyte);
}
GST_END_TEST;

// As files of the kernel's are.
GST_START_TEST(files_that_are_not_as_long_as_they_say) {
  expect_refusal("/proc/self/status", "isn't as long as it says");  // it says 0
  const Folder folder;
  const std::string path = folder.file(plain_cube + "# a comment more\n");
  off_t left = static_cast<off_t>(plain_cube.size());
  read_instead = [&](int fd, void* data, std::size_t size) {
    const ssize_t count = real_read(fd, data, std::min(size, static_cast<std::size_t>(left)));
    left -= count;
    return count;
  };
  expect_refusal(path, "isn't as long as it says");
  read_instead = nullptr;
}
GST_END_TEST;

GST_START_TEST(failing_reads) {
  const Folder folder;
  const std::string path = folder.file(plain_cube);
  for (const int error : {EIO, EAGAIN, EISDIR, ESTALE}) {
    read_instead = [&](int, void*, std::size_t) {
      errno = error;
      return ssize_t{-1};
    };
    const std::string refusal = refusal_of(path);
    read_instead = nullptr;
    fail_unless(refusal == path + ": can't be read: " + std::generic_category().message(error),
                "%s", refusal.c_str());
  }
}
GST_END_TEST;

GST_START_TEST(without_memory) {
  const Folder folder;
  std::string text = "LUT_1D_SIZE 60000\n";
  for (int i = 0; i < 60000; ++i) text += "0 0 0\n";
  const std::string path = folder.file(text);
  refused_from = 600'000;  // the table, not the text
  expect_refusal(path, "not enough memory");
  refused_from = 300'000;  // the text
  expect_refusal(path, "not enough memory");
  refused_from = SIZE_MAX;
  fail_unless_equals_uint64(read_cube_file(path)->curve.size(), 60000);
}
GST_END_TEST;

Suite* cube_file_reading_suite() {
  Suite* suite = suite_create("cube-file-reading");
  TCase* cases = tcase_create("cube-file-reading");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, a_file);
  tcase_add_test(cases, a_file_of_many_reads);
  tcase_add_test(cases, an_error_in_the_text_names_file_and_line);
  tcase_add_test(cases, no_such_file);
  tcase_add_test(cases, what_is_no_regular_file);
  tcase_add_test(cases, giants);
  tcase_add_test(cases, interrupted_and_short_reads);
  tcase_add_test(cases, opened_for_this_process_alone_and_without_waiting);
  tcase_add_test(cases, files_that_change_meanwhile);
  tcase_add_test(cases, a_file_that_grows_without_end);
  tcase_add_test(cases, files_that_are_not_as_long_as_they_say);
  tcase_add_test(cases, failing_reads);
  tcase_add_test(cases, without_memory);
  return suite;
}

}  // namespace

LIBRARY_CHECK_MAIN(cube_file_reading)
