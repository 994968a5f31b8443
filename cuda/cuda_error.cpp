// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/cuda_error.h"

#include <atomic>
#include <mutex>

#include "cuda/log.h"

namespace stripe {

namespace {

// The first sticky error. Never destroyed: memory is freed as late as at exit.
struct ProcessFailure {
  std::atomic<bool> failed{false};
  std::mutex mutex;  // a leaf; guards cause
  std::string cause;
};

ProcessFailure& process_failure() {
  static auto* const failure = new ProcessFailure;
  return *failure;
}

// CUDA Runtime API, enum cudaError: these leave the process in a state from which only its end
// helps.
bool is_sticky(cudaError_t status) {
  switch (status) {
    case cudaErrorContained:
    case cudaErrorECCUncorrectable:
    case cudaErrorExternalDevice:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorMpsClientTerminated:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

DeviceErrorKind kind_of(cudaError_t status) {
  switch (status) {
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorDevicesUnavailable:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorInvalidKernelImage:
    case cudaErrorInvalidPtx:
    case cudaErrorUnsupportedPtxVersion:
      return DeviceErrorKind::not_found;
    case cudaErrorMemoryAllocation:
      return DeviceErrorKind::out_of_device_memory;
    default:
      return DeviceErrorKind::failed;
  }
}

// "cudaMalloc(&data, size)" -> "cudaMalloc"
std::string function_of(const char* call) {
  const std::string text = call;
  return text.substr(0, text.find('('));
}

std::string describe(cudaError_t status, const char* call) {
  return function_of(call) + ": " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) +
         ")";
}

void remember(const std::string& cause) {
  ProcessFailure& failure = process_failure();
  const std::lock_guard lock(failure.mutex);
  if (failure.failed) return;
  failure.cause = cause;
  failure.failed = true;
}

}  // namespace

void check_cuda(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // or the next launch check reports it again
  const std::string message = describe(status, call);
  if (is_sticky(status)) remember(message);
  throw DeviceError(kind_of(status), message);
}

void warn_cuda(cudaError_t status, const char* call) noexcept {
  if (status == cudaSuccess || status == cudaErrorCudartUnloading) return;
  cudaGetLastError();
  try {
    const std::string message = describe(status, call);
    if (is_sticky(status)) remember(message);
    warn(message.c_str());
  } catch (const std::exception&) {
    warn("a CUDA call failed, and there is no memory to say which");
  }
}

std::string cuda_failure() {
  ProcessFailure& failure = process_failure();
  if (!failure.failed) return {};
  const std::lock_guard lock(failure.mutex);
  return failure.cause;
}

void throw_if_cuda_failed() {
  if (process_failure().failed)
    throw DeviceError(
        DeviceErrorKind::failed,
        "CUDA failed earlier in this process and cannot be used again: " + cuda_failure());
}

}  // namespace stripe
