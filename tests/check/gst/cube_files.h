// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <string>

#include "cuda/lut.h"

// LUT files, and what is in them.

namespace test {

/// A file to be, and what it holds.
struct Cube {
  std::string text;
  std::shared_ptr<const stripe::Lut> lut;
};

/// `size` entries along each axis: 1 - B', R', half of G' and a half.
Cube turning_cube(int size);

/// A curve of three entries for each component.
Cube bent_curve();

void write_file(const std::string& path, const std::string& text);

}  // namespace test
