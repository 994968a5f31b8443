// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The steps that are not affine, on one pixel, in double precision and from their definitions.

#include <algorithm>
#include <cmath>

#include "cuda/color_settings.h"
#include "support/rgb_space.h"

namespace test {

/// How far `value` is from `min` to `max`: 0 to 1.
inline double portion(double value, double min, double max) {
  return std::clamp((value - min) / (max - min), 0.0, 1.0);
}

inline double unit(double value) { return std::clamp(value, 0.0, 1.0); }

/// A component after the curves, linear between entries.
inline double after_curve(const stripe::Lut& lut, int component, double value) {
  const int last = static_cast<int>(lut.curve.size()) - 1;
  const double at = last * portion(value, lut.curve_min[component], lut.curve_max[component]);
  const int low = std::min(static_cast<int>(at), last - 1);
  const double a = unit(lut.curve[low][component]), b = unit(lut.curve[low + 1][component]);
  return a + (at - low) * (b - a);
}

/// The six tetrahedra, each by the order of its fractions, as in textbooks.
inline Rgb after_cube(const stripe::Lut& lut, const Rgb& in) {
  const int n = lut.cube_size;
  int cell[3];
  double f[3];
  for (int i = 0; i < 3; ++i) {
    const double at = (n - 1) * portion(in[i], lut.cube_min[i], lut.cube_max[i]);
    cell[i] = std::min(static_cast<int>(at), n - 2);
    f[i] = at - cell[i];
  }
  const auto corner = [&](int r, int g, int b, int i) {
    const auto index =
        cell[0] + r + std::size_t(n) * (cell[1] + g + std::size_t(n) * (cell[2] + b));
    return unit(lut.cube[index][i]);
  };
  const auto [r, g, b] = f;
  Rgb out{};
  for (int i = 0; i < 3; ++i) {
    const double black = corner(0, 0, 0, i), white = corner(1, 1, 1, i);
    if (r >= g && g >= b)
      out[i] =
          (1 - r) * black + (r - g) * corner(1, 0, 0, i) + (g - b) * corner(1, 1, 0, i) + b * white;
    else if (r >= b && b >= g)
      out[i] =
          (1 - r) * black + (r - b) * corner(1, 0, 0, i) + (b - g) * corner(1, 0, 1, i) + g * white;
    else if (b >= r && r >= g)
      out[i] =
          (1 - b) * black + (b - r) * corner(0, 0, 1, i) + (r - g) * corner(1, 0, 1, i) + g * white;
    else if (g >= r && r >= b)
      out[i] =
          (1 - g) * black + (g - r) * corner(0, 1, 0, i) + (r - b) * corner(1, 1, 0, i) + b * white;
    else if (g >= b && b >= r)
      out[i] =
          (1 - g) * black + (g - b) * corner(0, 1, 0, i) + (b - r) * corner(0, 1, 1, i) + r * white;
    else
      out[i] =
          (1 - b) * black + (b - g) * corner(0, 0, 1, i) + (g - r) * corner(0, 1, 1, i) + r * white;
  }
  return out;
}

/// What a colour may be: each component within bounds.
struct Box {
  Rgb least, greatest;
};

/// The smallest box that holds both.
inline Box joined(const Box& a, const Box& b) {
  Box out;
  for (int i = 0; i < 3; ++i) {
    out.least[i] = std::min(a.least[i], b.least[i]);
    out.greatest[i] = std::max(a.greatest[i], b.greatest[i]);
  }
  return out;
}

/// Each step may round to 16 bits.
inline Box rounded(Box box) {
  for (int i = 0; i < 3; ++i) {
    box.least[i] = unit(box.least[i] - 0.501 / 65535.0);
    box.greatest[i] = unit(box.greatest[i] + 0.501 / 65535.0);
  }
  return box;
}

inline Box after_gamma(double gamma, Box box) {
  for (int i = 0; i < 3; ++i) {
    box.least[i] = std::pow(box.least[i], 1.0 / gamma);
    box.greatest[i] = std::pow(box.greatest[i], 1.0 / gamma);
  }
  return rounded(box);
}

/// Curves go up and down: what they come to at the ends and at each entry in between.
inline Box after_curves(const stripe::Lut& lut, const Box& in) {
  Box out;
  for (int i = 0; i < 3; ++i) {
    const double a = after_curve(lut, i, in.least[i]), b = after_curve(lut, i, in.greatest[i]);
    out.least[i] = std::min(a, b);
    out.greatest[i] = std::max(a, b);
    const int last = static_cast<int>(lut.curve.size()) - 1;
    const double begin = last * portion(in.least[i], lut.curve_min[i], lut.curve_max[i]);
    const double end = last * portion(in.greatest[i], lut.curve_min[i], lut.curve_max[i]);
    for (int k = static_cast<int>(std::ceil(begin)); k <= end; ++k) {
      out.least[i] = std::min(out.least[i], unit(lut.curve[k][i]));
      out.greatest[i] = std::max(out.greatest[i], unit(lut.curve[k][i]));
    }
  }
  return rounded(out);
}

/// The least and the greatest at the box's corners, and between them; boxes are far smaller than
/// cells.
inline Box after_cube(const stripe::Lut& lut, const Box& in) {
  const auto at = [&](int i, int third) {
    return in.least[i] + (in.greatest[i] - in.least[i]) * third / 2.0;
  };
  const Rgb first = after_cube(lut, in.least);
  Box out{first, first};
  for (int k = 0; k < 27; ++k) {
    const Rgb color = after_cube(lut, Rgb{at(0, k % 3), at(1, k / 3 % 3), at(2, k / 9)});
    out = joined(out, {color, color});
  }
  return out;
}

inline Box after_lut(const stripe::ColorSettings& s, Box box) {
  if (!s.lut) return box;
  if (!s.lut->curve.empty()) box = after_curves(*s.lut, box);
  return s.lut->cube_size == 0 ? box : after_cube(*s.lut, box);
}

/// Clamped to 0..1; gamma; threshold; curves; cube.
///
/// Steep steps and thresholds make as much as they like of what the steps before rounded to 16 bits,
/// so each is given all that may have been rounded so.
inline Box after_steps(const stripe::ColorSettings& s, const Space& space, const Rgb& rgb) {
  Box box = rounded({rgb, rgb});
  if (s.gamma != 1.0) box = after_gamma(s.gamma, box);
  if (s.threshold == -1.0) return after_lut(s, box);
  // Luma's three coefficients are rounded, too, by as little.
  constexpr double slack = 2.5 / 65535.0;
  const Box black = after_lut(s, {{0, 0, 0}, {0, 0, 0}}),
            white = after_lut(s, {{1, 1, 1}, {1, 1, 1}});
  if (space.luma(box.least) >= s.threshold + slack) return white;
  if (space.luma(box.greatest) < s.threshold - slack) return black;
  return joined(black, white);
}

}  // namespace test
