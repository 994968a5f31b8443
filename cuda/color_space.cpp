// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/color_space.h"

#include <cmath>
#include <numbers>
#include <stdexcept>

namespace stripe {

namespace {

constexpr Colorimetry bt601_limited{0.299, 0.114, false};

// Codes of Y or R'G'B' for 0 and 1, and of chroma for 0 and for a span of 1.
struct CodeRange {
  double luma_zero, luma_span, chroma_zero, chroma_span;
};

CodeRange code_range(bool full_range) {
  if (full_range) return {0, 255, 128, 255};
  return {16, 219, 128, 224};
}

// The three alike.
ColorMatrix scale_and_shift(double scale, double shift) {
  return {{{scale, 0, 0, shift}, {0, scale, 0, shift}, {0, 0, scale, shift}}};
}

// All three standards define R' = Y + 2(1-Kr)V, B' = Y + 2(1-Kb)U with U, V in +-0.5.
ColorMatrix rgb_from_yuv_codes(const Colorimetry& c, const CodeRange& range) {
  const double kg = 1 - c.kr - c.kb;
  const double ru = 0, rv = 2 * (1 - c.kr);
  const double bu = 2 * (1 - c.kb), bv = 0;
  const double gu = -c.kb * bu / kg, gv = -c.kr * rv / kg;
  const ColorMatrix rgb_from_yuv = {{{1, ru, rv, 0}, {1, gu, gv, 0}, {1, bu, bv, 0}}};
  const ColorMatrix yuv_from_codes = {
      {{1 / range.luma_span, 0, 0, -range.luma_zero / range.luma_span},
       {0, 1 / range.chroma_span, 0, -range.chroma_zero / range.chroma_span},
       {0, 0, 1 / range.chroma_span, -range.chroma_zero / range.chroma_span}}};
  return compose(rgb_from_yuv, yuv_from_codes);
}

ColorMatrix yuv_codes_from_rgb(const Colorimetry& c, const CodeRange& range) {
  const double kg = 1 - c.kr - c.kb;
  const double u = 0.5 / (1 - c.kb), v = 0.5 / (1 - c.kr);
  const ColorMatrix yuv_from_rgb = {{{c.kr, kg, c.kb, 0},
                                     {-c.kr * u, -kg * u, (1 - c.kb) * u, 0},
                                     {(1 - c.kr) * v, -kg * v, -c.kb * v, 0}}};
  const ColorMatrix codes_from_yuv = {{{range.luma_span, 0, 0, range.luma_zero},
                                       {0, range.chroma_span, 0, range.chroma_zero},
                                       {0, 0, range.chroma_span, range.chroma_zero}}};
  return compose(codes_from_yuv, yuv_from_rgb);
}

ColorMatrix effect_on_rgb(Effect effect, const Colorimetry& c) {
  switch (effect) {
    case Effect::none:
      return identity_color_matrix;
    case Effect::invert:
      return scale_and_shift(-1, 1);
    case Effect::gray: {
      const std::array<double, 4> luma = {c.kr, 1 - c.kr - c.kb, c.kb, 0};
      return {luma, luma, luma};
    }
    case Effect::sepia:
      return {{{.393, .769, .189, 0}, {.349, .686, .168, 0}, {.272, .534, .131, 0}}};
    case Effect::swap_rb:
      return {{{0, 0, 1, 0}, {0, 1, 0, 0}, {1, 0, 0, 0}}};
  }
  throw std::invalid_argument("no such effect");
}

bool is_balanced(const ColorSettings& s) {
  return s.brightness == 0 && s.contrast == 1 && s.hue == 0 && s.saturation == 1;
}

// On the codes of Y, U and V.
ColorMatrix balance_of(const ColorSettings& s) {
  const double angle = s.hue * std::numbers::pi;
  const double along = s.saturation * std::cos(angle), across = s.saturation * std::sin(angle);
  return {{{s.contrast, 0, 0, 16 * (1 - s.contrast) + 255 * s.brightness},
           {0, along, across, 128 * (1 - along - across)},
           {0, -across, along, 128 * (1 - along + across)}}};
}

ColorMatrix balance_on_rgb(const ColorSettings& settings, const Colorimetry& space) {
  return compose(rgb_from_codes(ColorModel::yuv, space),
                 compose(balance_of(settings), codes_from_rgb(ColorModel::yuv, space)));
}

}  // namespace

ColorMatrix compose(const ColorMatrix& second, const ColorMatrix& first) {
  ColorMatrix out{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 4; ++j)
      for (std::size_t k = 0; k < 3; ++k) out[i][j] += second[i][k] * first[k][j];
    out[i][3] += second[i][3];
  }
  return out;
}

ColorMatrix rgb_from_codes(ColorModel model, const Colorimetry& c) {
  const CodeRange range = code_range(c.full_range);
  const double scale = 1 / range.luma_span, shift = -range.luma_zero / range.luma_span;
  switch (model) {
    case ColorModel::gray:
      return {{{scale, 0, 0, shift}, {scale, 0, 0, shift}, {scale, 0, 0, shift}}};
    case ColorModel::rgb:
      return scale_and_shift(scale, shift);
    case ColorModel::yuv:
      return rgb_from_yuv_codes(c, range);
  }
  throw std::invalid_argument("no such colour model");
}

ColorMatrix codes_from_rgb(ColorModel model, const Colorimetry& c) {
  const CodeRange range = code_range(c.full_range);
  const double span = range.luma_span;
  switch (model) {
    case ColorModel::gray:
      return {{{c.kr * span, (1 - c.kr - c.kb) * span, c.kb * span, range.luma_zero}, {}, {}}};
    case ColorModel::rgb:
      return scale_and_shift(span, range.luma_zero);
    case ColorModel::yuv:
      return yuv_codes_from_rgb(c, range);
  }
  throw std::invalid_argument("no such colour model");
}

ColorMatrix affine_on_rgb(const ColorSettings& settings, ColorModel model,
                          const Colorimetry& colorimetry) {
  ColorMatrix out = effect_on_rgb(settings.effect, colorimetry);
  if (settings.matrix != identity_color_matrix) out = compose(settings.matrix, out);
  if (!is_balanced(settings))
    out = compose(balance_on_rgb(settings, model == ColorModel::yuv ? colorimetry : bt601_limited),
                  out);
  return out;
}

}  // namespace stripe
