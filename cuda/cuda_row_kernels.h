// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/plane_jobs.h"

namespace stripe {

/// Launches one kernel for all planes of a stripe; the device is current. With `over_link`, where an
/// image lies behind a link as slow as which the kernel is, it takes few blocks.
///
/// Errors:  throws DeviceError; std::logic_error for maps that no format has side by side.
void launch_cuda_rows(const PlaneJobs& planes, bool over_link, cudaStream_t stream);

/// Loads the kernels that copy, or those that do not, on the current device without launching them.
///
/// Errors:  throws DeviceError.
void load_cuda_rows(bool copies);

}  // namespace stripe
