// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/operation.h"

#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "cuda/color_space.h"

namespace stripe {

namespace {

std::string in_words(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

// Also where it is no number.
void check_range(const char* name, double value, double least, double most) {
  if (value >= least && value <= most) return;
  throw std::invalid_argument(std::string(name) + " is " + in_words(value) + ", not in " +
                              in_words(least) + " to " + in_words(most));
}

void check_settings(const ColorSettings& settings) {
  check_range("brightness", settings.brightness, -1, 1);
  check_range("contrast", settings.contrast, 0, 2);
  check_range("hue", settings.hue, -1, 1);
  check_range("saturation", settings.saturation, 0, 2);
  check_range("gamma", settings.gamma, 0.01, 10);
  check_range("threshold", settings.threshold, -1, 1);
}

// `what`: of what the rows are.
void check_row(const std::array<double, 4>& row, const char* what) {
  const double sum = std::abs(row[0]) + std::abs(row[1]) + std::abs(row[2]);
  if (!(sum < 64))
    throw std::invalid_argument(std::string("effect, matrix and balance come to a row for ") +
                                what + " whose factors add up to " + in_words(sum) +
                                ": the bound is 64");
  if (!(std::abs(row[3]) < 8192))
    throw std::invalid_argument(std::string("effect, matrix and balance come to a row for ") +
                                what + " with an offset of " + in_words(row[3]) +
                                " codes: the bound is 8192");
}

// Components that aren't there are handed through.
Affine round_to_integers(const ColorMatrix& matrix, int rows, const char* what) {
  Affine affine = identity_affine();
  for (int i = 0; i < rows; ++i) {
    const auto& row = matrix[static_cast<std::size_t>(i)];
    check_row(row, what);
    for (int j = 0; j < 3; ++j)
      affine.coefficient[i][j] =
          static_cast<int>(std::lround(row[static_cast<std::size_t>(j)] * affine_one));
    affine.offset[i] = static_cast<int>(std::lround(row[3] * affine_one));
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

bool is_affine(const ColorSettings& settings) {
  return settings.gamma == 1 && settings.threshold == -1 && !settings.lut;
}

}  // namespace

Operation prepare_operation(const ColorSettings& settings, const PixelLayout& layout,
                            const Colorimetry& colorimetry, const Operation*) {
  check_settings(settings);
  if (!is_affine(settings))
    throw std::invalid_argument("gamma, threshold and LUT are not there yet");
  const ColorMatrix on_codes = compose(codes_from_rgb(layout.model, colorimetry),
                                       compose(affine_on_rgb(settings, layout.model, colorimetry),
                                               rgb_from_codes(layout.model, colorimetry)));
  Operation operation;
  operation.affine = round_to_integers(on_codes, layout.color_count, "the frame's components");
  // The affine kernel works on luma and on subsampled chroma apart.
  if (mixes_subsampled_planes(operation.affine, layout))
    throw std::invalid_argument("colours that mix luma with subsampled chroma are not there yet");
  operation.kernel =
      operation.affine == identity_affine() ? Operation::Kernel::copy : Operation::Kernel::affine;
  return operation;
}

}  // namespace stripe
