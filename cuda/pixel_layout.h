// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The layout of pixels as data. No host includes: kernels and code compiled at run time read it
// too.

namespace stripe {

inline constexpr int max_planes = 4;
inline constexpr int max_components = 4;

enum class ColorModel : unsigned char { gray, rgb, yuv };

/// Where the samples of one component lie in a frame.
///
/// Units:   bytes; `log2_sub_*` is the shift from luma samples to this component's samples,
///          rounded up.
struct Component {
  unsigned char plane;
  unsigned char offset_bytes;  ///< of the first sample in a row of the plane
  unsigned char step_bytes;    ///< from one sample to the next one
  unsigned char log2_sub_x;
  unsigned char log2_sub_y;
};

/// How the pixels of a format lie in memory, 8 bits a sample.
///
/// The colour components come first: Y, or R G B, or Y U V. `has_extra` says that the component
/// behind them is the alpha or the padding byte, which every operation hands through unchanged.
struct PixelLayout {
  ColorModel model;
  unsigned char plane_count;
  unsigned char color_count;  ///< 1 or 3
  bool has_extra;
  Component components[max_components];

  constexpr int component_count() const { return color_count + (has_extra ? 1 : 0); }
};

}  // namespace stripe
