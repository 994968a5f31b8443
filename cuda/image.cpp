// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/image.h"

#include <stdexcept>

namespace stripe {

namespace {

// Every component of a plane has the plane's subsampling and step.
const Component& component_of_plane(const PixelLayout& layout, int plane) {
  for (int c = 0; c < layout.component_count(); ++c)
    if (layout.components[c].plane == plane) return layout.components[c];
  throw std::invalid_argument("the layout has no such plane");
}

int shift_up(int value, int log2) {
  return (value >> log2) + ((value & ((1 << log2) - 1)) != 0 ? 1 : 0);
}

}  // namespace

PlaneArea plane_area(const PixelLayout& layout, int plane, const Rect& rect) {
  const Component& component = component_of_plane(layout, plane);
  const int x = rect.x >> component.log2_sub_x;
  const int y = rect.y >> component.log2_sub_y;
  const int x_end = shift_up(rect.x + rect.width, component.log2_sub_x);
  const int y_end = shift_up(rect.y + rect.height, component.log2_sub_y);
  const std::size_t step_bytes = component.step_bytes;
  return {static_cast<std::size_t>(x) * step_bytes, static_cast<std::size_t>(y),
          static_cast<std::size_t>(x_end - x) * step_bytes, static_cast<std::size_t>(y_end - y)};
}

std::size_t extent_bytes(const PlaneArea& area, std::ptrdiff_t pitch_bytes) {
  const auto pitch = static_cast<std::size_t>(pitch_bytes < 0 ? -pitch_bytes : pitch_bytes);
  return pitch * (area.rows - 1) + area.row_bytes;
}

}  // namespace stripe
