// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sweep.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "cuda/frame_layout.h"
#include "engine_run.h"

namespace benchmark {

namespace {

using stripe::Transfer;

constexpr int stripe_counts[] = {1, 2, 3, 4, 6, 8, 12, 16};
constexpr int depths[] = {1, 2, 3};
constexpr int most_frames_in_flight = 3;

std::vector<Way> swept_ways() {
  std::vector<Way> ways;
  for (const int depth : depths) {
    for (const int stripes : stripe_counts) ways.push_back({depth, stripes, Transfer::copy});
    ways.push_back({depth, 1, Transfer::mapped});
  }
  return ways;
}

// Frames up, with nothing beside them. Waiting is no part of the model.
class OneWay {
 public:
  OneWay(stripe::Device& device, const Size& size)
      : size_bytes_(stripe::make_frame_layout(size.layout, size.width, size.height).size_bytes),
        block_(device.allocate_pinned(size_bytes_)),
        memory_(device.allocate(size_bytes_)),
        queue_(device.create_queue()) {
    std::memset(block_.data(), 0x5a, size_bytes_);
  }

  Sample run(int frames) {
    const auto pitch = static_cast<std::ptrdiff_t>(size_bytes_);
    const Stopwatch watch;
    for (int i = 0; i < frames; ++i)
      queue_->copy({memory_->data(), pitch, block_.data(), pitch, size_bytes_, 1,
                    stripe::CopyDirection::upload});
    queue_->synchronize();
    return watch.a_frame(frames);
  }

 private:
  const std::size_t size_bytes_;
  const stripe::PinnedBlock block_;
  const std::unique_ptr<stripe::DeviceMemory> memory_;
  const std::unique_ptr<stripe::Queue> queue_;
};

// What a further stripe costs where there is next to nothing to copy.
double measure_issue(const std::shared_ptr<stripe::Device>& device, int frames, int rounds) {
  constexpr int many = 16;
  const Size tiny = {"tiny", "RGBA", rgba, 16, many};
  Pictures pictures(*device, tiny, stripe::Effect::invert, 1, true);
  EngineRun one(device, tiny, {1, 1, Transfer::copy}, "one stripe", pictures);
  EngineRun all(device, tiny, {1, many, Transfer::copy}, "many stripes", pictures);
  const std::vector<Figure> figures =
      measure_in_turn({{"one stripe", [&] { return one.run(frames); }},
                       {"many stripes", [&] { return all.run(frames); }}},
                      rounds);
  return (figures[1].median_us - figures[0].median_us) / (many - 1);
}

std::vector<Row> sweep_size(const std::shared_ptr<stripe::Device>& device, const Size& size,
                            int frames, int rounds, double& one_way_us) {
  DuplexLimit limit(*device, size);
  OneWay one_way(*device, size);
  Pictures pictures(*device, size, stripe::Effect::invert, most_frames_in_flight, true);
  std::vector<Contestant> contestants = {{limit_config, [&] { return limit.run(frames); }},
                                         {"one way", [&] { return one_way.run(frames); }}};
  for (const Way& way : swept_ways()) {
    const auto run = std::make_shared<EngineRun>(device, size, way, config_of(way), pictures);
    contestants.push_back({config_of(way), [run, frames] { return run->run(frames); }});
  }
  std::vector<Row> rows = make_rows(size.name, contestants, measure_in_turn(contestants, rounds));
  one_way_us = rows[1].figure.median_us;
  rows.erase(rows.begin() + 1);
  return rows;
}

}  // namespace

void measure_sweep(Context& context) {
  Report& report = context.report;
  // Three times the configurations of the usual part, so fewer frames of each.
  const int frames_1080p = std::max(2, report.frames / 2);
  const double issue_us = measure_issue(context.device, frames_1080p, report.rounds);
  for (const Size& size : swept_sizes) {
    if (!context.wants(size)) continue;
    double one_way_us = 0;
    const std::vector<Row> rows = sweep_size(context.device, size, scale_frames(size, frames_1080p),
                                             report.rounds, one_way_us);
    print_rows(rows);
    report.rows.insert(report.rows.end(), rows.begin(), rows.end());
    report.models.push_back({size.name, one_way_us, issue_us});
  }
  print_models(report.models);
}

}  // namespace benchmark
