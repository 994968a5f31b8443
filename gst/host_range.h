// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "cuda/page_lock.h"

namespace gst_stripe {

/// The memory that `memory` is a part of; itself if it is no part.
GstMemory* root_of(GstMemory* memory);

/// Whether the memory stays where it is as long as it lives: system memory, wrapped memory
/// included. Of all else (a file descriptor's, a driver's) it can't be seen whether its mapping
/// outlasts the unmap, and it is never registered.
bool is_registrable(const GstMemory* memory);

/// What is known of the memory that `memory` is a part of. It hangs on the root GstMemory, and goes
/// with it before its allocator frees the bytes.
///
/// Units:   `map` is of `memory`.
/// Owner:   the root GstMemory.
/// Thread:  any.
stripe::HostRange& host_range_of(GstMemory* memory, const GstMapInfo& map);

}  // namespace gst_stripe
