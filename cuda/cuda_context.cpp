// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/cuda_context.h"

#include <string>

#include "cuda/cuda_error.h"
#include "cuda/log.h"

namespace stripe {

namespace {

struct DriverFunctions {
  CUresult (*ctx_get_current)(CUcontext*) = nullptr;
  CUresult (*ctx_set_current)(CUcontext) = nullptr;
  CUresult (*pointer_get_attribute)(void*, CUpointer_attribute, CUdeviceptr) = nullptr;
};

template <typename Function>
void find_driver_function(const char* name, Function*& function) {
  constexpr unsigned int cuda_version = 12000;  // the interface as of then
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found{};
  STRIPE_CUDA_CHECK(
      cudaGetDriverEntryPointByVersion(name, &address, cuda_version, cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess)
    throw DeviceError(DeviceErrorKind::failed, std::string("the CUDA driver has no ") + name);
  function = reinterpret_cast<Function*>(address);
}

DriverFunctions find_driver_functions() {
  DriverFunctions driver;
  find_driver_function("cuCtxGetCurrent", driver.ctx_get_current);
  find_driver_function("cuCtxSetCurrent", driver.ctx_set_current);
  find_driver_function("cuPointerGetAttribute", driver.pointer_get_attribute);
  return driver;
}

const DriverFunctions& driver_functions() {
  static const DriverFunctions driver = find_driver_functions();
  return driver;
}

// The runtime answers for memory that CUDA does not know; the driver calls that an error.
bool get_host_attributes(const void* address, cudaPointerAttributes& attributes) noexcept {
  if (cudaPointerGetAttributes(&attributes, address) == cudaSuccess)
    return attributes.type == cudaMemoryTypeHost;
  cudaGetLastError();  // sticks until it is asked for
  return false;
}

}  // namespace

CudaContextScope::CudaContextScope(int device_id) {
  const DriverFunctions& driver = driver_functions();
  if (driver.ctx_get_current(&previous_) != CUDA_SUCCESS) previous_ = nullptr;
  try {
    STRIPE_CUDA_CHECK(cudaSetDevice(device_id));
  } catch (...) {
    restore();
    throw;
  }
}

CudaContextScope::~CudaContextScope() { restore(); }

void CudaContextScope::restore() noexcept {
  const CUresult status = driver_functions().ctx_set_current(previous_);
  if (status != CUDA_SUCCESS && status != CUDA_ERROR_DEINITIALIZED)
    warn("the calling thread's CUDA context could not be put back");
}

CudaHostRange find_cuda_host_range(const void* address) noexcept {
  cudaPointerAttributes attributes;
  if (!get_host_attributes(address, attributes)) return {};
  const DriverFunctions& driver = driver_functions();
  const auto pointer = reinterpret_cast<CUdeviceptr>(address);
  CUdeviceptr begin = 0;
  std::size_t size_bytes = 0;
  if (driver.pointer_get_attribute(&begin, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, pointer) !=
          CUDA_SUCCESS ||
      driver.pointer_get_attribute(&size_bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, pointer) !=
          CUDA_SUCCESS)
    return {};
  return {reinterpret_cast<const void*>(begin), size_bytes};
}

void* find_cuda_device_address(const void* host) noexcept {
  cudaPointerAttributes attributes;
  return get_host_attributes(host, attributes) ? attributes.devicePointer : nullptr;
}

}  // namespace stripe
