// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cube_file.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "json.h"

namespace benchmark {

namespace {

constexpr int entries = 33;

// 0 and 1 stay; between them it is brighter by at most so much.
std::string bend(int i, double by) {
  const double x = static_cast<double>(i) / (entries - 1);
  return json_number(x + 4 * by * x * (1 - x), 6);  // no locale's comma
}

// Red changes fastest.
void write_cube(FILE* file) {
  std::fprintf(file, "TITLE \"bent\"\nLUT_3D_SIZE %d\n", entries);
  for (int blue = 0; blue < entries; ++blue)
    for (int green = 0; green < entries; ++green)
      for (int red = 0; red < entries; ++red)
        std::fprintf(file, "%s %s %s\n", bend(red, 0.05).c_str(), bend(green, 0.02).c_str(),
                     bend(blue, -0.05).c_str());
}

}  // namespace

CubeFile::CubeFile() {
  const char* folder = std::getenv("TMPDIR");
  path_ = std::string(folder ? folder : "/tmp") + "/benchmark-XXXXXX.cube";
  const int descriptor = mkstemps(path_.data(), 5);
  FILE* const file = descriptor < 0 ? nullptr : fdopen(descriptor, "w");
  if (!file) throw std::runtime_error(path_ + ": can't be written");
  write_cube(file);
  if (std::fclose(file) != 0) throw std::runtime_error(path_ + ": can't be written");
}

CubeFile::~CubeFile() { unlink(path_.c_str()); }

}  // namespace benchmark
