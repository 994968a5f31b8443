// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "cuda/frame_times.h"
#include "cuda/overlap.h"

namespace stripe {

/// Mean and percentiles of the last values, in the values' unit; 0 where there are none.
struct Summary {
  double mean = 0;
  double p50 = 0;
  double p99 = 0;
};

/// The last 512 values.
class SlidingWindow {
 public:
  static constexpr std::size_t capacity = 512;

  void add(double value);
  void clear() noexcept { values_.clear(); }

  /// Percentiles by nearest rank.
  Summary summary() const;

 private:
  std::vector<double> values_;
  std::size_t next_ = 0;
};

/// What the sampled frames of late took.
///
/// Units:   microseconds a frame. upload, kernel and download: in which the frame had at least one
///          of that kind running; wall: from the begin of submit until the output was complete.
struct SampledTimes {
  Summary submit, upload, kernel, download, wall;
  Overlap overlap;  ///< of the last whole sample
};

/// Chooses the frames to time, and keeps what they took. A sample is a run of depth + 2 consecutive
/// frames, begun every `interval` frames; the first one begins when the first frames, which are
/// slowed by allocations and registrations, are through.
///
/// Thread:  wants from the submitting thread; add from the waiting one; times from any.
class Sampling {
 public:
  /// `interval` 0: no frame is sampled.
  Sampling(int depth, unsigned interval);

  /// How many frames count as warming up.
  static int warm_up_frames(int depth) noexcept { return 2 * depth + 2; }

  /// Whether frame `number`, counted from 0 since the start or the last reset, is sampled.
  bool wants(std::uint64_t number) const noexcept;

  /// Takes the times of a sampled frame, in order; others are no concern of it. Returns the overlap
  /// where the frame completes a sample.
  std::optional<Overlap> add(const FrameTimes& times, std::uint64_t number);

  SampledTimes times() const;

  /// Forgets all: frames of another size follow.
  void reset();

 private:
  std::uint64_t place_in_sample(std::uint64_t number) const noexcept;

  const std::uint64_t length_;
  const std::uint64_t interval_;
  const std::uint64_t first_;

  mutable std::mutex mutex_;  // a leaf; guards all below
  std::vector<FrameTimes> run_;
  SlidingWindow submit_, upload_, kernel_, download_, wall_;
  Overlap overlap_;
};

}  // namespace stripe
