// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

namespace gst_stripe {

/// A GstVideoBufferPool whose buffers come with zeros wherever their picture is not: at the ends of
/// rows, between planes, behind the last one, and in the allocator's prefix and padding. Once, when
/// a buffer is made: who gets it again finds what was left there.
///
/// Owner:   the caller owns the reference.
GstBufferPool* clean_pool_new();

/// Whether it is such a pool.
bool is_clean_pool(GstBufferPool* pool);

}  // namespace gst_stripe
