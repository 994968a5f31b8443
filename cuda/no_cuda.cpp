// SPDX-License-Identifier: LGPL-2.1-or-later

// What the CUDA files offer, in builds without CUDA.

#include "cuda/backend.h"
#include "cuda/cuda_device.h"
#include "cuda/plain_memory.h"

namespace stripe {

CudaFacts cuda_facts() { return {}; }

std::shared_ptr<Device> open_cuda_device(int) {
  throw DeviceError(DeviceErrorKind::not_found, why_not_cuda(cuda_facts()));
}

std::unique_ptr<PinnedSource> make_process_pinned_source() {
  return std::make_unique<PlainSource>();
}

}  // namespace stripe
