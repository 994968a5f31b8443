// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/cuda_clock.h"

#include <cmath>
#include <limits>
#include <utility>

#include "cuda/cuda_context.h"
#include "cuda/cuda_error.h"
#include "cuda/cuda_kernels.h"

namespace stripe {

namespace {

// Nanoseconds.
constexpr int most_attempts = 3;
constexpr Time good_enough = 12'000;
constexpr Time young = 100'000'000;       // the clocks drift apart by less than a microsecond
constexpr Time too_old = 10'000'000'000;  // where a float of milliseconds becomes coarse

class CudaClock final : public DeviceClock {
 public:
  explicit CudaClock(int device_id)
      : device_id_(device_id),
        anchor_(std::make_unique<CudaStamp>(device_id)),
        other_(std::make_unique<CudaStamp>(device_id)) {
    const CudaContextScope scope(device_id);
    load_cuda_mark();  // before there is a stream that nobody would destroy if this threw
    STRIPE_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  CudaClock(const CudaClock&) = delete;
  ~CudaClock() override {
    with_cuda_device(device_id_, [this] { STRIPE_CUDA_WARN(cudaStreamDestroy(stream_)); });
  }

  // An event on an idle stream is passed between two readings of the host's clock; of several the
  // closest two are taken. A device that has no time for that keeps its anchor for a while.
  void anchor() override {
    throw_if_cuda_failed();
    if (now() - anchored_ < young) return;
    const CudaContextScope scope(device_id_);
    Time closest = now() - anchored_ < too_old ? good_enough + 1 : std::numeric_limits<Time>::max();
    for (int i = 0; i < most_attempts && closest > good_enough; ++i) {
      const Passage passed = pass(*other_);
      if (passed.length() >= closest) continue;
      closest = passed.length();
      anchored_ = passed.begin + passed.length() / 2;
      adjustment_ = 0;
      std::swap(anchor_, other_);
    }
  }

  Time time_of(const Stamp& stamp) override {
    const CudaContextScope scope(device_id_);
    float before_ms = 0;
    STRIPE_CUDA_CHECK(cudaEventElapsedTime(&before_ms, static_cast<const CudaStamp&>(stamp).get(),
                                           anchor_->get()));
    return anchored_ + adjustment_ - std::llround(double{before_ms} * 1e6);
  }

  void adjust(Time by) noexcept override { adjustment_ += by; }

 private:
  struct Passage {
    Time begin, end;
    Time length() const { return end - begin; }
  };

  Passage pass(CudaStamp& stamp) {
    const Time begin = now();
    launch_cuda_mark(stream_);
    STRIPE_CUDA_CHECK(cudaEventRecord(stamp.get(), stream_));
    cudaError_t status = cudaErrorNotReady;
    while (status == cudaErrorNotReady) status = cudaEventQuery(stamp.get());
    STRIPE_CUDA_CHECK(status);
    return {begin, now()};
  }

  const int device_id_;
  std::unique_ptr<CudaStamp> anchor_, other_;
  cudaStream_t stream_ = nullptr;
  Time anchored_ = 0;
  Time adjustment_ = 0;
};

}  // namespace

CudaStamp::CudaStamp(int device_id) : device_id_(device_id) {
  throw_if_cuda_failed();
  const CudaContextScope scope(device_id);
  STRIPE_CUDA_CHECK(cudaEventCreate(&event_));
}

CudaStamp::~CudaStamp() {
  with_cuda_device(device_id_, [this] { STRIPE_CUDA_WARN(cudaEventDestroy(event_)); });
}

std::unique_ptr<DeviceClock> create_cuda_clock(int device_id) {
  return std::make_unique<CudaClock>(device_id);
}

}  // namespace stripe
