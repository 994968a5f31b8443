// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/reference.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "support/rgb_space.h"

namespace test {
namespace {

constexpr double one = 65536.0;

using Row = std::array<std::int64_t, 4>;

std::int64_t fixed(double value) { return std::llround(value * one); }

/// component -> sign * component + offset.
Row diagonal(int component, int sign, int offset) {
  Row row{0, 0, 0, offset * std::int64_t{65536}};
  row[component] = sign * std::int64_t{65536};
  return row;
}

Matrix identity() { return {diagonal(0, 1, 0), diagonal(1, 1, 0), diagonal(2, 1, 0)}; }

Matrix invert(Model model, bool full_range) {
  const int mirror = full_range ? 255 : 251;  // 251 is 16 + 235
  const int chroma_mirror = model == Model::yuv ? 256 : mirror;
  return {diagonal(0, -1, mirror), diagonal(1, -1, chroma_mirror), diagonal(2, -1, chroma_mirror)};
}

Matrix gray(Model model, const Colors& colors) {
  if (model == Model::gray) return identity();
  if (model == Model::yuv) return {diagonal(0, 1, 0), diagonal(1, 0, 128), diagonal(2, 0, 128)};
  // The three add up to 1, so black stays at 16 in limited range without an offset.
  const Row luma{fixed(colors.kr), fixed(1.0 - colors.kr - colors.kb), fixed(colors.kb), 0};
  return {luma, luma, luma};
}

Matrix matrix_of(Effect effect, Model model, const Colors& colors) {
  switch (effect) {
    case Effect::none:
      break;
    case Effect::invert:
      return invert(model, colors.full_range);
    case Effect::gray:
      return gray(model, colors);
  }
  return identity();
}

std::uint8_t apply(const Row& row, const std::array<int, 3>& codes) {
  std::int64_t sum = row[3] + 32768;
  for (int i = 0; i < 3; ++i) sum += row[i] * codes[i];
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(sum >> 16, 0, 255));
}

Rgb meaning(Effect effect, const Space& space, const Rgb& rgb) {
  if (effect == Effect::invert) return {1.0 - rgb[0], 1.0 - rgb[1], 1.0 - rgb[2]};
  if (effect == Effect::none) return rgb;
  const double luma = space.luma(rgb);
  return {luma, luma, luma};
}

std::uint8_t nearest(double code) {
  return static_cast<std::uint8_t>(std::clamp(std::floor(code + 0.5), 0.0, 255.0));
}

std::array<int, 3> codes_at(const ConstPicture& in, int x, int y) {
  std::array<int, 3> codes{};
  for (int i = 0; i < in.format->colors; ++i) codes[i] = in.sample(i, x, y);
  return codes;
}

/// A sample that several pixels share is written by the first of them alone.
bool owns_sample(const Format& format, int component, int x, int y) {
  const Place& place = format.places[component];
  return x % place.sub_x == 0 && y % place.sub_y == 0;
}

template <typename PixelToCode>
void for_each_sample(const ConstPicture& in, const Picture& out, PixelToCode pixel_to_code) {
  const Format& format = *in.format;
  for (int y = 0; y < in.height; ++y) {
    for (int x = 0; x < in.width; ++x) {
      const std::array<int, 3> codes = codes_at(in, x, y);
      for (int i = 0; i < format.colors; ++i)
        if (owns_sample(format, i, x, y)) out.sample(i, x, y) = pixel_to_code(codes, i);
      if (format.has_extra) out.sample(format.colors, x, y) = in.sample(format.colors, x, y);
    }
  }
}

}  // namespace

const char* effect_name(Effect effect) {
  switch (effect) {
    case Effect::none:
      return "none";
    case Effect::invert:
      return "invert";
    case Effect::gray:
      break;
  }
  return "gray";
}

void affine(const Matrix& matrix, const ConstPicture& in, const Picture& out) {
  for_each_sample(in, out, [&](const std::array<int, 3>& codes, int component) {
    return apply(matrix[component], codes);
  });
}

void exact(Effect effect, const Colors& colors, const ConstPicture& in, const Picture& out) {
  affine(matrix_of(effect, in.format->model, colors), in, out);
}

void in_double(Effect effect, const Colors& colors, const ConstPicture& in, const Picture& out) {
  const Space space(in.format->model, colors);
  for_each_sample(in, out, [&](const std::array<int, 3>& codes, int component) {
    const Rgb rgb = space.decode({double(codes[0]), double(codes[1]), double(codes[2])});
    return nearest(space.encode(meaning(effect, space, rgb))[component]);
  });
}

}  // namespace test
