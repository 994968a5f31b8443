// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include "gst/support.h"

// Allocators and pools that no element knows, as those of drivers are.

namespace test {

/// Gives memory of a type of its own that the CPU can use as any other.
Ref<GstAllocator> make_special_allocator();

/// Gives none: it is flagged as one that wraps what others made, as the allocators of dmabufs are.
Ref<GstAllocator> make_wrapping_allocator();

/// What a pool makes of the configuration that it is given, and how it answers.
enum class PoolAnswer {
  larger,        ///< FALSE, with a larger size, which it takes: v4l2's pools, for their strides
  more_buffers,  ///< FALSE, with more buffers, which it takes
  smaller,       ///< FALSE, with a size too small for the picture
  refused,       ///< FALSE, with nothing changed
};

/// Its buffers are of system memory; the type is its own.
Ref<GstBufferPool> make_adjusting_pool(PoolAnswer answer);

/// The size that a pool of PoolAnswer::larger wants for pictures of `size_bytes`.
unsigned larger_size(unsigned size_bytes);

}  // namespace test
