// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

namespace gst_stripe {

/// A GstVideoBufferPool on `allocator`, not active, with no upper limit, whose buffers come with their
/// padding cleared.
///
/// Owner:   the caller owns the reference.
/// Errors:  NULL where the pool refuses the caps.
GstBufferPool* video_pool_new(GstCaps* caps, gsize size_bytes, guint min_buffers,
                              GstAllocator* allocator, const GstAllocationParams& params,
                              bool with_video_meta);

/// Answers upstream's ALLOCATION query: GstVideoMeta, and a pool of page-locked buffers and its
/// allocator, unless that is NULL.
///
/// Errors:  FALSE where the query has no usable caps.
bool offer_allocation(GstQuery* query, GstAllocator* allocator, guint min_buffers);

/// Puts into the answer of downstream's ALLOCATION query what output shall come from:
/// downstream's pool or allocator where it is a special one (shm, v4l2, GL), else a pool on
/// `allocator` (NULL: the system's), with the alignment, prefix and padding that downstream asks
/// for.
///
/// Errors:  FALSE where the query has no usable caps.
bool decide_output_allocation(GstQuery* query, GstAllocator* allocator);

}  // namespace gst_stripe
