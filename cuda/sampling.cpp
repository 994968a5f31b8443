// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace stripe {

namespace {

constexpr Span always = {std::numeric_limits<Time>::min(), std::numeric_limits<Time>::max()};

double busy(const FrameTimes& frame, Span StripeTimes::*kind) {
  std::vector<Span> spans;
  for (const StripeTimes& stripe : frame.stripes) spans.push_back(stripe.*kind);
  return microseconds(union_length(std::move(spans), always));
}

}  // namespace

void SlidingWindow::add(double value) {
  if (values_.size() < capacity) {
    values_.push_back(value);
    next_ = 0;
    return;
  }
  values_[next_] = value;
  next_ = (next_ + 1) % capacity;
}

Summary SlidingWindow::summary() const {
  if (values_.empty()) return {};
  std::vector<double> sorted = values_;
  std::sort(sorted.begin(), sorted.end());
  const auto rank = [&](double share) {
    const auto n = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return sorted[std::max<std::size_t>(n, 1) - 1];
  };
  const double sum = std::accumulate(sorted.begin(), sorted.end(), 0.0);
  return {sum / static_cast<double>(sorted.size()), rank(0.5), rank(0.99)};
}

Sampling::Sampling(int depth, unsigned interval)
    : length_(static_cast<std::uint64_t>(depth) + 2),
      interval_(interval),
      first_(static_cast<std::uint64_t>(warm_up_frames(depth))) {}

// Samples that would begin within one another follow each other.
std::uint64_t Sampling::place_in_sample(std::uint64_t number) const noexcept {
  return (number - first_) % std::max(interval_, length_);
}

bool Sampling::wants(std::uint64_t number) const noexcept {
  return interval_ != 0 && number >= first_ && place_in_sample(number) < length_;
}

std::optional<Overlap> Sampling::add(const FrameTimes& times, std::uint64_t number) {
  if (!wants(number)) return std::nullopt;
  const std::lock_guard lock(mutex_);
  submit_.add(microseconds(times.submit.length()));
  upload_.add(busy(times, &StripeTimes::upload));
  kernel_.add(busy(times, &StripeTimes::kernel));
  download_.add(busy(times, &StripeTimes::download));
  wall_.add(microseconds(times.complete - times.submit.begin));
  // Where a frame of the run was dropped, the rest is no run.
  const std::uint64_t place = place_in_sample(number);
  if (place != run_.size()) run_.clear();
  if (place != run_.size()) return std::nullopt;
  run_.push_back(times);
  if (run_.size() < length_) return std::nullopt;
  overlap_ = measure_overlap(run_);
  run_.clear();
  return overlap_;
}

SampledTimes Sampling::times() const {
  const std::lock_guard lock(mutex_);
  return {submit_.summary(),   upload_.summary(), kernel_.summary(),
          download_.summary(), wall_.summary(),   overlap_};
}

void Sampling::reset() {
  const std::lock_guard lock(mutex_);
  run_.clear();
  for (SlidingWindow* window : {&submit_, &upload_, &kernel_, &download_, &wall_}) window->clear();
  overlap_ = {};
}

}  // namespace stripe
