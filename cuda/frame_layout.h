// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstddef>

#include "cuda/image.h"

namespace stripe {

/// Where the planes of a frame lie in a block of the engine's own (device memory, or staging).
///
/// Units:   bytes from the block's start.
struct FrameLayout {
  std::array<std::size_t, max_planes> offset_bytes{};
  std::array<std::ptrdiff_t, max_planes> pitch_bytes{};
  std::size_t size_bytes = 0;
};

/// Lays a frame out for kernels: planes on 256 bytes, rows on 16, so that 16-byte accesses are
/// aligned. Rows of common sizes stay contiguous, and a band of them is one copy.
FrameLayout make_frame_layout(const PixelLayout& layout, int width, int height);

/// The planes of a block that is laid out so.
Image view_of(const FrameLayout& layout, std::byte* block);

}  // namespace stripe
