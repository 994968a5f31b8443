// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/device.h"

namespace stripe {

/// Returns once `event` has passed. The driver's own wait is not used: it either spins or wakes some
/// 30 us late, and the events that it can sleep for cost an interrupt each, waited for or not.
///
/// Thread:  a device must be current.
/// Errors:  throws DeviceError.
/// Source:  CUDA Runtime API, cudaEventQuery.
Waited wait_for_event(cudaEvent_t event, const WaitPlan& plan);

}  // namespace stripe
