// SPDX-License-Identifier: LGPL-2.1-or-later
#include "staging.h"

#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cuda/engine.h"
#include "measure.h"
#include "sizes.h"

namespace benchmark {

namespace {

constexpr int buffers = 32;
constexpr int depth = 3;
constexpr const char* memcpy_config = "memcpy, one thread";

// No frame of it is in a cache when its turn comes.
class Memory {
 public:
  explicit Memory(const stripe::FrameLayout& layout) : layout_(layout) {
    for (int i = 0; i < buffers; ++i) {
      inputs_.emplace_back(layout.size_bytes, std::byte{1});
      outputs_.emplace_back(layout.size_bytes, std::byte{2});
    }
  }

  stripe::FrameJob job(std::uint64_t frame) {
    return {as_const(view_of(layout_, inputs_[frame % buffers].data())),
            stripe::HostAccess::staged,
            view_of(layout_, outputs_[frame % buffers].data()),
            stripe::HostAccess::staged,
            true,
            true};
  }

  Sample copy(int frames) {
    const Stopwatch watch;
    for (int i = 0; i < frames; ++i)
      std::memcpy(outputs_[static_cast<std::size_t>(i % buffers)].data(),
                  inputs_[static_cast<std::size_t>(i % buffers)].data(), layout_.size_bytes);
    return watch.a_frame(frames);
  }

 private:
  const stripe::FrameLayout layout_;
  std::vector<std::vector<std::byte>> inputs_, outputs_;
};

class StagedRun {
 public:
  StagedRun(const std::shared_ptr<stripe::Device>& device, const Size& size, int stripes,
            Memory& memory)
      : engine_(device, {size.layout, size.width, size.height}, {3, depth, stripe::Transfer::copy}),
        parameters_{stripe::StripeLayout::rows, stripes, {}},
        memory_(memory) {}

  Sample run(int frames) {
    while (submitted_ - waited_ < depth - 1) submit();
    const Stopwatch watch;
    for (int i = 0; i < frames; ++i) {
      submit();
      engine_.wait(waited_++);
    }
    const Sample sample = watch.a_frame(frames);
    while (waited_ < submitted_) engine_.wait(waited_++);
    return sample;
  }

 private:
  void submit() { engine_.submit(memory_.job(submitted_++), parameters_); }

  stripe::Engine engine_;
  const stripe::FrameParameters parameters_;
  Memory& memory_;
  stripe::Ticket submitted_ = 0;
  stripe::Ticket waited_ = 0;
};

std::string config_of(int stripes) {
  return "page-lock=stage async-depth=3 stripe-count=" + std::to_string(stripes);
}

std::vector<Row> compare(const std::shared_ptr<stripe::Device>& device, const Size& size,
                         int frames, int rounds) {
  DuplexLimit limit(*device, size);
  Memory memory(stripe::make_frame_layout(size.layout, size.width, size.height));
  std::vector<Contestant> contestants = {{limit_config, [&] { return limit.run(frames); }},
                                         {memcpy_config, [&] { return memory.copy(frames); }}};
  for (const int stripes : {1, 3, 6}) {
    const auto run = std::make_shared<StagedRun>(device, size, stripes, memory);
    contestants.push_back({config_of(stripes), [run, frames] { return run->run(frames); }});
  }
  return make_rows(std::string(size.name) + ", staged", contestants,
                   measure_in_turn(contestants, rounds));
}

Verdict verdict_of(const Size& size, const std::vector<Row>& rows) {
  constexpr double least = 3;
  const Row* best = nullptr;
  double memcpy_us = 0;
  for (const Row& row : rows) {
    if (row.config == memcpy_config) memcpy_us = row.figure.median_us;
    if (row.config.starts_with("page-lock") &&
        (!best || row.figure.median_us < best->figure.median_us))
      best = &row;
  }
  const double speed_up = memcpy_us / best->figure.median_us;
  const bool enough_cores = std::thread::hardware_concurrency() >= 8;
  return {size.name,
          "staging: at least 3 times one thread's memcpy, on 8 CPUs or more",
          std::numeric_limits<double>::quiet_NaN(),
          best->config,
          speed_up,
          enough_cores ? judge(speed_up, Bound::at_least, least) : "reported"};
}

}  // namespace

void measure_staging(Context& context) {
  for (const Size& size : sizes) {
    if (!context.wants(size) || std::string(size.format) != "RGBA") continue;
    const std::vector<Row> rows = compare(
        context.device, size, scale_frames(size, context.report.frames), context.report.rounds);
    print_rows(rows);
    context.report.rows.insert(context.report.rows.end(), rows.begin(), rows.end());
    context.report.verdicts.push_back(verdict_of(size, rows));
  }
}

}  // namespace benchmark
