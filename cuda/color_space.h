// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/color_settings.h"
#include "cuda/colorimetry.h"
#include "cuda/pixel_layout.h"

namespace stripe {

/// The map that applies `first`, then `second`.
ColorMatrix compose(const ColorMatrix& second, const ColorMatrix& first);

/// A frame's component codes to R'G'B' in 0..1, and back. Nothing is clamped: codes outside of the
/// nominal range stand for colours outside of 0..1. A GRAY format's R', G' and B' are its one
/// component; back, the first row is luma, and the others, of components that aren't there, are 0.
///
/// Thread:  any, pure arithmetic.
/// Source:  ITU-R BT.601, 709 and 2020.
ColorMatrix rgb_from_codes(ColorModel model, const Colorimetry& colorimetry);
ColorMatrix codes_from_rgb(ColorModel model, const Colorimetry& colorimetry);

/// All of `settings` that is affine, as one map of R'G'B': effect, matrix, balance. Neutral steps
/// are left out, so that what comes to nothing is exactly the identity.
///
/// Balance is videobalance's: Y = 16 + contrast * (Y - 16) + 255 * brightness on codes, U and V
/// turned about 128 by hue * pi and scaled by saturation; on the codes of a YUV frame as they are,
/// on others in BT.601's limited ones.
///
/// Thread:  any, pure arithmetic.
ColorMatrix affine_on_rgb(const ColorSettings& settings, ColorModel model,
                          const Colorimetry& colorimetry);

}  // namespace stripe
