// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace gst_stripe {

/// The name of the allocator, and the type of its memory.
inline constexpr const char* pinned_memory_type = "CudaStripePinned";

/// How many bytes of page-locked blocks somebody's allocator has given out that are not freed yet.
///
/// Owner:  shared by the allocator, its memories and who asks; memories outlive elements.
using PinnedAccount = std::shared_ptr<std::atomic<std::uint64_t>>;

/// An allocator of page-locked memory: cudaHostAlloc (portable) when a CUDA device is usable, else
/// plain aligned memory. Blocks come from the process's cache and go back to it.
///
/// Owner:   the caller owns the returned reference.
/// Thread:  any, as every GstAllocator.
/// Errors:  gst_allocator_alloc returns NULL where no memory can be had.
GstAllocator* pinned_allocator_new(const PinnedAccount& account);

/// Makes the allocator known to gst_allocator_find. Touches no device.
void pinned_allocator_register();

/// Whether `memory` is page-locked memory of such an allocator (any instance; shared parts too).
bool is_pinned_memory(const GstMemory* memory);

}  // namespace gst_stripe
