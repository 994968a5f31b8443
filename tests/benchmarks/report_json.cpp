// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "json.h"
#include "report.h"

namespace benchmark {

namespace {

constexpr int us_decimals = 2;
constexpr int ratio_decimals = 4;

void write_figure(JsonWriter& json, const Figure& figure) {
  json.number("median_us", figure.median_us, us_decimals);
  json.number("low_us", figure.low_us, us_decimals);
  json.number("high_us", figure.high_us, us_decimals);
  json.number("cpu_us", figure.cpu_us, us_decimals);
}

void write_machine(JsonWriter& json, const Machine& machine) {
  const auto known = [&](const char* key, const std::string& value) {
    if (!value.empty()) json.text(key, value);
  };
  json.begin_object("machine");
  known("backend", machine.backend);
  known("device", machine.device);
  known("driver", machine.driver);
  known("cuda_driver", machine.cuda_driver);
  known("cuda_runtime", machine.cuda_runtime);
  known("cpu", machine.cpu);
  json.number("cpus", machine.cpus);
  known("os", machine.os);
  known("kernel", machine.kernel);
  known("gstreamer", machine.gstreamer);
  json.end_object();
}

void write_row(JsonWriter& json, const Row& row) {
  json.begin_object();
  json.text("size", row.size);
  json.text("config", row.config);
  json.number("frames", row.figure.frames);
  write_figure(json, row.figure);
  json.number("ratio", row.ratio(), ratio_decimals);
  json.number("share", row.share(), ratio_decimals);
  json.end_object();
}

void write_kernel(JsonWriter& json, const KernelRow& row) {
  json.begin_object();
  json.text("size", row.size);
  json.text("config", row.config);
  write_figure(json, row.figure);
  json.number("gb_per_s", row.gigabytes_per_second(), 1);
  json.end_object();
}

void write_staged(JsonWriter& json, const StagedRow& row) {
  json.begin_object();
  json.text("size", row.size);
  json.text("config", row.config);
  json.number("in_us", row.in_us, us_decimals);
  json.number("upload_us", row.upload_us, us_decimals);
  json.number("kernel_us", row.kernel_us, us_decimals);
  json.number("download_us", row.download_us, us_decimals);
  json.number("wait_us", row.wait_us, us_decimals);
  json.number("out_us", row.out_us, us_decimals);
  json.end_object();
}

void write_overlap(JsonWriter& json, const OverlapRow& row) {
  json.begin_object();
  json.text("size", row.size);
  json.text("config", row.config);
  json.number("overlap", row.overlap, ratio_decimals);
  json.number("ceiling", row.ceiling, ratio_decimals);
  json.number("link_share", row.link_share, ratio_decimals);
  json.number("stripes", row.stripes);
  json.number("streams", row.streams);
  json.text("transfer", row.transfer);
  json.end_object();
}

void write_absence(JsonWriter& json, const Absence& absence) {
  json.begin_object();
  json.text("size", absence.size);
  json.text("config", absence.config);
  json.text("state", absence.state);
  json.text("reason", absence.reason);
  json.end_object();
}

void write_start(JsonWriter& json, const StartRow& row) {
  json.begin_object();
  json.text("config", row.config);
  json.number("median_ms", row.median_ms, us_decimals);
  json.number("low_ms", row.low_ms, us_decimals);
  json.number("high_ms", row.high_ms, us_decimals);
  json.number("own_ms", row.own_ms, us_decimals);
  json.end_object();
}

void write_model(JsonWriter& json, const Model& model) {
  json.begin_object();
  json.text("size", model.size);
  json.number("one_way_us", model.one_way_us, us_decimals);
  json.number("issue_us", model.issue_us, us_decimals);
  json.end_object();
}

void write_verdict(JsonWriter& json, const Verdict& verdict) {
  json.begin_object();
  json.text("size", verdict.size);
  json.text("target", verdict.target);
  json.number("share", verdict.share, ratio_decimals);
  json.text("config", verdict.config);
  json.number("measured", verdict.measured, ratio_decimals);
  json.text("verdict", verdict.verdict);
  json.end_object();
}

template <typename Rows, typename Write>
void write_list(JsonWriter& json, const char* key, const Rows& rows, Write write) {
  if (rows.empty()) return;
  json.begin_array(key);
  for (const auto& row : rows) write(json, row);
  json.end_array();
}

// The schema, of which tests/benchmarks/chart.py is the reader. Times are of one frame, in microseconds; "cpu_us" is
// CPU time of the whole process; low and high are the lowest and the highest of the rounds.
//
//   program   engine or pipelines
//   command   as it was run
//   date      UTC, ISO 8601
//   machine   object of strings, and "cpus", a number; what isn't known is left out
//   rounds    how often each configuration was measured
//   frames    a round, of 1920 x 1080 pixels
//   rows      for each size first "limit", then the other configurations, in the element's properties:
//             size, config, frames (a round), median_us, low_us, high_us, cpu_us,
//             ratio (median_us / the limit's), share (its inverse)
//   peers     pipelines: what others do in the same place, as rows
//   absent    pipelines: peers that have no row: size, config, state (missing, failed), reason
//   kernels   engine: kernels on device memory: size, config, median_us, low_us, high_us, cpu_us,
//             gb_per_s (read and written, 10^9 bytes)
//   staged    engine: where the time of a staged frame goes: size, config, in_us (copied to page-locked memory by the
//             CPU), upload_us, kernel_us, download_us, wait_us (a thread for the device), out_us (copied by the CPU)
//   overlaps  pipelines: what the element's stats said after the last round: size, config, overlap, ceiling, link_share,
//             and what it used: stripes (a frame), streams, transfer (copy, mapped)
//   starts    pipelines: to the first frame in milliseconds: config, median_ms, low_ms, high_ms, own_ms (more than
//             with an identity in the same place)
//   on_cpu    pipelines: on the host backend and on so many CPUs, as rows; "ratio" and "share" are told against the
//             first of each size
//   models    engine: what the time of a single frame should be of, in microseconds: size, one_way_us,
//             issue_us (a stripe)
//   targets   size, target (in words), share (of the limit that is asked for, null where that isn't what the
//             target is about), config (the best), measured (null where it was not), verdict (met, missed,
//             not measured, reported)
void write_members(JsonWriter& json, const Report& report) {
  json.text("program", report.program);
  json.text("command", report.command);
  json.text("date", report.date);
  write_machine(json, report.machine);
  json.number("rounds", report.rounds);
  json.number("frames", report.frames);
  write_list(json, "rows", report.rows, write_row);
  write_list(json, "peers", report.peers, write_row);
  write_list(json, "absent", report.absences, write_absence);
  write_list(json, "kernels", report.kernels, write_kernel);
  write_list(json, "staged", report.staged, write_staged);
  write_list(json, "overlaps", report.overlaps, write_overlap);
  write_list(json, "starts", report.starts, write_start);
  write_list(json, "on_cpu", report.on_cpu, write_row);
  write_list(json, "models", report.models, write_model);
  write_list(json, "targets", report.verdicts, write_verdict);
}

std::runtime_error file_error(const std::string& path) {
  return std::runtime_error(path + ": " + std::strerror(errno));
}

}  // namespace

void check_writable(const std::string& path) {
  FILE* const file = std::fopen(path.c_str(), "a");
  if (!file) throw file_error(path);
  std::fclose(file);
}

void write_json(const Report& report, const std::string& path) {
  FILE* const file = std::fopen(path.c_str(), "w");
  if (!file) throw file_error(path);
  JsonWriter json(file);
  json.begin_object();
  write_members(json, report);
  json.end_object();
  const bool written = std::ferror(file) == 0;
  if (std::fclose(file) != 0 || !written) throw file_error(path);
}

}  // namespace benchmark
