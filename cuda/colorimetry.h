// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace stripe {

/// How codes and colours belong together in a frame.
///
/// `kr` and `kb` are the luma coefficients of the caps' matrix (for RGB: of their primaries).
/// `full_range` is 0..255; otherwise luma and R'G'B' lie in 16..235, chroma in 16..240.
struct Colorimetry {
  double kr = 0.2126;
  double kb = 0.0722;
  bool full_range = true;
};

}  // namespace stripe
