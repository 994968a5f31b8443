// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/affine.h"
#include "cuda/pixel_layout.h"

namespace stripe {

/// An affine operation on rows of packed pixels, fast on CPUs that can add four integers at once: what
/// each value of each component adds to all components is worked out before, so that a pixel is
/// three look-ups. To the bit what affine_row gives.
///
/// Owner:   a value of 12 KB.
class PackedMatrix {
 public:
  /// Whether it is any faster here than going component by component.
  static bool is_fast() noexcept;

  /// The layout has three colours in one plane, of 3 or 4 bytes a pixel.
  PackedMatrix(const Affine& affine, const PixelLayout& layout) noexcept;

  /// `from` and `to` are the first bytes of pixels, and don't overlap.
  void run_row(const unsigned char* from, unsigned char* to, int width) const noexcept;

 private:
  // By component and its value; in the order in which the bytes lie in a pixel.
  alignas(16) int sums_[3][256][4];
  alignas(16) unsigned char kept_[16];  // 255 for bytes of four pixels that are no colour
  int step_;
  int offset_[3];
};

}  // namespace stripe
