// SPDX-License-Identifier: LGPL-2.1-or-later
// Any text, read as a .cube file: what comes out is a Lut as cuda/lut.h has it, or a refusal that
// can be shown.

#include "cuda/cube_file.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using stripe::Lut;
using stripe::LutColor;

namespace {

constexpr std::string_view name = "fuzz.cube";

void expect(bool is_so, const char* what) {
  if (is_so) return;
  std::fprintf(stderr, "NOT SO: %s\n", what);
  std::abort();
}

void expect_refusal(std::string_view message) {
  expect(message.starts_with(name), "a refusal begins with the name");
  message.remove_prefix(name.size());
  const std::size_t digits = message.find_first_not_of("0123456789", 1);
  expect(message[0] == ':' && message[1] > '0' && message[1] <= '9', "then comes a line");
  expect(message.substr(digits, 2) == ": ", "then what is wrong");
  expect(message.find("; ") != std::string_view::npos, "and what to do");
  expect(message.size() < 500, "it is short");
  for (const char c : message) expect(c >= ' ' && c <= '~', "it is printable ASCII");
}

void expect_numbers(const LutColor& color) {
  for (const float number : color)
    expect(std::isfinite(number) && std::abs(number) <= 1e9f, "numbers are finite, and not large");
}

void expect_table(const std::vector<LutColor>& table, const LutColor& min, const LutColor& max,
                  std::size_t text_bytes) {
  expect(table.capacity() * 6 <= text_bytes + 1, "an entry needs 6 bytes of text");
  expect_numbers(min);
  expect_numbers(max);
  for (std::size_t i = 0; i < min.size(); ++i) expect(min[i] < max[i], "min is below max");
  for (const LutColor& color : table) expect_numbers(color);
}

void expect_lut(const Lut& lut, std::size_t text_bytes) {
  const std::size_t side = static_cast<std::size_t>(lut.cube_size);
  expect(lut.cube_size == 0 || (lut.cube_size >= 2 && lut.cube_size <= 129), "2 to 129, or none");
  expect(lut.cube.size() == side * side * side, "the cube is a cube");
  expect(lut.curve.size() != 1 && lut.curve.size() <= 65536, "2 to 65536, or none");
  expect(!lut.curve.empty() || !lut.cube.empty(), "there is a table");
  expect(lut.title.size() <= text_bytes, "the title is of the text");
  expect_table(lut.curve, lut.curve_min, lut.curve_max, text_bytes);
  expect_table(lut.cube, lut.cube_min, lut.cube_max, text_bytes);
}

// --- once more, as another program would have written it

void write(std::string& text, const LutColor& color) {
  for (const float& number : color) {
    std::array<char, 64> word;
    const auto end = std::to_chars(word.data(), word.data() + word.size(), number).ptr;
    text.append(word.data(), end).append(&number == &color.back() ? "\n" : " ");
  }
}

void write_range(std::string& text, const char* keyword, float min, float max) {
  std::string words;
  write(words, {min, max, 0});
  text += keyword + (" " + words.substr(0, words.rfind(' '))) + "\n";
}

/// Two tables have the same range in each component: only then can it be said.
std::string written(const Lut& lut) {
  std::string text;
  const bool has_both = !lut.curve.empty() && !lut.cube.empty();
  if (!lut.curve.empty()) text += "LUT_1D_SIZE " + std::to_string(lut.curve.size()) + "\n";
  if (!lut.cube.empty()) text += "LUT_3D_SIZE " + std::to_string(lut.cube_size) + "\n";
  if (has_both) {
    write_range(text, "LUT_1D_INPUT_RANGE", lut.curve_min[0], lut.curve_max[0]);
    write_range(text, "LUT_3D_INPUT_RANGE", lut.cube_min[0], lut.cube_max[0]);
  } else {
    write(text += "DOMAIN_MIN ", lut.curve.empty() ? lut.cube_min : lut.curve_min);
    write(text += "DOMAIN_MAX ", lut.curve.empty() ? lut.cube_max : lut.curve_max);
  }
  for (const LutColor& color : lut.curve) write(text, color);
  for (const LutColor& color : lut.cube) write(text, color);
  return text;
}

bool same_bits(const std::vector<LutColor>& a, const std::vector<LutColor>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0);
}

void expect_same(const Lut& a, const Lut& b) {
  expect(same_bits(a.curve, b.curve) && same_bits(a.cube, b.cube), "the same entries");
  expect(a.curve_min == b.curve_min && a.curve_max == b.curve_max, "the same range of the curve");
  expect(a.cube_min == b.cube_min && a.cube_max == b.cube_max, "the same range of the cube");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Lut lut;
  try {
    lut = stripe::parse_cube(text, std::string(name));
  } catch (const stripe::CubeFileError& error) {
    expect_refusal(error.what());
    return 0;
  }
  expect_lut(lut, size);
  expect_same(lut, stripe::parse_cube(written(lut), std::string(name)));
  return 0;
}
