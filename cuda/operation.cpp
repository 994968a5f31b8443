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

// The rows must be in codes a code.
void check_row(const std::array<double, 4>& row) {
  const double sum = std::abs(row[0]) + std::abs(row[1]) + std::abs(row[2]);
  const std::string text = "effect, matrix and balance come to a row ";
  if (!(sum < 64))
    throw std::invalid_argument(text + "whose factors add up to " + in_words(sum) +
                                "; they must stay below 64");
  if (!(std::abs(row[3]) < 8192))
    throw std::invalid_argument(text + "with an offset of " + in_words(row[3]) +
                                " codes; it must stay below 8192");
}

void check_rows(const ColorMatrix& matrix, int rows) {
  for (int i = 0; i < rows; ++i) check_row(matrix[static_cast<std::size_t>(i)]);
}

long long fixed(double value, int shift) { return std::llround(std::ldexp(value, shift)); }

// Components that aren't there are handed through.
Affine round_to_integers(const ColorMatrix& matrix, int rows) {
  Affine affine = identity_affine();
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
    for (std::size_t j = 0; j < 3; ++j)
      affine.coefficient[i][j] = static_cast<int>(fixed(matrix[i][j], 16));
    affine.offset[i] = static_cast<int>(fixed(matrix[i][3], 16));
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

// A block is worked on by one thread, and its pixels are counted by shifts.
void check_blocks(const PixelLayout& layout) {
  for (int i = 0; i < layout.color_count; ++i)
    if (layout.components[i].log2_sub_x > 1 || layout.components[i].log2_sub_y > 1)
      throw std::invalid_argument("these colours on chroma that more than 2 x 2 pixels share");
}

void set_matrices(ColorSteps& steps, const ColorMatrix& to_rgb, const ColorMatrix& from_rgb) {
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      steps.to_rgb[i][j] = static_cast<int>(fixed(to_rgb[i][j] * rgb16_one, 16));
      steps.from_rgb[i][j] = static_cast<int>(fixed(from_rgb[i][j] / rgb16_one, 24));
    }
    steps.to_rgb_offset[i] = fixed(to_rgb[i][3] * rgb16_one, 16);
    steps.from_rgb_offset[i] = fixed(from_rgb[i][3], 24);
  }
}

void set_threshold(ColorSteps& steps, const LookUpTables& tables, double threshold,
                   const Colorimetry& colorimetry) {
  steps.has_threshold = true;
  steps.luma[0] = static_cast<int>(fixed(colorimetry.kr, 15));
  steps.luma[2] = static_cast<int>(fixed(colorimetry.kb, 15));
  steps.luma[1] = (1 << 15) - steps.luma[0] - steps.luma[2];
  // Luma that was rounded down to just below the threshold counts as reaching it.
  steps.least_white = static_cast<int>(fixed(threshold * rgb16_one - 0.5, 15));
  steps.black = run_lut(steps, tables, {{0, 0, 0}});
  steps.white = run_lut(steps, tables, {{rgb16_one, rgb16_one, rgb16_one}});
}

Operation prepare_affine(const ColorMatrix& on_rgb, const PixelLayout& layout,
                         const Colorimetry& colorimetry) {
  const ColorMatrix on_codes = compose(codes_from_rgb(layout.model, colorimetry),
                                       compose(on_rgb, rgb_from_codes(layout.model, colorimetry)));
  check_rows(on_codes, layout.color_count);
  Operation operation;
  operation.affine = round_to_integers(on_codes, layout.color_count);
  if (mixes_subsampled_planes(operation.affine, layout)) {
    check_blocks(layout);
    operation.kernel = Operation::Kernel::affine_blocks;
  } else if (operation.affine != identity_affine()) {
    operation.kernel = Operation::Kernel::affine;
  }
  return operation;
}

Operation prepare_steps(const ColorSettings& settings, const ColorMatrix& on_rgb,
                        const PixelLayout& layout, const Colorimetry& colorimetry,
                        const Operation* previous) {
  check_blocks(layout);
  const ColorMatrix to_rgb = compose(on_rgb, rgb_from_codes(layout.model, colorimetry));
  check_rows(compose(codes_from_rgb(ColorModel::rgb, colorimetry), to_rgb), 3);
  Operation operation;
  operation.kernel = Operation::Kernel::color_blocks;
  operation.tables =
      make_color_tables(settings.gamma, settings.lut, previous ? &previous->tables : nullptr);
  ColorSteps& steps = operation.steps;
  set_matrices(steps, to_rgb, codes_from_rgb(layout.model, colorimetry));
  steps.has_gamma = operation.tables.gamma.entries != nullptr;
  steps.has_curves = operation.tables.curves.entries != nullptr;
  steps.cube_size = settings.lut ? settings.lut->cube_size : 0;
  if (settings.threshold != -1)
    set_threshold(steps, operation.tables.on_host(), settings.threshold, colorimetry);
  return operation;
}

}  // namespace

Operation prepare_operation(const ColorSettings& settings, const PixelLayout& layout,
                            const Colorimetry& colorimetry, const Operation* previous) {
  check_settings(settings);
  const ColorMatrix on_rgb = affine_on_rgb(settings, layout.model, colorimetry);
  if (is_affine(settings)) return prepare_affine(on_rgb, layout, colorimetry);
  return prepare_steps(settings, on_rgb, layout, colorimetry, previous);
}

}  // namespace stripe
