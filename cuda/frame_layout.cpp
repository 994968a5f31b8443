// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/frame_layout.h"

namespace stripe {

namespace {

constexpr std::size_t row_alignment = 16;
constexpr std::size_t plane_alignment = 256;

std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

}  // namespace

FrameLayout make_frame_layout(const PixelLayout& layout, int width, int height) {
  FrameLayout out;
  for (int p = 0; p < layout.plane_count; ++p) {
    const PlaneArea area = plane_area(layout, p, {0, 0, width, height});
    const std::size_t pitch = round_up(area.row_bytes, row_alignment);
    out.offset_bytes[p] = out.size_bytes;
    out.pitch_bytes[p] = static_cast<std::ptrdiff_t>(pitch);
    out.size_bytes += round_up(pitch * area.rows, plane_alignment);
  }
  return out;
}

Image view_of(const FrameLayout& layout, std::byte* block) {
  Image image;
  for (std::size_t p = 0; p < image.planes.size(); ++p)
    if (layout.pitch_bytes[p] != 0)
      image.planes[p] = {block + layout.offset_bytes[p], layout.pitch_bytes[p]};
  return image;
}

}  // namespace stripe
