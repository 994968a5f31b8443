// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/cuda_device.h"

#include <cuda_runtime_api.h>

#include <string>

#include "cuda/copy_job.h"
#include "cuda/cpu_cache.h"
#include "cuda/cuda_clock.h"
#include "cuda/cuda_context.h"
#include "cuda/cuda_error.h"
#include "cuda/cuda_kernels.h"
#include "cuda/cuda_pinned.h"
#include "cuda/cuda_wait.h"
#include "cuda/table_pool.h"

namespace stripe {

namespace {

class CudaMemory final : public DeviceMemory {
 public:
  CudaMemory(int device_id, std::size_t size_bytes) : device_id_(device_id) {
    throw_if_cuda_failed();
    const CudaContextScope scope(device_id);
    STRIPE_CUDA_CHECK(cudaMalloc(&data_, size_bytes));
  }
  CudaMemory(const CudaMemory&) = delete;
  ~CudaMemory() override {
    with_cuda_device(device_id_, [this] { STRIPE_CUDA_WARN(cudaFree(data_)); });
  }

  std::byte* data() const noexcept override { return static_cast<std::byte*>(data_); }

 private:
  const int device_id_;
  void* data_ = nullptr;
};

class CudaEvent final : public Event {
 public:
  explicit CudaEvent(int device_id) : device_id_(device_id) {
    throw_if_cuda_failed();
    const CudaContextScope scope(device_id);
    STRIPE_CUDA_CHECK(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
  }
  CudaEvent(const CudaEvent&) = delete;
  ~CudaEvent() override {
    with_cuda_device(device_id_, [this] { STRIPE_CUDA_WARN(cudaEventDestroy(event_)); });
  }

  Waited wait(const WaitPlan& plan) override {
    const CudaContextScope scope(device_id_);
    return wait_for_event(event_, plan);
  }

  cudaEvent_t get() const noexcept { return event_; }

 private:
  const int device_id_;
  cudaEvent_t event_ = nullptr;
};

cudaMemcpyKind kind_of(CopyDirection direction) {
  switch (direction) {
    case CopyDirection::upload:
      return cudaMemcpyHostToDevice;
    case CopyDirection::download:
      return cudaMemcpyDeviceToHost;
    case CopyDirection::on_device:
      break;
  }
  return cudaMemcpyDeviceToDevice;
}

class CudaQueue final : public Queue {
 public:
  explicit CudaQueue(int device_id) : device_id_(device_id) {
    throw_if_cuda_failed();
    const CudaContextScope scope(device_id);
    STRIPE_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  CudaQueue(const CudaQueue&) = delete;
  ~CudaQueue() override {
    with_cuda_device(device_id_, [this] {
      STRIPE_CUDA_WARN(cudaStreamSynchronize(stream_));
      STRIPE_CUDA_WARN(cudaStreamDestroy(stream_));
    });
  }

  void copy(const CopyJob& job) override {
    throw_if_cuda_failed();
    const CudaContextScope scope(device_id_);
    const cudaMemcpyKind kind = kind_of(job.direction);
    if (is_contiguous(job)) {
      STRIPE_CUDA_CHECK(cudaMemcpyAsync(job.to, job.from, job.row_bytes * job.rows, kind, stream_));
      return;
    }
    STRIPE_CUDA_CHECK(cudaMemcpy2DAsync(job.to, static_cast<std::size_t>(job.to_pitch_bytes),
                                        job.from, static_cast<std::size_t>(job.from_pitch_bytes),
                                        job.row_bytes, job.rows, kind, stream_));
  }

  void launch(const Operation& operation, const KernelJob& job) override {
    throw_if_cuda_failed();
    const CudaContextScope scope(device_id_);
    launch_cuda_kernels(operation, job, stream_);
  }

  void record(Event& event) override {
    throw_if_cuda_failed();
    const CudaContextScope scope(device_id_);
    STRIPE_CUDA_CHECK(cudaEventRecord(static_cast<CudaEvent&>(event).get(), stream_));
  }

  void stamp(Stamp& stamp) override {
    throw_if_cuda_failed();
    const CudaContextScope scope(device_id_);
    launch_cuda_mark(stream_);
    STRIPE_CUDA_CHECK(cudaEventRecord(static_cast<CudaStamp&>(stamp).get(), stream_));
  }

  void synchronize() override {
    const CudaContextScope scope(device_id_);
    STRIPE_CUDA_CHECK(cudaStreamSynchronize(stream_));
  }

 private:
  const int device_id_;
  cudaStream_t stream_ = nullptr;
};

class CudaPageLock final : public PageLock {
 public:
  CudaPageLock(int device_id, const std::byte* data, std::size_t size_bytes, bool read_only)
      : device_id_(device_id), data_(const_cast<std::byte*>(data)) {
    const CudaContextScope scope(device_id);
    cudaError_t status = cudaHostRegister(data_, size_bytes, cudaHostRegisterPortable);
    // Only where it must be: two kinds of registration can't share a page, and memory that is merely
    // marked read-only may have writable neighbours. Pages that really are have a mapping of their own.
    if (is_refusal(status) && read_only && can_read_only()) {
      cudaGetLastError();
      status =
          cudaHostRegister(data_, size_bytes, cudaHostRegisterPortable | cudaHostRegisterReadOnly);
    }
    if (is_refusal(status)) {
      cudaGetLastError();  // sticks until it is asked for
      throw DeviceError(DeviceErrorKind::refused,
                        std::string("cudaHostRegister: ") + cudaGetErrorString(status));
    }
    STRIPE_CUDA_CHECK(status);
    // Who wrote or staged it before has left it in the caches of CPUs that may sleep from now on.
    evict_from_cpu_caches(data, size_bytes);
  }
  CudaPageLock(const CudaPageLock&) = delete;
  ~CudaPageLock() override { unlock(); }

