// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/device.h"

namespace stripe {

/// Whether neither side has gaps between its rows.
bool is_contiguous(const CopyJob& job) noexcept;

/// Adds `next` to `job` where it goes on where `job` ends, on both sides and without gaps: one copy
/// costs half of what two cost. False, and nothing is changed, where it does not.
///
/// Owner:   the caller knows that each side of both is one memory: a copy must not lead from one
///          registration into the next.
bool join(CopyJob& job, const CopyJob& next) noexcept;

}  // namespace stripe
