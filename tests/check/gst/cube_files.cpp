// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/cube_files.h"

#include <fstream>
#include <sstream>
#include <vector>

#include "support/check.h"

namespace test {
namespace {

std::string text_of(const std::string& heading, const std::vector<stripe::LutColor>& entries) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(9);
  text << "# a comment\n" << heading << '\n';
  for (const auto& [r, g, b] : entries) text << r << ' ' << g << ' ' << b << '\n';
  return text.str();
}

}  // namespace

Cube turning_cube(int size) {
  auto lut = std::make_shared<stripe::Lut>();
  lut->cube_size = size;
  const auto at = [size](int i) { return static_cast<float>(i) / static_cast<float>(size - 1); };
  for (int b = 0; b < size; ++b)
    for (int g = 0; g < size; ++g)
      for (int r = 0; r < size; ++r) lut->cube.push_back({1 - at(b), at(r), at(g) / 2 + 0.5f});
  return {text_of("TITLE \"turned\"\nLUT_3D_SIZE " + std::to_string(size), lut->cube), lut};
}

Cube bent_curve() {
  auto lut = std::make_shared<stripe::Lut>();
  lut->curve = {{0, 0, 0}, {0.25f, 0.5f, 0.625f}, {1, 1, 1}};
  return {text_of("LUT_1D_SIZE 3", lut->curve), lut};
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  fail_unless(file.good(), "cannot write %s", path.c_str());
}

}  // namespace test
