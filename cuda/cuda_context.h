// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda.h>

#include <exception>

namespace stripe {

/// Makes a device current for its scope and then puts back the context that the calling thread
/// had: streaming threads belong to others too.
///
/// Thread:  lives on one thread.
/// Errors:  the constructor throws DeviceError, and leaves the thread's context as it was. It
///          does not ask whether CUDA has failed in this process: what waits for a device, or
///          frees what it used, has to reach the driver then too.
/// Source:  CUDA Driver API, cuCtxGetCurrent and cuCtxSetCurrent, found through the runtime, so
///          that nothing links libcuda.
class CudaContextScope {
 public:
  explicit CudaContextScope(int device_id);
  CudaContextScope(const CudaContextScope&) = delete;
  ~CudaContextScope();

 private:
  void restore() noexcept;

  CUcontext previous_ = nullptr;
};

/// Runs the clean-up of a destructor with the device current. Where it can't be made current (the
/// process ends, the context is gone), there is nothing left to clean up.
template <typename Cleanup>
void with_cuda_device(int device_id, Cleanup cleanup) noexcept {
  try {
    const CudaContextScope scope(device_id);
    cleanup();
  } catch (const std::exception&) {
  }
}

/// The whole allocation or registration that an address of page-locked host memory belongs to.
///
/// Units:   bytes; `size_bytes` is 0 for memory that CUDA does not know, or not as host memory.
struct CudaHostRange {
  const void* begin = nullptr;
  unsigned long long size_bytes = 0;
};

/// Asks the driver. A device must be current.
CudaHostRange find_cuda_host_range(const void* address) noexcept;

/// Where kernels of the current device find page-locked host memory; NULL where they can't reach it.
void* find_cuda_device_address(const void* host) noexcept;

}  // namespace stripe
