// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/cuda_clock.h"

#include <cmath>
#include <limits>
#include <utility>

#include "cuda/cuda_context.h"
#include "cuda/cuda_error.h"

namespace stripe {

namespace {

constexpr int most_attempts = 4;
constexpr Time good_enough = 8000;  // ns

class CudaClock final : public DeviceClock {
 public:
  explicit CudaClock(int device_id)
      : device_id_(device_id),
        anchor_(std::make_unique<CudaStamp>(device_id)),
        other_(std::make_unique<CudaStamp>(device_id)) {
    const CudaContextScope scope(device_id);
    STRIPE_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  CudaClock(const CudaClock&) = delete;
  ~CudaClock() override {
    with_cuda_device(device_id_, [this] { STRIPE_CUDA_WARN(cudaStreamDestroy(stream_)); });
  }

  // An event on an idle stream is passed between two readings of the host's clock; of several the
  // closest two are taken.
  void anchor() override {
    throw_if_cuda_failed();
    const CudaContextScope scope(device_id_);
    Time closest = std::numeric_limits<Time>::max();
    for (int i = 0; i < most_attempts && closest > good_enough; ++i) {
      const Passage passed = pass(*other_);
      if (passed.length() >= closest) continue;
      closest = passed.length();
      anchored_ = passed.begin + passed.length() / 2;
      std::swap(anchor_, other_);
    }
  }

  Time time_of(const Stamp& stamp) override {
    const CudaContextScope scope(device_id_);
    float before_ms = 0;
    STRIPE_CUDA_CHECK(cudaEventElapsedTime(&before_ms, static_cast<const CudaStamp&>(stamp).get(),
                                           anchor_->get()));
    return anchored_ - std::llround(double{before_ms} * 1e6);
  }

 private:
  struct Passage {
    Time begin, end;
    Time length() const { return end - begin; }
  };

  Passage pass(CudaStamp& stamp) {
    const Time begin = now();
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
