// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <memory>

#include "cuda/lut.h"

namespace stripe {

/// The first step of what happens to a picture, defined on non-linear R'G'B' in 0..1, so that it
/// looks the same whatever the format.
enum class Effect {
  none,     ///< a copy; the kernel runs all the same
  invert,   ///< 1 - v
  gray,     ///< luma in all three
  sepia,    ///< the brown of old photographs
  swap_rb,  ///< red and blue change places
};

/// Rows of a 3x4 matrix on R'G'B' in 0..1: three factors and an offset.
using ColorMatrix = std::array<std::array<double, 4>, 3>;

inline constexpr ColorMatrix identity_color_matrix = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};

/// All that may happen to a picture, in this order. Each step's default comes to nothing.
///
/// Owner:   a value; `lut` is shared and never changed.
struct ColorSettings {
  Effect effect = Effect::none;
  ColorMatrix matrix = identity_color_matrix;
  double brightness = 0;  ///< -1 to 1; these four as videobalance has them
  double contrast = 1;    ///< 0 to 2
  double hue = 0;         ///< -1 to 1
  double saturation = 1;  ///< 0 to 2
  double gamma = 1;       ///< 0.01 to 10: v to the power of 1 / gamma
  double threshold = -1;  ///< -1 to 1: luma of at least so much is white, the rest black; -1: off
  std::shared_ptr<const Lut> lut = nullptr;

  bool operator==(const ColorSettings&) const = default;
};

}  // namespace stripe
