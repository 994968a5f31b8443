// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/doctor/copies.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>

namespace doctor {

namespace {

using stripe::CopyDirection;
using stripe::DeviceError;
using stripe::DeviceErrorKind;

using Clock = std::chrono::steady_clock;

constexpr std::size_t rounds = 5;
constexpr double round_us = 10'000;

double us_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

double median(std::array<double, rounds>& times) {
  std::sort(times.begin(), times.end());
  return times[rounds / 2];
}

// Time a frame of `run`, which takes a number of frames. The first frames warm up, and say how many
// make a round that is long against the clock and against one wait.
template <typename Run>
double time_a_frame(Run run) {
  run(1);
  const auto warm = Clock::now();
  run(1);
  const int frames = std::clamp(static_cast<int>(round_us / std::max(us_since(warm), 1.0)), 1, 64);
  std::array<double, rounds> times{};
  for (double& time : times) {
    const auto begin = Clock::now();
    run(frames);
    time = us_since(begin) / frames;
  }
  return median(times);
}

template <typename Measure>
Timing attempt(Measure measure) {
  try {
    return {measure(), {}};
  } catch (const std::exception& error) {
    return {0, error.what()};
  }
}

// Memory of a frame on the CPU's side, every page of it touched.
class HostMemory {
 public:
  HostMemory(stripe::Device& device, std::size_t size_bytes, bool page_locked) {
    if (page_locked) {
      block_ = device.allocate_pinned(size_bytes);
      // The cache gives plain memory where it can't lock any.
      if (!block_.is_page_locked())
        throw DeviceError(DeviceErrorKind::out_of_pinned_memory, "no page-locked memory was given");
    } else {
      plain_ = std::make_unique<std::byte[]>(size_bytes);
    }
    std::memset(data(), 0x5a, size_bytes);
  }

  std::byte* data() const { return plain_ ? plain_.get() : block_.data(); }

 private:
  stripe::PinnedBlock block_;
  std::unique_ptr<std::byte[]> plain_;
};

// A queue that copies whole frames one way.
class Lane {
 public:
  Lane(stripe::Device& device, std::size_t size_bytes, bool page_locked, CopyDirection direction)
      : size_bytes_(size_bytes),
        direction_(direction),
        host_(device, size_bytes, page_locked),
        memory_(device.allocate(size_bytes)),
        queue_(device.create_queue()) {}

  void start() {
    const bool upload = direction_ == CopyDirection::upload;
    const auto bytes = static_cast<std::ptrdiff_t>(size_bytes_);
    queue_->copy({upload ? memory_->data() : host_.data(), bytes,
                  upload ? host_.data() : memory_->data(), bytes, size_bytes_, 1, direction_});
  }
  void finish() { queue_->synchronize(); }

 private:
  const std::size_t size_bytes_;
  const CopyDirection direction_;
  const HostMemory host_;
  const std::unique_ptr<stripe::DeviceMemory> memory_;
  const std::unique_ptr<stripe::Queue> queue_;  // destroyed first: its work uses the memory
};

CopyTimes time_copies(stripe::Device& device, std::size_t size_bytes, bool page_locked) {
  const auto lane = [&](CopyDirection direction) {
    return Lane(device, size_bytes, page_locked, direction);
  };
  const auto time_one_way = [&](CopyDirection direction) {
    Lane only = lane(direction);
    return time_a_frame([&](int frames) {
      for (int i = 0; i < frames; ++i) only.start();
      only.finish();
    });
  };
  const auto time_both_ways = [&] {
    Lane up = lane(CopyDirection::upload);
    Lane down = lane(CopyDirection::download);
    return time_a_frame([&](int frames) {
      for (int i = 0; i < frames; ++i) {
        up.start();
        down.start();
      }
      up.finish();
      down.finish();
    });
  };
  return {attempt([&] { return time_one_way(CopyDirection::upload); }),
          attempt([&] { return time_one_way(CopyDirection::download); }), attempt(time_both_ways)};
}

// Its own attempt: where nothing can be page-locked, copies may still work.
void time_page_lock(stripe::Device& device, std::size_t size_bytes, FrameTimes& times) {
  std::array<double, rounds> unlocking{};
  times.page_lock = attempt([&] {
    const HostMemory frame(device, size_bytes, false);
    std::array<double, rounds> locking{};
    for (std::size_t i = 0; i < rounds; ++i) {
      auto begin = Clock::now();
      const auto lock = device.page_lock(frame.data(), size_bytes, false);
      locking[i] = us_since(begin);
      begin = Clock::now();
      if (!lock->unlock())
        throw DeviceError(DeviceErrorKind::failed, "the driver did not unlock the memory");
      unlocking[i] = us_since(begin);
    }
    return median(locking);
  });
  times.page_unlock = {median(unlocking), times.page_lock.failure};
}

}  // namespace

FrameTimes time_frame(stripe::Device& device, std::size_t size_bytes) {
  FrameTimes times;
  times.page_locked = time_copies(device, size_bytes, true);
  times.pageable = time_copies(device, size_bytes, false);
  time_page_lock(device, size_bytes, times);
  return times;
}

}  // namespace doctor
