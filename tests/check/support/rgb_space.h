// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>

#include "support/formats.h"
#include "support/reference.h"

namespace test {

using Rgb = std::array<double, 3>;

/// Codes to R'G'B' in 0..1 and back. Nothing is clamped on the way: codes outside the nominal range
/// stand for colours outside 0..1.
class Space {
 public:
  Space(Model model, const Colors& colors)
      : model_(model),
        colors_(colors),
        black_(colors.full_range ? 0.0 : 16.0),
        range_(colors.full_range ? 255.0 : 219.0),
        chroma_range_(colors.full_range ? 255.0 : 224.0) {}

  Rgb decode(const std::array<double, 3>& codes) const {
    if (model_ == Model::rgb) return {unit(codes[0]), unit(codes[1]), unit(codes[2])};
    const double y = unit(codes[0]);
    if (model_ == Model::gray) return {y, y, y};
    const double u = (codes[1] - 128.0) / chroma_range_;
    const double v = (codes[2] - 128.0) / chroma_range_;
    const double red = y + 2.0 * (1.0 - colors_.kr) * v;
    const double blue = y + 2.0 * (1.0 - colors_.kb) * u;
    return {red, (y - colors_.kr * red - colors_.kb * blue) / kg(), blue};
  }

  double luma(const Rgb& rgb) const {
    return colors_.kr * rgb[0] + kg() * rgb[1] + colors_.kb * rgb[2];
  }

  /// As real numbers; what is not a component of the model is left at 0.
  std::array<double, 3> encode(const Rgb& rgb) const {
    if (model_ == Model::rgb) return {code(rgb[0]), code(rgb[1]), code(rgb[2])};
    const double y = luma(rgb);
    if (model_ == Model::gray) return {code(y), 0.0, 0.0};
    const double u = (rgb[2] - y) / (2.0 * (1.0 - colors_.kb));
    const double v = (rgb[0] - y) / (2.0 * (1.0 - colors_.kr));
    return {code(y), 128.0 + chroma_range_ * u, 128.0 + chroma_range_ * v};
  }

 private:
  double kg() const { return 1.0 - colors_.kr - colors_.kb; }
  double unit(double code) const { return (code - black_) / range_; }
  double code(double unit) const { return black_ + range_ * unit; }

  Model model_;
  Colors colors_;
  double black_, range_, chroma_range_;
};

}  // namespace test
