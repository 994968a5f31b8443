// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

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

/// The planes of a buffer, mapped while the view lives. The door where sizes are checked: nothing
/// is mapped, and no byte is read, before every plane was found to lie inside the buffer's
/// memory.
///
/// Each plane is resolved to the memory that holds it, so buffers of several memories are never
/// merged; only where a plane itself crosses memories a merged copy is mapped.
///
/// Owner:   the caller keeps the buffer. A view to write needs a writable buffer.
/// Thread:  lives on one thread at a time.
/// Errors:  throws FrameError.
class FrameView {
 public:
  FrameView(GstBuffer* buffer, const GstVideoInfo& info, GstMapFlags flags,
            const stripe::Device& device);
  FrameView(const FrameView&) = delete;
  ~FrameView();

  const stripe::Image& image() const noexcept { return image_; }

  /// Direct where every plane is page-locked memory and its rows go down in memory.
  stripe::HostAccess access() const noexcept { return access_; }

  /// Whether every plane lies in memory of `allocator`.
  bool is_all_from(const GstAllocator* allocator) const noexcept;

 private:
  struct PlanePlace;

  PlanePlace find_plane(const GstVideoInfo& info, const stripe::PixelLayout& layout, int plane);
  void map_plane(const PlanePlace& place, int plane, GstMapFlags flags);
  void map_whole(const PlanePlace* places, int count, GstMapFlags flags);
  const GstMapInfo& map_memory(GstMemory* memory, GstMapFlags flags);
  bool is_page_locked(const PlanePlace& place, int plane, const stripe::Device& device) const;
  void unmap() noexcept;

  GstBuffer* const buffer_;
  stripe::Image image_{};
  stripe::HostAccess access_ = stripe::HostAccess::staged;
  GstMapInfo maps_[stripe::max_planes]{};  // of single memories; unused: memory is NULL
  GstMapInfo whole_map_{};                 // of the buffer, where a plane crosses memories
};

}  // namespace gst_stripe
