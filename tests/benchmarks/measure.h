// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// How the benchmarks measure, and the limit of the link: a frame up and a frame down at the same time from
// page-locked memory, sustained. Every figure is told as a ratio to the limit of the same run.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cuda/device.h"
#include "sizes.h"

namespace benchmark {

// Time and CPU time of a frame, over so many of them.
struct Sample {
  double us;
  double cpu_us;
  int frames;
};

// Runs from where it is made. The CPU time is that of all threads of the process.
class Stopwatch {
 public:
  Stopwatch();
  Sample a_frame(int frames) const;

 private:
  const std::chrono::steady_clock::time_point begin_;
  const double cpu_begin_us_;
};

// Samples of several rounds, a frame: the median, the lowest and the highest time, the median of the CPU time.
struct Figure {
  double median_us;
  double low_us;
  double high_us;
  double cpu_us;
  int frames;           // of the last round
  std::string failure;  // of a peer: why there are no figures; else empty
};

// One of those that are compared.
struct Contestant {
  std::string config;
  std::function<Sample()> run;
  bool is_peer = false;  // somebody else's work: what it throws is its failure, and ends nothing
};

// Figures of the contestants, in their order. Each round lets all of them run in turn, so that what drifts (clocks,
// temperature, neighbours) hits all alike. The first is the one that the others are told against: it runs at the
// end of each round, too, and its figure is that of both. A round before them warms up and doesn't count. A peer that
// has failed is not run again.
std::vector<Figure> measure_in_turn(const std::vector<Contestant>& contestants, int rounds);

// Of values, of which there is at least one.
double median(std::vector<double> values);

// Summarizes samples, of which there is at least one.
Figure summarize(const std::vector<Sample>& samples);

// How many frames a round of a contestant has: at most so many, and of what is slow as many as a round's time allows,
// as the runs before have shown. The first run has few; a round that had far fewer than fit is run again.
class Pace {
 public:
  explicit Pace(int most_frames) : most_frames_(most_frames) {}
  Sample run(const std::function<Sample(int frames)>& run_frames);

 private:
  int frames() const;

  const int most_frames_;
  double us_ = 0;  // a frame; 0: not known
};

// As many frames as take about as long as `frames_1080p` of 1920 x 1080 pixels do, and not too few.
int scale_frames(const Size& size, int frames_1080p);

// Frames up and frames down at the same time, each way on a queue of its own.
class DuplexLimit {
 public:
  DuplexLimit(stripe::Device& device, const Size& size);
  Sample run(int frames);

 private:
  const std::size_t size_bytes_;
  const stripe::PinnedBlock up_, down_;
  const std::unique_ptr<stripe::DeviceMemory> up_memory_, down_memory_;
  const std::unique_ptr<stripe::Queue> up_queue_, down_queue_;
};

}  // namespace benchmark
