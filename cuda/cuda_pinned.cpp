// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/cuda_pinned.h"

#include <cuda_runtime_api.h>

#include <atomic>
#include <mutex>
#include <set>

#include "cuda/backend.h"
#include "cuda/cuda_context.h"
#include "cuda/cuda_device.h"
#include "cuda/cuda_error.h"
#include "cuda/plain_memory.h"

namespace stripe {

namespace {

std::atomic<int> opened_device_id{-1};

// The device whose context serves for page-locking, -1 where there is none.
int pinning_device_id() {
  const CudaFacts facts = cuda_facts();
  if (!why_not_cuda(facts).empty()) return -1;
  if (const int id = opened_device_id; id >= 0) return id;
  return choose_backend(Backend::cuda, -1, facts).cuda_device_id;
}

std::byte* allocate_page_locked(int device_id, std::size_t size_bytes) {
  const CudaContextScope scope(device_id);
  void* data = nullptr;
  const cudaError_t status = cudaHostAlloc(&data, size_bytes, cudaHostAllocPortable);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw DeviceError(DeviceErrorKind::out_of_pinned_memory,
                      "cudaHostAlloc: no page-locked memory for a block of " +
                          std::to_string(size_bytes) + " bytes");
  }
  STRIPE_CUDA_CHECK(status);
  return static_cast<std::byte*>(data);
}

class ProcessPinnedSource final : public PinnedSource {
 public:
  std::byte* allocate(std::size_t size_bytes) override {
    const int device_id = pinning_device_id();
    if (device_id >= 0) return allocate_page_locked(device_id, size_bytes);
    std::byte* data = allocate_plain_pages(size_bytes);
    const std::lock_guard lock(mutex_);
    plain_.insert(data);
    return data;
  }

  void release(std::byte* data, std::size_t) noexcept override {
    if (forget_plain(data)) {
      release_plain_pages(data);
      return;
    }
    // After a sticky error the driver frees nothing: the block is left to the end of the process.
    const int device_id = pinning_device_id();
    if (device_id < 0) return;
    try {
      const CudaContextScope scope(device_id);
      STRIPE_CUDA_WARN(cudaFreeHost(data));
    } catch (const DeviceError&) {
    }
  }

 private:
  bool forget_plain(std::byte* data) noexcept {
    const std::lock_guard lock(mutex_);
    return plain_.erase(data) > 0;
  }

  std::mutex mutex_;            // a leaf
  std::set<std::byte*> plain_;  // blocks from times without a usable device
};

}  // namespace

void note_opened_cuda_device(int id) noexcept { opened_device_id = id; }

std::unique_ptr<PinnedSource> make_process_pinned_source() {
  return std::make_unique<ProcessPinnedSource>();
}

}  // namespace stripe