  bool unlock() noexcept override {
    if (!data_) return true;
    bool done = false;
    with_cuda_device(device_id_, [&] {
      const cudaError_t status = cudaHostUnregister(data_);
      done = status == cudaSuccess;
      warn_cuda(status, "cudaHostUnregister");
    });
    data_ = nullptr;
    return done;
  }

 private:
  // What the memory itself is to blame for, and not the device.
  static bool is_refusal(cudaError_t status) {
    return status == cudaErrorInvalidValue || status == cudaErrorNotSupported ||
           status == cudaErrorNotPermitted || status == cudaErrorMemoryAllocation ||
           status == cudaErrorHostMemoryAlreadyRegistered;
  }

  bool can_read_only() const {
    int supported = 0;
    STRIPE_CUDA_CHECK(
        cudaDeviceGetAttribute(&supported, cudaDevAttrHostRegisterReadOnlySupported, device_id_));
    return supported != 0;
  }

  const int device_id_;
  std::byte* data_;  // NULL: unlocked
};

DeviceInfo describe(int id) {
  cudaDeviceProp properties;
  STRIPE_CUDA_CHECK(cudaGetDeviceProperties(&properties, id));
  return {"cuda", properties.name, properties.integrated != 0, properties.asyncEngineCount, id};
}

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int id)
      : id_(id),
        info_(describe(id)),
        tables_(std::make_shared<TablePool>(create_queue(), [id](std::size_t size_bytes) {
          return std::make_unique<CudaMemory>(id, size_bytes);
        })) {
    // Makes the context now, and finds out whether there is code for this architecture.
    Operation copy;
    prepare(copy);
  }

  const DeviceInfo& info() const noexcept override { return info_; }

  std::unique_ptr<DeviceMemory> allocate(std::size_t size_bytes) override {
    return std::make_unique<CudaMemory>(id_, size_bytes);
  }
  std::unique_ptr<Queue> create_queue() override { return std::make_unique<CudaQueue>(id_); }
  std::unique_ptr<Event> create_event() override { return std::make_unique<CudaEvent>(id_); }
  std::unique_ptr<Stamp> create_stamp() override { return std::make_unique<CudaStamp>(id_); }
  std::unique_ptr<DeviceClock> create_clock() override { return create_cuda_clock(id_); }
  PinnedCache& pinned() noexcept override { return pinned_cache(); }
  bool needs_page_lock() const noexcept override { return true; }

  bool is_page_locked(const std::byte* data, std::size_t size_bytes) const noexcept override {
    try {
      const CudaContextScope scope(id_);
      const CudaHostRange range = find_cuda_host_range(data);
      const auto before =
          static_cast<std::size_t>(data - static_cast<const std::byte*>(range.begin));
      return range.size_bytes >= before && range.size_bytes - before >= size_bytes;
    } catch (const DeviceError&) {
      return false;
    }
  }

  std::unique_ptr<PageLock> page_lock(const std::byte* data, std::size_t size_bytes,
                                      bool read_only) override {
    throw_if_cuda_failed();
    return std::make_unique<CudaPageLock>(id_, data, size_bytes, read_only);
  }

  std::byte* mapped_address(const std::byte* host) const noexcept override {
    try {
      const CudaContextScope scope(id_);
      // Not cudaHostGetDevicePointer: with whoever watches the driver its refusal counts as an error.
      return static_cast<std::byte*>(find_cuda_device_address(host));
    } catch (const DeviceError&) {
    }
    return nullptr;
  }

  void prepare(Operation& operation) override {
    throw_if_cuda_failed();
    const CudaContextScope scope(id_);
    load_cuda_kernels(operation);
    ColorTables& tables = operation.tables;
    copy_table(tables.gamma);
    copy_table(tables.curves);
    copy_table(tables.cube);
  }

 private:
  template <typename Entry>
  void copy_table(SharedTable<Entry>& table) {
    if (!table.entries || tables_->owns(table.on_device.get())) return;
    table.on_device = tables_->copy(table.data(), table.entries->size() * sizeof(Entry));
  }

  const int id_;
  const DeviceInfo info_;
  const std::shared_ptr<TablePool> tables_;
};

}  // namespace

std::shared_ptr<Device> open_cuda_device(int id) {
  throw_if_cuda_failed();
  auto device = std::make_shared<CudaDevice>(id);
  note_opened_cuda_device(id);
  return device;
}

}  // namespace stripe
