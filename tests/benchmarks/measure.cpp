// SPDX-License-Identifier: LGPL-2.1-or-later
#include "measure.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>

#include "cuda/frame_layout.h"

namespace benchmark {

namespace {

double cpu_us_now() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e6 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_nsec);
}

// What a contestant has done so far.
struct Turns {
  std::vector<Sample> samples;
  std::string failure;
};

void take_turn(const Contestant& contestant, Turns& turns) {
  if (!turns.failure.empty()) return;
  try {
    turns.samples.push_back(contestant.run());
  } catch (const std::exception& error) {
    if (!contestant.is_peer) throw;
    turns.failure = error.what();
    std::printf("  %s failed: %s\n", contestant.config.c_str(), error.what());
  }
}

// Untouched pages would be found out by the first copy.
stripe::PinnedBlock touched_block(stripe::Device& device, std::size_t size_bytes) {
  stripe::PinnedBlock block = device.allocate_pinned(size_bytes);
  std::memset(block.data(), 0x5a, size_bytes);
  return block;
}

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Stopwatch::Stopwatch() : begin_(std::chrono::steady_clock::now()), cpu_begin_us_(cpu_us_now()) {}

Sample Stopwatch::a_frame(int frames) const {
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin_;
  return {time.count() / frames, (cpu_us_now() - cpu_begin_us_) / frames, frames};
}

Figure summarize(const std::vector<Sample>& samples) {
  std::vector<double> times_us, cpu_us;
  for (const Sample& sample : samples) {
    times_us.push_back(sample.us);
    cpu_us.push_back(sample.cpu_us);
  }
  const auto [low, high] = std::minmax_element(times_us.begin(), times_us.end());
  return {median(times_us), *low, *high, median(cpu_us), samples.back().frames, {}};
}

std::vector<Figure> measure_in_turn(const std::vector<Contestant>& contestants, int rounds) {
  std::vector<Turns> turns(contestants.size());
  for (int round = 0; round <= rounds; ++round) {
    if (round == 1)
      for (Turns& warm_up : turns) warm_up.samples.clear();
    for (std::size_t i = 0; i < contestants.size(); ++i) take_turn(contestants[i], turns[i]);
    take_turn(contestants[0], turns[0]);
  }
  std::vector<Figure> figures;
  for (const Turns& of_one : turns)
    figures.push_back(of_one.failure.empty() ? summarize(of_one.samples)
                                             : Figure{NAN, NAN, NAN, NAN, 0, of_one.failure});
  return figures;
}

int Pace::frames() const {
  constexpr int first_frames = 4;
  constexpr double round_us = 200'000;
  const double fitting = us_ > 0 ? round_us / us_ : first_frames;
  return std::max(2, static_cast<int>(std::min<double>(most_frames_, fitting)));
}

Sample Pace::run(const std::function<Sample(int frames)>& run_frames) {
  for (;;) {
    const int planned = frames();
    const Sample sample = run_frames(planned);
    us_ = sample.us;
    if (frames() <= 2 * planned) return sample;
  }
}

int scale_frames(const Size& size, int frames_1080p) {
  constexpr double pixels_1080p = 1920 * 1080;
  const double scale = pixels_1080p / (static_cast<double>(size.width) * size.height);
  return std::max(2, static_cast<int>(frames_1080p * scale));
}

DuplexLimit::DuplexLimit(stripe::Device& device, const Size& size)
    : size_bytes_(stripe::make_frame_layout(size.layout, size.width, size.height).size_bytes),
      up_(touched_block(device, size_bytes_)),
      down_(touched_block(device, size_bytes_)),
      up_memory_(device.allocate(size_bytes_)),
      down_memory_(device.allocate(size_bytes_)),
      up_queue_(device.create_queue()),
      down_queue_(device.create_queue()) {}

Sample DuplexLimit::run(int frames) {
  const auto pitch = static_cast<std::ptrdiff_t>(size_bytes_);
  const Stopwatch watch;
  for (int i = 0; i < frames; ++i) {
    up_queue_->copy({up_memory_->data(), pitch, up_.data(), pitch, size_bytes_, 1,
                     stripe::CopyDirection::upload});
    down_queue_->copy({down_.data(), pitch, down_memory_->data(), pitch, size_bytes_, 1,
                       stripe::CopyDirection::download});
  }
  up_queue_->synchronize();
  down_queue_->synchronize();
  return watch.a_frame(frames);
}

}  // namespace benchmark
