// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>

#include "cuda/page_lock.h"
#include "cuda/pinned.h"

namespace gst_stripe {

/// The name of the allocator, and the type of its memory.
inline constexpr const char* pinned_memory_type = "CudaStripePinned";

/// An allocator of page-locked memory, with blocks of `cache`, which are charged to `budget`.
/// Past its bound it gives plain memory, which is copied through page-locked blocks.
///
/// Owner:   the caller owns the returned reference; the cache outlives all memory.
/// Thread:  any, as every GstAllocator.
/// Errors:  gst_allocator_alloc returns NULL where no memory can be had.
GstAllocator* pinned_allocator_new(const std::shared_ptr<stripe::LockBudget>& budget,
                                   stripe::PinnedCache& cache);

/// Makes one known to gst_allocator_find, on the process's cache: cudaHostAlloc (portable) when a
/// CUDA device is usable, else plain aligned memory. No device is touched before the first
/// allocation.
void pinned_allocator_register();

/// Whether `memory` is of such an allocator (any instance; shared parts too).
bool is_allocator_memory(const GstMemory* memory);

/// Whether `device` may copy from and to it directly: it is not plain memory past a bound, nor
/// from where no device could lock pages.
///
/// Units:   `memory` is one for which is_allocator_memory holds.
bool is_pinned_memory(const GstMemory* memory, const stripe::Device& device);

/// Whether it is plain memory because its element's bound was reached; `memory` as above.
bool is_past_bound(const GstMemory* memory);

/// Whether it is such an allocator.
bool is_pinned_allocator(const GstAllocator* allocator);

/// Whether both (NULL is none) are such allocators and take their blocks from the same cache.
bool have_same_cache(const GstAllocator* a, const GstAllocator* b);

}  // namespace gst_stripe
