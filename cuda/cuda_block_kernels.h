// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/device.h"

namespace stripe {

/// Launches the kernel of an operation on blocks for a stripe; the device is current, and has the
/// operation's tables.
///
/// Errors:  throws DeviceError; std::logic_error where the operation was not prepared.
void launch_cuda_blocks(const Operation& operation, const KernelJob& job, cudaStream_t stream);

/// Loads that kernel on the current device without launching it.
///
/// Errors:  throws DeviceError.
void load_cuda_blocks(const Operation& operation);

}  // namespace stripe
