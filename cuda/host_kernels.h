// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/device.h"

namespace stripe {

/// Copies rows of bytes, on the calling thread.
void copy_rows_on_host(const CopyJob& job) noexcept;

/// Runs an operation on a stripe, on the calling thread; the images lie in host memory.
void run_on_host(const Operation& operation, const KernelJob& job) noexcept;

}  // namespace stripe
