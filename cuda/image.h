// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstddef>

#include "cuda/pixel_layout.h"

namespace stripe {

/// A rectangle of a picture, in luma samples.
struct Rect {
  int x;
  int y;
  int width;
  int height;

  bool operator==(const Rect&) const = default;
};

/// A view of one plane: where its first row begins and how far the next row is.
///
/// Units:   bytes; `pitch_bytes` may be negative in host memory (rows that go up in memory).
/// Owner:   somebody else; a view never owns.
template <typename Byte>
struct BasicPlane {
  Byte* data = nullptr;
  std::ptrdiff_t pitch_bytes = 0;
};

/// A view of the planes of a picture whose layout and size are known from elsewhere.
template <typename Byte>
struct BasicImage {
  std::array<BasicPlane<Byte>, max_planes> planes{};
};

using Plane = BasicPlane<std::byte>;
using ConstPlane = BasicPlane<const std::byte>;
using Image = BasicImage<std::byte>;
using ConstImage = BasicImage<const std::byte>;

/// The same view, read only.
inline ConstImage as_const(const Image& image) {
  ConstImage view;
  for (std::size_t i = 0; i < image.planes.size(); ++i)
    view.planes[i] = {image.planes[i].data, image.planes[i].pitch_bytes};
  return view;
}

/// The part of one plane that a rectangle of the picture covers.
///
/// Units:   bytes across, rows down. `x_bytes` and `y` are from the plane's first byte.
struct PlaneArea {
  std::size_t x_bytes;
  std::size_t y;
  std::size_t row_bytes;
  std::size_t rows;
};

/// The part of `plane` that `rect` covers. Chroma is rounded up, never truncated: a sample
/// belongs to every rectangle that has a pixel of its block.
///
/// Units:   `rect` in luma samples; it begins on a whole block of the format.
PlaneArea plane_area(const PixelLayout& layout, int plane, const Rect& rect);

/// Bytes from the first byte of an area's first row to behind the last byte of its last row, for
/// rows `pitch_bytes` apart: `|pitch| * (rows - 1) + row_bytes`. Nothing outside is read or
/// written.
std::size_t extent_bytes(const PlaneArea& area, std::ptrdiff_t pitch_bytes);

/// The view of `image`'s plane moved to where `area` begins.
template <typename Byte>
BasicPlane<Byte> sub_plane(const BasicPlane<Byte>& plane, const PlaneArea& area) {
  return {plane.data + static_cast<std::ptrdiff_t>(area.y) * plane.pitch_bytes +
              static_cast<std::ptrdiff_t>(area.x_bytes),
          plane.pitch_bytes};
}

}  // namespace stripe
