// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda_runtime.h>

#include "cuda/cuda_error.h"

namespace stripe {

/// Loads a kernel on the current device without launching it.
///
/// Errors:  throws DeviceError, not_found where it has no code for this architecture.
template <typename Kernel>
void load_cuda_kernel(Kernel* kernel) {
  cudaFuncAttributes attributes;
  STRIPE_CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
}

}  // namespace stripe
