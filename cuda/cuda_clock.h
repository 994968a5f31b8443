// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "cuda/device.h"

namespace stripe {

/// A CUDA event that takes the time.
class CudaStamp final : public Stamp {
 public:
  explicit CudaStamp(int device_id);
  CudaStamp(const CudaStamp&) = delete;
  ~CudaStamp() override;

  cudaEvent_t get() const noexcept { return event_; }

 private:
  const int device_id_;
  cudaEvent_t event_ = nullptr;
};

/// Tells the times of CudaStamps of the device.
///
/// Errors:  throws DeviceError.
/// Source:  CUDA Runtime API, cudaEventElapsedTime: a float of milliseconds, fine over a frame's
///          time and coarse after minutes, whence the anchors.
std::unique_ptr<DeviceClock> create_cuda_clock(int device_id);

}  // namespace stripe
