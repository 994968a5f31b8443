// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/color_oracle.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "support/color_steps.h"
#include "support/rgb_space.h"

namespace test {
namespace {

using stripe::ColorSettings;
using Reals = std::array<double, 3>;

Rgb after_effect(stripe::Effect effect, const Space& space, const Rgb& in) {
  const auto [r, g, b] = in;
  const double luma = space.luma(in);
  switch (effect) {
    case stripe::Effect::none:
      break;
    case stripe::Effect::invert:
      return {1.0 - r, 1.0 - g, 1.0 - b};
    case stripe::Effect::gray:
      return {luma, luma, luma};
    case stripe::Effect::sepia:
      return {0.393 * r + 0.769 * g + 0.189 * b, 0.349 * r + 0.686 * g + 0.168 * b,
              0.272 * r + 0.534 * g + 0.131 * b};
    case stripe::Effect::swap_rb:
      return {b, g, r};
  }
  return in;
}

/// videobalance's lines, without its tables.
Reals balanced(const ColorSettings& s, const Reals& yuv) {
  const double u = yuv[1] - 128.0, v = yuv[2] - 128.0;
  const double cosine = std::cos(std::numbers::pi * s.hue);
  const double sine = std::sin(std::numbers::pi * s.hue);
  return {16.0 + ((yuv[0] - 16.0) * s.contrast + s.brightness * 255.0),
          128.0 + (u * cosine + v * sine) * s.saturation,
          128.0 + (-u * sine + v * cosine) * s.saturation};
}

Rgb after_affine(const ColorSettings& s, Model model, const Colors& colors, const Reals& codes) {
  const Space space(model, colors);
  const Rgb before = after_effect(s.effect, space, space.decode(codes));
  Rgb out{};
  for (int i = 0; i < 3; ++i)
    out[i] = s.matrix[i][0] * before[0] + s.matrix[i][1] * before[1] + s.matrix[i][2] * before[2] +
             s.matrix[i][3];
  const Space balance_space(Model::yuv, model == Model::yuv ? colors : bt601_limited);
  return balance_space.decode(balanced(s, balance_space.encode(out)));
}

/// The matrix on codes, read off what becomes of 0 and of one code of each component.
Matrix matrix_of(const ColorSettings& s, const Format& format, const Colors& colors) {
  const Space space(format.model, colors);
  const auto value = [&](const Reals& codes) {
    return space.encode(after_affine(s, format.model, colors, codes));
  };
  const Reals origin = value({0, 0, 0});
  Matrix matrix{};
  for (int j = 0; j < format.colors; ++j) {
    Reals one{};
    one[j] = 1.0;
    const Reals reached = value(one);
    for (int i = 0; i < format.colors; ++i)
      matrix[i][j] = std::llround((reached[i] - origin[i]) * 65536.0);
  }
  for (int i = 0; i < format.colors; ++i) matrix[i][3] = std::llround(origin[i] * 65536.0);
  return matrix;
}

std::array<int, 3> codes_at(const ConstPicture& in, int x, int y) {
  std::array<int, 3> codes{};
  for (int i = 0; i < in.format->colors; ++i) codes[i] = in.sample(i, x, y);
  return codes;
}

/// Calls visit with each sample of the output: its component, the pixels that share it, from (x, y)
/// to before (x_end, y_end).
template <typename Visit>
void for_each_sample(const ConstPicture& in, Visit visit) {
  for (int i = 0; i < in.format->colors; ++i) {
    const Place& place = in.format->places[i];
    for (int y = 0; y < in.height; y += place.sub_y)
      for (int x = 0; x < in.width; x += place.sub_x)
        visit(i, x, y, std::min(x + place.sub_x, in.width), std::min(y + place.sub_y, in.height));
  }
}

void copy_extra(const ConstPicture& in, const Picture& out) {
  if (!in.format->has_extra) return;
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x)
      out.sample(in.format->colors, x, y) = in.sample(in.format->colors, x, y);
}

std::int64_t floor_divided(std::int64_t value, std::int64_t by) {
  return value / by - (value % by < 0 ? 1 : 0);
}

std::uint8_t as_code(double value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0., 255.));
}

struct Range {
  double least, greatest;
};

/// What the components of one pixel may come to, as real numbers.
std::array<Range, 3> ranges_of(const ColorSettings& s, const Colors& colors, const Format& format,
                               const std::array<int, 3>& codes) {
  const Space space(format.model, colors);
  const Rgb rgb =
      after_affine(s, format.model, colors, {double(codes[0]), double(codes[1]), double(codes[2])});
  const Box box = is_affine(s) ? Box{rgb, rgb} : after_steps(s, space, rgb);
  std::array<Range, 3> ranges;
  for (int corner = 0; corner < 8; ++corner) {
    Rgb at;
    for (int i = 0; i < 3; ++i) at[i] = corner >> i & 1 ? box.greatest[i] : box.least[i];
    const Reals reals = space.encode(at);
    for (int i = 0; i < 3; ++i) {
      ranges[i].least = corner == 0 ? reals[i] : std::min(ranges[i].least, reals[i]);
      ranges[i].greatest = corner == 0 ? reals[i] : std::max(ranges[i].greatest, reals[i]);
    }
  }
  return ranges;
}

}  // namespace

bool is_affine(const ColorSettings& settings) {
  return settings.gamma == 1.0 && settings.threshold == -1.0 && !settings.lut;
}

void exact(const ColorSettings& settings, const Colors& colors, const ConstPicture& in,
           const Picture& out) {
  const Matrix matrix = matrix_of(settings, *in.format, colors);
  for_each_sample(in, [&](int i, int x0, int y0, int x_end, int y_end) {
    std::int64_t sum = 0;
    for (int y = y0; y < y_end; ++y)
      for (int x = x0; x < x_end; ++x) {
        const auto codes = codes_at(in, x, y);
        sum += matrix[i][0] * codes[0] + matrix[i][1] * codes[1] + matrix[i][2] * codes[2] +
               matrix[i][3];
      }
    // sum / (65536 pixels) + 1/2, rounded down.
    const std::int64_t whole = std::int64_t{65536} * (x_end - x0) * (y_end - y0);
    const std::int64_t code = floor_divided(2 * sum + whole, 2 * whole);
    out.sample(i, x0, y0) = static_cast<std::uint8_t>(std::clamp<std::int64_t>(code, 0, 255));
  });
  copy_extra(in, out);
}

void in_double(const ColorSettings& settings, const Colors& colors, const ConstPicture& in,
               const Picture& least, const Picture& greatest) {
  for_each_sample(in, [&](int i, int x0, int y0, int x_end, int y_end) {
    Range sum{0, 0};
    for (int y = y0; y < y_end; ++y)
      for (int x = x0; x < x_end; ++x) {
        const Range range = ranges_of(settings, colors, *in.format, codes_at(in, x, y))[i];
        sum.least += range.least;
        sum.greatest += range.greatest;
      }
    const double pixels = (x_end - x0) * (y_end - y0);
    least.sample(i, x0, y0) = as_code(std::floor(sum.least / pixels + 0.5) - 1.0);
    greatest.sample(i, x0, y0) = as_code(std::floor(sum.greatest / pixels + 0.5) + 1.0);
  });
  copy_extra(in, least);
  copy_extra(in, greatest);
}

}  // namespace test
