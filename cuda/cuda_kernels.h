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

/// Launches a kernel that does nothing: an event recorded behind it is passed by the device's
/// compute engine. Behind a copy it would be the copy engine's, and the stream would wait there for
/// other streams' copies.
///
/// Errors:  throws DeviceError.
void launch_cuda_mark(cudaStream_t stream);
void load_cuda_mark();

/// The oldest architecture that this build holds code for, as 10 * major + minor.
int oldest_cuda_architecture() noexcept;

}  // namespace stripe
