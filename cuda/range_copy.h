// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>

#include "cuda/device.h"

namespace stripe {

/// Where a copy's stores go.
enum class Stores {
  cached,     ///< into the caches, for whoever reads them next
  streaming,  ///< past them, where the machine can: what is there already stays
};

/// The same job, in one row where its rows have no gaps between them.
CopyJob in_few_rows(const CopyJob& job) noexcept;

/// Copies a part of a job's bytes, on the calling thread; what was stored is to be seen by whoever
/// learns from this thread that it is done.
///
/// Units:   `begin` and `end` count the bytes of all rows, one row behind the other.
void copy_range(const CopyJob& job, std::size_t begin, std::size_t end, Stores stores) noexcept;

}  // namespace stripe
