// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Whether rectangles cover a picture, each pixel once.

#include <algorithm>
#include <vector>

#include "cuda/image.h"

namespace test {

/// How many of the stripes each pixel is in, row by row; -1 somewhere if one leaves the picture.
inline std::vector<int> cover(const std::vector<stripe::Rect>& stripes, int width, int height) {
  std::vector<int> times(static_cast<std::size_t>(width) * height, 0);
  for (const stripe::Rect& stripe : stripes) {
    if (stripe.x < 0 || stripe.y < 0 || stripe.x + stripe.width > width ||
        stripe.y + stripe.height > height)
      return {-1};
    for (int y = stripe.y; y < stripe.y + stripe.height; ++y)
      for (int x = stripe.x; x < stripe.x + stripe.width; ++x) ++times[y * width + x];
  }
  return times;
}

inline bool all_once(const std::vector<int>& times) {
  return std::all_of(times.begin(), times.end(), [](int n) { return n == 1; });
}

}  // namespace test
