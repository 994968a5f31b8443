// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/affine.h"
#include "cuda/pixel_layout.h"

namespace stripe {

/// What happens to the picture, defined on non-linear R'G'B' in 0..1, so that it looks the same
/// whatever the format.
enum class Effect {
  none,    ///< a copy; the kernel runs all the same
  invert,  ///< 1 - v
  gray,    ///< luma in all three
};

/// How codes and colours belong together in a frame.
///
/// `kr` and `kb` are the luma coefficients of the caps' matrix (for RGB: of their primaries).
/// `full_range` is 0..255; otherwise luma and R'G'B' lie in 16..235, chroma in 16..240.
struct Colorimetry {
  double kr = 0.2126;
  double kb = 0.0722;
  bool full_range = true;
};

/// An effect made ready for one layout: which kernel runs, and its parameters.
///
/// Units:   `affine` maps the component codes of a pixel, in the layout's order.
/// Owner:   a value, trivially copyable; it travels to kernels as it is.
struct Operation {
  enum class Kernel : unsigned char { copy, affine };

  Kernel kernel = Kernel::copy;
  Affine affine = identity_affine();
};

/// Composes what `effect` means on R'G'B' with the frame's own component space, in double, into
/// one matrix. An effect that comes to nothing (gray on a GRAY format) becomes the copy.
///
/// Thread:  any, pure arithmetic.
/// Errors:  throws std::invalid_argument where the matrix is beyond what the kernels' arithmetic
///          holds.
Operation prepare_operation(Effect effect, const PixelLayout& layout,
                            const Colorimetry& colorimetry);

}  // namespace stripe
