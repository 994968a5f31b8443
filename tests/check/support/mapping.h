// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Memory of the operating system's, which can be freed and had again at the same address.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "support/device_bytes.h"

namespace test {

/// Anonymous memory with these bytes in it.
class Mapping {
 public:
  explicit Mapping(const Bytes& bytes) : size_(bytes.size()), data_(map(nullptr, 0)) {
    fill(bytes);
  }
  Mapping(const Mapping&) = delete;
  ~Mapping() { munmap(data_, size_); }

  /// Frees the memory and gets other memory at the same address, in one step: nobody else can get
  /// it meanwhile.
  void map_again(const Bytes& bytes) {
    map(data_, MAP_FIXED);
    fill(bytes);
  }

  void fill(const Bytes& bytes) { std::copy(bytes.begin(), bytes.end(), data()); }

  std::uint8_t* data() const { return static_cast<std::uint8_t*>(data_); }
  std::byte* bytes() const { return as_bytes(data()); }
  std::size_t size() const { return size_; }
  Bytes now() const { return Bytes(data(), data() + size_); }

 private:
  void* map(void* address, int flags) const {
    void* const data =
        mmap(address, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (data == MAP_FAILED) std::abort();
    return data;
  }

  const std::size_t size_;
  void* const data_;
};

/// A file with these bytes in it, mapped for reading alone. `flags`: MAP_PRIVATE or MAP_SHARED.
class FileMapping {
 public:
  FileMapping(const Bytes& bytes, int flags) : size_(bytes.size()) {
    std::FILE* const file = std::tmpfile();
    if (!file || std::fwrite(bytes.data(), 1, size_, file) != size_ || std::fflush(file) != 0)
      std::abort();
    data_ = mmap(nullptr, size_, PROT_READ, flags, fileno(file), 0);
    std::fclose(file);
    if (data_ == MAP_FAILED) std::abort();
  }
  FileMapping(const FileMapping&) = delete;
  ~FileMapping() { munmap(data_, size_); }

  const std::byte* bytes() const { return static_cast<const std::byte*>(data_); }

 private:
  const std::size_t size_;
  void* data_;
};

}  // namespace test
