// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/device.h"

namespace stripe {

/// Returns once `event` has passed. The driver's own wait wakes some 30 us late: it is left for
/// work that takes longer than was planned for.
///
/// Thread:  a device must be current.
/// Errors:  throws DeviceError.
/// Source:  CUDA Runtime API, cudaEventQuery and cudaEventSynchronize.
Waited wait_for_event(cudaEvent_t event, const WaitPlan& plan);

}  // namespace stripe
