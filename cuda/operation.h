// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/affine.h"
#include "cuda/color_settings.h"
#include "cuda/color_tables.h"
#include "cuda/colorimetry.h"
#include "cuda/pixel_layout.h"

namespace stripe {

/// What happens to a picture, made ready for one layout: which kernel runs, and its parameters.
///
/// Units:   `affine` maps the component codes of a pixel, in the layout's order.
/// Owner:   a value; copies share what is large. A device's copies of tables live as long as one
///          of them.
struct Operation {
  enum class Kernel : unsigned char {
    copy,
    affine,         ///< component by component, or pixel by pixel where none are shared
    affine_blocks,  ///< luma mixes with chroma that pixels share
    color_blocks,   ///< not affine: `steps` with `tables`
  };

  Kernel kernel = Kernel::copy;
  Affine affine = identity_affine();
  ColorSteps steps{};
  ColorTables tables{};
};

/// Composes all of `settings` that is affine with the frame's own component space, in double, into
/// one matrix. What comes to nothing (gray on a GRAY format) becomes the copy. Where gamma,
/// threshold or a LUT follow, the matrix leads to R'G'B', clamped to 0..1, and back.
///
/// What is large or slow to make is shared with `previous`, where the settings have it in common:
/// a parameter that is animated costs only itself. It may be of other settings, layout and
/// colours.
///
/// Thread:  any, pure arithmetic; well below a millisecond, unless the LUT is new.
/// Errors:  throws std::invalid_argument, in words for users, where a setting is out of its range,
///          or where what they come to is beyond the bound of the kernels' arithmetic. The latter
///          depends on layout and colours, too.
Operation prepare_operation(const ColorSettings& settings, const PixelLayout& layout,
                            const Colorimetry& colorimetry, const Operation* previous = nullptr);

}  // namespace stripe
