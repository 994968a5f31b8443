// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "cuda/pinned.h"

namespace gst_stripe {

/// The name of the allocator, and the type of its memory.
inline constexpr const char* pinned_memory_type = "CudaStripePinned";

/// How many bytes of page-locked blocks somebody's allocator has given out that are not freed
/// yet.
///
/// Owner:   shared by the allocator, its memories and who asks; memories outlive elements.
using PinnedAccount = std::shared_ptr<std::atomic<std::uint64_t>>;

/// An allocator of page-locked memory, with blocks of `cache`.
///
/// Owner:   the caller owns the returned reference; the cache outlives all memory.
/// Thread:  any, as every GstAllocator.
/// Errors:  gst_allocator_alloc returns NULL where no memory can be had.
GstAllocator* pinned_allocator_new(const PinnedAccount& account, stripe::PinnedCache& cache);

/// Makes one known to gst_allocator_find, on the process's cache: cudaHostAlloc (portable) when a
/// CUDA device is usable, else plain aligned memory. No device is touched before the first
/// allocation.
void pinned_allocator_register();

/// Whether `memory` is of such an allocator (any instance; shared parts too).
bool is_pinned_memory(const GstMemory* memory);

/// Whether its pages are really locked, and not just aligned memory where no device could do it.
///
/// Units:   `memory` is one for which is_pinned_memory holds.
bool is_page_locked_memory(const GstMemory* memory);

}  // namespace gst_stripe
