// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <string>
#include <vector>

namespace stripe {

/// One entry of a table, or a point of the space that a table is over: R', G', B'.
using LutColor = std::array<float, 3>;

/// A look-up table as a file has it: a curve for each component, a cube over all three, or the curve
/// and then the cube.
///
/// Units:   R'G'B'; 0 and 1 are black and white, entries may lie beyond. A table's `*_min` and
///          `*_max` are the inputs that its first and last entry are for; inputs beyond count as
///          these. All are finite, and each min is below its max.
/// Owner:   a value; what it holds may be large (a cube of 129 is 26 MB).
struct Lut {
  std::string title;  ///< empty where the file has none

  std::vector<LutColor> curve;  ///< empty: none; else 2 to 65536 entries, linear between them
  LutColor curve_min{0, 0, 0};
  LutColor curve_max{1, 1, 1};

  int cube_size = 0;           ///< 0: none; else 2 to 129 entries along each axis
  std::vector<LutColor> cube;  ///< cube_size to the third, red fastest; tetrahedral between them
  LutColor cube_min{0, 0, 0};
  LutColor cube_max{1, 1, 1};
};

}  // namespace stripe
