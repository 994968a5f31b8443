// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "cuda/error.h"

/// For calls that may fail: throws DeviceError with the call and the driver's words.
#define STRIPE_CUDA_CHECK(call) ::stripe::check_cuda((call), #call)

/// For destructors: a failure goes to the warning sink. Silent while the process exits, when the
/// runtime may be gone before us.
#define STRIPE_CUDA_WARN(call) ::stripe::warn_cuda((call), #call)

namespace stripe {

/// Throws for any status but success, after the runtime's last error is cleared. A sticky error
/// is remembered as the process's failure.
void check_cuda(cudaError_t status, const char* call);

/// The same without an exception.
void warn_cuda(cudaError_t status, const char* call) noexcept;

/// The first sticky error of this process, empty while CUDA works. A sticky error (a faulting
/// kernel, a lost device) ends CUDA for everybody in the process.
std::string cuda_failure();

/// Throws DeviceError, failed, with the first cause if CUDA has failed in this process.
void throw_if_cuda_failed();

}  // namespace stripe
