// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

#include "cuda/image.h"

namespace stripe {

/// How a picture is cut.
enum class StripeLayout {
  rows,     ///< bands of the full width: one contiguous copy each
  columns,  ///< bands of the full height: pitched copies
  tiles,    ///< a near-square grid: pitched copies
};

/// The smallest pieces that a picture may be cut into, in luma samples: a stripe never splits a
/// block of subsampled chroma.
struct StripeUnit {
  int x = 1;
  int y = 1;
};

/// What to cut, and how.
///
/// Units:   luma samples; all values at least 1.
struct PlanRequest {
  int width;
  int height;
  StripeLayout layout = StripeLayout::rows;
  int count = 1;
  StripeUnit unit = {};
};

/// The unit of a layout: its chroma subsampling; twice that in height, or 2, where rows belong to
/// two interlaced fields.
StripeUnit stripe_unit(const PixelLayout& layout, bool interlaced);

/// Cuts a picture into stripes. Every pixel is in exactly one of them.
///
/// Stripe i of n covers the units `[i * L / n, (i + 1) * L / n)` of the cut axis, L units long;
/// the last one is clipped to the picture. The count is clamped to L, so no stripe is empty.
///
/// Tiles: r = floor(sqrt(n)) bands of rows, of which band j is cut into (j + 1) * n / r - j * n / r
/// columns, n in all. n is clamped to the number of units in the picture, and where it has too few
/// columns for so few bands, or too few rows for so many, r follows.
///
/// Thread:  any, pure arithmetic.
/// Errors:  throws std::invalid_argument for values below 1.
std::vector<Rect> make_plan(const PlanRequest& request);

}  // namespace stripe
