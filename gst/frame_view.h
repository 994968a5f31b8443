// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <array>
#include <stdexcept>

#include "cuda/device.h"
#include "cuda/engine.h"
#include "cuda/image.h"
#include "cuda/operation.h"

namespace gst_stripe {

/// A buffer that does not hold the picture that its caps and metas promise. `what()` is for the
/// user.
class FrameError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The pixel layout of an 8-bit format of the element's caps.
stripe::PixelLayout pixel_layout_of(const GstVideoInfo& info);

/// How codes and colours belong together, from the caps' colorimetry. RGB and unknown matrices
/// take the luma coefficients of their primaries.
stripe::Colorimetry colorimetry_of(const GstVideoInfo& info);

/// The shape of the frames that caps describe.
///
/// Errors:  throws FrameError for sizes and strides that no frame can have.
stripe::FrameShape frame_shape_of(const GstVideoInfo& info);

/// The bytes of one plane, first to last, and the memory that they lie in.
struct PlaneRange {
  GstMemory* memory = nullptr;
  const std::byte* begin = nullptr;
  gsize size_bytes = 0;
};

/// The planes of a buffer, mapped while the view lives. The door where sizes are checked: nothing is
/// mapped, and no byte is read, before every plane was found to lie inside the buffer's memory.
///
/// Each plane is resolved to the memory that holds it, so buffers of several memories are never
/// merged; only where a plane itself crosses memories a merged copy is mapped.
///
/// Owner:   the caller keeps the buffer. A view to write needs a writable buffer.
/// Thread:  lives on one thread at a time.
/// Errors:  throws FrameError.
class FrameView {
 public:
  FrameView(GstBuffer* buffer, const GstVideoInfo& info, GstMapFlags flags);
  FrameView(const FrameView&) = delete;
  ~FrameView();

  const stripe::Image& image() const noexcept { return image_; }

  /// Whether each row of each plane lies above the one before in memory.
  bool rows_go_down() const noexcept { return rows_go_down_; }

  /// Whether a merged copy of the buffer's memories is mapped; then there are no ranges and maps.
  bool is_merged() const noexcept { return whole_map_.memory != nullptr; }

  /// Whether one memory holds all planes.
  bool is_one_memory() const noexcept { return maps_[0].memory && !maps_[1].memory; }

  /// By plane; unused ones have no memory.
  const std::array<PlaneRange, stripe::max_planes>& ranges() const noexcept { return ranges_; }

  /// Each memory once; the first one whose memory is NULL ends them.
  const std::array<GstMapInfo, stripe::max_planes>& maps() const noexcept { return maps_; }

  /// Whether every plane lies in memory of `allocator`.
  bool is_all_from(const GstAllocator* allocator) const noexcept;

 private:
  struct PlanePlace;

  PlanePlace find_plane(const GstVideoInfo& info, const stripe::PixelLayout& layout, int plane);
  void map_plane(const PlanePlace& place, int plane, GstMapFlags flags);
  void map_whole(const PlanePlace* places, int count, GstMapFlags flags);
  const GstMapInfo& map_memory(GstMemory* memory, GstMapFlags flags);
  void unmap() noexcept;

  GstBuffer* const buffer_;
  stripe::Image image_{};
  bool rows_go_down_ = true;
  std::array<PlaneRange, stripe::max_planes> ranges_{};
  std::array<GstMapInfo, stripe::max_planes> maps_{};
  GstMapInfo whole_map_{};
};

}  // namespace gst_stripe
