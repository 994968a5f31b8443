// SPDX-License-Identifier: LGPL-2.1-or-later
#include "staging.h"

#include <cstddef>
#include <deque>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cuda/host_clock.h"
#include "cuda/overlap.h"
#include "measure.h"
#include "sizes.h"
#include "staged_run.h"

namespace benchmark {

namespace {

constexpr const char* memcpy_config = "memcpy, one thread";
constexpr StagedWay ways[] = {{1, 1}, {1, 3}, {3, 1}, {3, 3}, {3, 6}};

using stripe::FrameTimes;

std::vector<Row> compare(stripe::Device& device, const Size& size, StagedMemory& memory,
                         std::deque<StagedRun>& runs, int frames, int rounds) {
  DuplexLimit limit(device, size);
  std::vector<Contestant> contestants = {{limit_config, [&] { return limit.run(frames); }},
                                         {memcpy_config, [&] { return memory.copy(frames); }}};
  for (std::size_t i = 0; i < runs.size(); ++i)
    contestants.push_back({config_of(ways[i]), [&, i] { return runs[i].run(frames); }});
  return make_rows(std::string(size.name) + ", staged", contestants,
                   measure_in_turn(contestants, rounds));
}

template <typename TimeOf>
double median_us(const std::vector<FrameTimes>& frames, TimeOf time_of) {
  std::vector<double> times;
  for (const FrameTimes& frame : frames) times.push_back(stripe::microseconds(time_of(frame)));
  return median(std::move(times));
}

stripe::Time length_within(const FrameTimes& frame, const std::vector<stripe::Span>& spans) {
  return stripe::union_length(spans, {frame.submit.begin, frame.wait.end});
}

template <stripe::Span stripe::StripeTimes::*Part>
stripe::Time time_at(const FrameTimes& frame) {
  std::vector<stripe::Span> spans;
  for (const stripe::StripeTimes& stripe : frame.stripes) spans.push_back(stripe.*Part);
  return length_within(frame, spans);
}

stripe::Time time_in(const FrameTimes& frame) { return length_within(frame, frame.staging_in); }
stripe::Time time_out(const FrameTimes& frame) { return length_within(frame, frame.staging_out); }

StagedRow take_apart(const Size& size, const StagedWay& way, StagedRun& run, int frames) {
  using stripe::StripeTimes;
  const std::vector<FrameTimes> times = run.run_timed(frames);
  const auto wait = [](const FrameTimes& frame) { return frame.wait.length() - time_out(frame); };
  return {size.name,
          config_of(way),
          median_us(times, time_in),
          median_us(times, time_at<&StripeTimes::upload>),
          median_us(times, time_at<&StripeTimes::kernel>),
          median_us(times, time_at<&StripeTimes::download>),
          median_us(times, wait),
          median_us(times, time_out)};
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

void measure_size(Context& context, const Size& size) {
  Report& report = context.report;
  const int frames = scale_frames(size, report.frames);
  StagedMemory memory(size);
  std::deque<StagedRun> runs;
  for (const StagedWay& way : ways) runs.emplace_back(context.device, size, way, memory);
  const std::vector<Row> rows = compare(*context.device, size, memory, runs, frames, report.rounds);
  print_rows(rows);
  report.rows.insert(report.rows.end(), rows.begin(), rows.end());
  report.verdicts.push_back(verdict_of(size, rows));
  for (std::size_t i = 0; i < runs.size(); ++i)
    report.staged.push_back(take_apart(size, ways[i], runs[i], frames));
}

}  // namespace

void measure_staging(Context& context) {
  for (const Size& size : sizes)
    if (context.wants(size) && std::string(size.format) == "RGBA") measure_size(context, size);
  if (!context.report.staged.empty()) print_staged(context.report.staged);
}

}  // namespace benchmark
