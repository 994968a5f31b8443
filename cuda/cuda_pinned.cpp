// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/cuda_pinned.h"

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "cuda/backend.h"
#include "cuda/cuda_context.h"
#include "cuda/cuda_device.h"
#include "cuda/cuda_error.h"
#include "cuda/log.h"
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

// cudaHostAlloc promises no alignment; that it gives whole pages is what everybody sees, and what
// the blocks' users rely on.
bool is_on_a_page(const void* data) {
  return reinterpret_cast<std::uintptr_t>(data) % PinnedCache::page_bytes == 0;
}

PinnedStorage allocate_page_locked(int device_id, std::size_t size_bytes) {
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
  if (!is_on_a_page(data)) {
    STRIPE_CUDA_WARN(cudaFreeHost(data));
    throw DeviceError(DeviceErrorKind::failed, "cudaHostAlloc: memory that begins within a page");
  }
  return {static_cast<std::byte*>(data), size_bytes, true};
}

class ProcessPinnedSource final : public PinnedSource {
 public:
  PinnedStorage allocate(std::size_t size_bytes) override {
    const int device_id = pinning_device_id();
    if (device_id < 0) return plain_.allocate(size_bytes);
    try {
      return allocate_page_locked(device_id, size_bytes);
    } catch (const DeviceError& error) {
      // Without pages to lock the cache can let idle blocks go. Without a context (the device is
      // another process's, this one was forked) there never will be any: plain memory is staged.
      if (error.kind() == DeviceErrorKind::out_of_pinned_memory) throw;
      warn(error.what());
      return plain_.allocate(size_bytes);
    }
  }

  void release(const PinnedStorage& storage) noexcept override {
    if (!storage.page_locked) {
      plain_.release(storage);
      return;
    }
    // After a sticky error the driver frees nothing: the block is left to the process's end.
    const int device_id = pinning_device_id();
    if (device_id < 0) return;
    try {
      const CudaContextScope scope(device_id);
      STRIPE_CUDA_WARN(cudaFreeHost(storage.data));
    } catch (const DeviceError& error) {
      warn(error.what());
    }
  }

 private:
  PlainSource plain_;
};

}  // namespace

void note_opened_cuda_device(int id) noexcept { opened_device_id = id; }

std::unique_ptr<PinnedSource> make_process_pinned_source() {
  return std::make_unique<ProcessPinnedSource>();
}

}  // namespace stripe
