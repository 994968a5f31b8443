// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

namespace benchmark {

// A file that holds a color cube of 33 x 33 x 33 entries, bent a little in each of them, as long as this lives.
class CubeFile {
 public:
  CubeFile();
  CubeFile(const CubeFile&) = delete;
  ~CubeFile();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace benchmark
