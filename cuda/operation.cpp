// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/operation.h"

#include <array>
#include <cmath>
#include <stdexcept>

namespace stripe {

namespace {

// Maps three components to three: row i is m[i][0..2] and the offset m[i][3].
using Matrix = std::array<std::array<double, 4>, 3>;

constexpr Matrix identity = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};

// The map that applies `first`, then `second`.
Matrix compose(const Matrix& second, const Matrix& first) {
  Matrix out{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 3; ++k) out[i][j] += second[i][k] * first[k][j];
    out[i][3] += second[i][3];
  }
  return out;
}

// Codes of Y or R'G'B' for 0 and 1, and of chroma for 0 and for a span of 1.
struct CodeRange {
  double luma_zero, luma_span, chroma_zero, chroma_span;
};

CodeRange code_range(bool full_range) {
  if (full_range) return {0, 255, 128, 255};
  return {16, 219, 128, 224};
}

Matrix rgb_from_luma_codes(const CodeRange& range) {
  const double scale = 1 / range.luma_span;
  const double offset = -range.luma_zero / range.luma_span;
  return {{{scale, 0, 0, offset}, {0, scale, 0, offset}, {0, 0, scale, offset}}};
}

Matrix luma_codes_from_rgb(const CodeRange& range) {
  return {{{range.luma_span, 0, 0, range.luma_zero},
           {0, range.luma_span, 0, range.luma_zero},
           {0, 0, range.luma_span, range.luma_zero}}};
}

// ITU-R BT.601, 709 and 2020 all define R' = Y + 2(1-Kr)V, B' = Y + 2(1-Kb)U with U, V in +-0.5.
Matrix rgb_from_yuv_codes(const Colorimetry& c, const CodeRange& range) {
  const double kg = 1 - c.kr - c.kb;
  const double ru = 0, rv = 2 * (1 - c.kr);
  const double bu = 2 * (1 - c.kb), bv = 0;
  const double gu = -c.kb * bu / kg, gv = -c.kr * rv / kg;
  const Matrix rgb_from_yuv = {{{1, ru, rv, 0}, {1, gu, gv, 0}, {1, bu, bv, 0}}};
  const Matrix yuv_from_codes = {
      {{1 / range.luma_span, 0, 0, -range.luma_zero / range.luma_span},
       {0, 1 / range.chroma_span, 0, -range.chroma_zero / range.chroma_span},
       {0, 0, 1 / range.chroma_span, -range.chroma_zero / range.chroma_span}}};
  return compose(rgb_from_yuv, yuv_from_codes);
}

Matrix yuv_codes_from_rgb(const Colorimetry& c, const CodeRange& range) {
  const double kg = 1 - c.kr - c.kb;
  const double u = 0.5 / (1 - c.kb), v = 0.5 / (1 - c.kr);
  const Matrix yuv_from_rgb = {{{c.kr, kg, c.kb, 0},
                                {-c.kr * u, -kg * u, (1 - c.kb) * u, 0},
                                {(1 - c.kr) * v, -kg * v, -c.kb * v, 0}}};
  const Matrix codes_from_yuv = {{{range.luma_span, 0, 0, range.luma_zero},
                                  {0, range.chroma_span, 0, range.chroma_zero},
                                  {0, 0, range.chroma_span, range.chroma_zero}}};
  return compose(codes_from_yuv, yuv_from_rgb);
}

// R' = G' = B' = Y in, the luma of the result out.
Matrix gray_codes(const Matrix& on_rgb, const Colorimetry& c, const CodeRange& range) {
  const double k[3] = {c.kr, 1 - c.kr - c.kb, c.kb};
  double gain = 0, offset = 0;
  for (int i = 0; i < 3; ++i) {
    gain += k[i] * (on_rgb[i][0] + on_rgb[i][1] + on_rgb[i][2]);
    offset += k[i] * on_rgb[i][3];
  }
  Matrix out = identity;
  out[0] = {gain, 0, 0, range.luma_zero * (1 - gain) + range.luma_span * offset};
  return out;
}

Matrix effect_on_rgb(Effect effect, const Colorimetry& c) {
  switch (effect) {
    case Effect::none:
      return identity;
    case Effect::invert:
      return {{{-1, 0, 0, 1}, {0, -1, 0, 1}, {0, 0, -1, 1}}};
    case Effect::gray: {
      const std::array<double, 4> luma = {c.kr, 1 - c.kr - c.kb, c.kb, 0};
      return {luma, luma, luma};
    }
  }
  throw std::invalid_argument("no such effect");
}

Matrix in_codes(const Matrix& on_rgb, ColorModel model, const Colorimetry& c) {
  const CodeRange range = code_range(c.full_range);
  switch (model) {
    case ColorModel::gray:
      return gray_codes(on_rgb, c, range);
    case ColorModel::rgb:
      return compose(luma_codes_from_rgb(range), compose(on_rgb, rgb_from_luma_codes(range)));
    case ColorModel::yuv:
      return compose(yuv_codes_from_rgb(c, range), compose(on_rgb, rgb_from_yuv_codes(c, range)));
  }
  throw std::invalid_argument("no such colour model");
}

void check_row(const std::array<double, 4>& row) {
  const double sum = std::abs(row[0]) + std::abs(row[1]) + std::abs(row[2]);
  if (!(sum < 64) || !(std::abs(row[3]) < 8192))
    throw std::invalid_argument("the matrix is beyond what 8-bit arithmetic can hold");
}

Affine round_to_integers(const Matrix& matrix) {
  Affine affine{};
  for (int i = 0; i < 3; ++i) {
    check_row(matrix[i]);
    for (int j = 0; j < 3; ++j)
      affine.coefficient[i][j] = static_cast<int>(std::lround(matrix[i][j] * affine_one));
    affine.offset[i] = static_cast<int>(std::lround(matrix[i][3] * affine_one));
  }
  return affine;
}

bool mixes_subsampled_planes(const Affine& affine, const PixelLayout& layout) {
  if (layout.color_count == 1 ||
      layout.components[1].log2_sub_x + layout.components[1].log2_sub_y == 0)
    return false;
  return affine.coefficient[0][1] || affine.coefficient[0][2] || affine.coefficient[1][0] ||
         affine.coefficient[2][0];
}

}  // namespace

Operation prepare_operation(Effect effect, const PixelLayout& layout,
                            const Colorimetry& colorimetry) {
  Operation operation;
  operation.affine =
      round_to_integers(in_codes(effect_on_rgb(effect, colorimetry), layout.model, colorimetry));
  // The affine kernel works on luma and on subsampled chroma apart.
  if (mixes_subsampled_planes(operation.affine, layout))
    throw std::invalid_argument("an effect that mixes luma with subsampled chroma");
  operation.kernel =
      operation.affine == identity_affine() ? Operation::Kernel::copy : Operation::Kernel::affine;
  return operation;
}

}  // namespace stripe
