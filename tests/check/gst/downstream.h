// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include "gst/support.h"
#include "support/guarded_image.h"
#include "support/random.h"

// What is after the element: how it answers ALLOCATION queries, a special pool that it may offer,
// and an element before it.

namespace test {

/// How the pad after the element answers ALLOCATION queries. The default is an answer with nothing
/// in it.
///
/// Owner: borrows `pool` and `allocator`.
struct Downstream {
  bool answers = true;
  bool video_meta = false;
  bool has_pool = false;
  GstBufferPool* pool = nullptr;  ///< with `has_pool`: NULL says a size without a pool
  unsigned size_bytes = 0;        ///< of the pool's buffers; 0: as large as the query's caps need
  unsigned min_buffers = 0;
  unsigned max_buffers = 0;
  bool has_params = false;
  GstAllocator* allocator = nullptr;
  GstAllocationParams params = {};
  unsigned queries = 0;  ///< how often it was asked
};

/// From now on the rig's last pad answers so. `downstream` must outlive the rig.
void install(Rig& rig, Downstream& downstream);

/// What a guarded pool can't do.
enum class PoolFault { none, cannot_start, cannot_allocate };

/// A pool no element knows, as those of displays and encoders are: its buffers are guarded pictures
/// of odd geometry in memory of the test's own.
Ref<GstBufferPool> make_guarded_pool(PoolFault fault = PoolFault::none);

/// The guarded picture that a buffer of that pool is made of; NULL for any other buffer.
const GuardedImage* guarded_image_of(GstBuffer* buffer);

/// A downstream that offers `pool` and understands GstVideoMeta.
Downstream offering(GstBufferPool* pool);

/// An inverting element before a downstream that answers so.
struct InvertingFixture {
  explicit InvertingFixture(const Downstream& answer, const char* format = "I420", int width = 65,
                            int height = 63);

  /// One frame through, pixels checked.
  Ref<GstBuffer> process();

  GstVideoInfo info() const;

  Ref<GstCaps> caps;
  Random random;
  Downstream downstream;
  Rig rig;
};

/// Fails unless `output` is of a standard pool on the element's own allocator.
void expect_pinned(GstBuffer* output);

}  // namespace test
