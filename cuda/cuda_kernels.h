// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/device.h"

namespace stripe {

/// Launches the kernels of `operation` for a stripe; the device is current.
///
/// Errors:  throws DeviceError.
void launch_cuda_kernels(const Operation& operation, const KernelJob& job, cudaStream_t stream);

/// Loads the kernels of `operation` on the current device without launching them.
///
/// Errors:  throws DeviceError, not_found where they hold no code for this architecture.
void load_cuda_kernels(const Operation& operation);

/// The oldest architecture that this build holds code for, as 10 * major + minor.
int oldest_cuda_architecture() noexcept;

}  // namespace stripe
