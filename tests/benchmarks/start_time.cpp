// SPDX-License-Identifier: LGPL-2.1-or-later
#include "start_time.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <stdexcept>

#include "child.h"
#include "measure.h"
#include "peers.h"
#include "pipeline.h"

namespace benchmark {

namespace {

constexpr const char* picture_name = "1080p RGBA";
constexpr const char* element_config = "cudastripetransform";

struct Starter {
  std::string config;
  std::string elements;
  std::vector<double> times_ms{};
  std::string failure{};
};

void start_once(Starter& starter) {
  if (!starter.failure.empty()) return;
  const ChildResult result = run_child(
      "start", {pipeline_text({{"RGBA", 1920, 1080}, Source::still, starter.elements}, 3)});
  if (result.failure.empty())
    starter.times_ms.push_back(std::strtod(result.output.c_str(), nullptr));
  else
    starter.failure = result.failure;
}

// The first of them, the identity, is what all pipelines take.
std::vector<StartRow> make_start_rows(const std::vector<Starter>& starters) {
  std::vector<StartRow> rows;
  for (const Starter& starter : starters) {
    if (starter.times_ms.empty()) continue;
    const auto [low, high] = std::minmax_element(starter.times_ms.begin(), starter.times_ms.end());
    const double of_all = median(starters[0].times_ms);
    rows.push_back(
        {starter.config, median(starter.times_ms), *low, *high, median(starter.times_ms) - of_all});
  }
  return rows;
}

double own_ms(const std::vector<StartRow>& rows, const std::string& config) {
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const StartRow& each) { return each.config == config; });
  return row == rows.end() ? NAN : row->own_ms;
}

void judge_starts(Report& report) {
  const double own = own_ms(report.starts, element_config);
  const double of_nvcodec = own / own_ms(report.starts, nvcodec_config);
  report.verdicts.push_back({picture_name, "start to first frame, own share: at most 400 ms", NAN,
                             element_config, own, judge(own, Bound::at_most, 400)});
  report.verdicts.push_back(
      {picture_name, "start to first frame, own share: at most 0.33 of nvcodec's", NAN,
       element_config, of_nvcodec, judge(of_nvcodec, Bound::at_most, 1.0 / 3)});
}

}  // namespace

void measure_start(Context& context) {
  Report& report = context.report;
  std::vector<Starter> starters = {
      {"identity", "identity"},
      {element_config, std::string(element_config) + " effect=invert"},
  };
  std::vector<Absence> absences;
  const std::string missing = why_missing("cudaupload", "nvcodec");
  if (missing.empty())
    starters.push_back({nvcodec_config, nvcodec_elements});
  else
    absences.push_back({"first frame", nvcodec_config, "missing", missing});
  for (int round = 0; round < report.rounds; ++round)
    for (Starter& starter : starters) start_once(starter);
  for (const Starter& starter : starters) {
    if (starter.failure.empty()) continue;
    if (starter.config != nvcodec_config)
      throw std::runtime_error(starter.config + ": " + starter.failure);
    absences.push_back({"first frame", starter.config, "failed", starter.failure});
  }
  report.starts = make_start_rows(starters);
  print_starts(report.starts);
  print_absences(absences);
  report.absences.insert(report.absences.end(), absences.begin(), absences.end());
  judge_starts(report);
}

void start_as_child(const std::vector<std::string>& arguments) {
  gst_init(nullptr, nullptr);
  std::promise<void> first;
  bool seen = false;
  const auto begin = std::chrono::steady_clock::now();
  const ElementRef pipeline = make_pipeline(arguments.at(0));
  const SinkProbe probe(pipeline.get(), [&] {
    if (!seen) first.set_value();
    seen = true;
  });
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const std::future<void> frame = first.get_future();
  while (frame.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready)
    throw_if_failed(pipeline.get());
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  std::printf("%.3f\n", time.count());
}

}  // namespace benchmark
