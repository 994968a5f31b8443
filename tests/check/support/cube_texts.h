// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Texts of .cube files, what is in them, and what is said of them.

#include <string>
#include <string_view>
#include <vector>

#include "cuda/cube_file.h"
#include "support/check.h"

namespace test {

using stripe::Lut;
using stripe::LutColor;

using Colors = std::vector<LutColor>;

inline constexpr LutColor zeros{0, 0, 0};
inline constexpr LutColor ones{1, 1, 1};

/// Eight entries that are all different, red fastest, and what they are.
inline const std::string cube_entries =
    "0 0.125 0.25\n1 0 .5\n0.5 1 0\n1 1 0.75\n0 0 1\n1 0.25 1\n0 1 1\n2 -1 1\n";
inline const Colors cube_colors = {{0, 0.125, 0.25}, {1, 0, 0.5},  {0.5, 1, 0}, {1, 1, 0.75},
                                   {0, 0, 1},        {1, 0.25, 1}, {0, 1, 1},   {2, -1, 1}};
inline const std::string plain_cube = "LUT_3D_SIZE 2\n" + cube_entries;
inline const std::string curve_entries = "0 0 0.5\n0.25 0.5 0.75\n1 1.5 1\n";
inline const Colors curve_colors = {{0, 0, 0.5}, {0.25, 0.5, 0.75}, {1, 1.5, 1}};
inline const std::string plain_curve = "LUT_1D_SIZE 3\n" + curve_entries;

inline std::string error_of(std::string_view text) {
  try {
    stripe::parse_cube(text, "some.cube");
  } catch (const stripe::CubeFileError& error) {
    return error.what();
  }
  return "";
}

/// Refused for what is in line `line`, with `words` in the message, which also says what to do.
inline void expect_error(std::string_view text, int line, const std::string& words) {
  const std::string error = error_of(text);
  const std::string begin = "some.cube:" + std::to_string(line) + ": ";
  const bool is_as_expected = error.starts_with(begin) && error.find(words) != std::string::npos &&
                              (error.find("; ") != std::string::npos);
  fail_unless(is_as_expected, "not %s...%s but: %s", begin.c_str(), words.c_str(),
              error.empty() ? "no error" : error.c_str());
}

inline void expect_cube(const Lut& lut, const LutColor& min = zeros, const LutColor& max = ones) {
  fail_unless_equals_int(lut.cube_size, 2);
  fail_unless(lut.cube == cube_colors);
  fail_unless(lut.cube_min == min && lut.cube_max == max);
}

inline void expect_curve(const Lut& lut, const LutColor& min = zeros, const LutColor& max = ones) {
  fail_unless(lut.curve == curve_colors);
  fail_unless(lut.curve_min == min && lut.curve_max == max);
}

inline void expect_no_curve(const Lut& lut) {
  fail_unless(lut.curve.empty() && lut.curve_min == zeros && lut.curve_max == ones);
}

inline void expect_no_cube(const Lut& lut) {
  fail_unless(lut.cube_size == 0 && lut.cube.empty());
  fail_unless(lut.cube_min == zeros && lut.cube_max == ones);
}

/// The text of a cube of 2 in whose third line this word is the second.
inline std::string cube_with(const std::string& word) {
  return "LUT_3D_SIZE 2\n0 0 0\n0 " + word + " 0\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n";
}

}  // namespace test
