// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "json.h"

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
  json.end_object();
}

void write_row(JsonWriter& json, const Row& row) {
  json.begin_object();
  json.text("size", row.size);
  json.text("config", row.config);
  json.number("frames", row.frames);
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

void write_overlap(JsonWriter& json, const OverlapRow& row) {
  json.begin_object();
  json.text("size", row.size);
  json.text("config", row.config);
  json.number("overlap", row.overlap, ratio_decimals);
  json.number("ceiling", row.ceiling, ratio_decimals);
  json.number("link_share", row.link_share, ratio_decimals);
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
//   kernels   engine: kernels on device memory: size, config, median_us, low_us, high_us, cpu_us,
//             gb_per_s (read and written, 10^9 bytes)
//   overlaps  pipelines: what the element's stats said after the last round: size, config, overlap, ceiling, link_share
//   targets   size, target (in words), share (of the limit that is asked for, null where that isn't what the
//             target is about), config (the best), measured, verdict (met, missed, reported)
void write_members(JsonWriter& json, const Report& report) {
  json.text("program", report.program);
  json.text("command", report.command);
  json.text("date", report.date);
  write_machine(json, report.machine);
  json.number("rounds", report.rounds);
  json.number("frames", report.frames);
  write_list(json, "rows", report.rows, write_row);
  write_list(json, "kernels", report.kernels, write_kernel);
  write_list(json, "overlaps", report.overlaps, write_overlap);
  write_list(json, "targets", report.verdicts, write_verdict);
}

std::runtime_error file_error(const std::string& path) {
  return std::runtime_error(path + ": " + std::strerror(errno));
}

}  // namespace

std::vector<Row> make_rows(const Size& size, const std::vector<Contestant>& contestants,
                           const std::vector<Figure>& figures, int frames) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < figures.size(); ++i)
    rows.push_back({size.name, contestants[i].config, frames, figures[i], figures[0].median_us});
  return rows;
}

void print_rows(const std::vector<Row>& rows) {
  std::printf("\n%s, rounds of %d frames\n  %-60s %9s  %6s  %6s..%-6s  %5s  %8s\n",
              rows[0].size.c_str(), rows[0].frames, "", "us/frame", "ratio", "low", "high", "share",
              "CPU us");
  for (const Row& row : rows)
    std::printf("  %-60s %9.1f  %6.2f  %6.2f..%-6.2f  %5.2f  %8.1f\n", row.config.c_str(),
                row.figure.median_us, row.ratio(), row.figure.low_us / row.limit_us,
                row.figure.high_us / row.limit_us, row.share(), row.figure.cpu_us);
  std::fflush(stdout);
}

void print_overlaps(const std::vector<OverlapRow>& rows) {
  std::printf("\nOverlap, as stats have it\n  %-60s %7s  %7s  %10s\n", "", "overlap", "ceiling",
              "link share");
  for (const OverlapRow& row : rows)
    std::printf("  %-60s %7.2f  %7.2f  %10.2f\n", (row.size + " " + row.config).c_str(),
                row.overlap, row.ceiling, row.link_share);
}

void print_kernels(const std::vector<KernelRow>& rows) {
  std::printf("\nKernels on device memory\n  %-60s %9s  %9s..%-9s  %s\n", "", "us/frame", "low",
              "high", "GB/s read and written");
  for (const KernelRow& row : rows)
    std::printf("  %-60s %9.1f  %9.1f..%-9.1f  %.0f\n", (row.size + " " + row.config).c_str(),
                row.figure.median_us, row.figure.low_us, row.figure.high_us,
                row.gigabytes_per_second());
}

void print_verdicts(const Report& report) {
  std::printf("\nTargets, for a GPU on PCIe, of the best configuration of each size and depth%s\n",
              report.machine.backend == "cuda" ? "" : "; on CPU threads they say nothing");
  for (const Verdict& verdict : report.verdicts)
    std::printf("  %-10s  %s: %.2f with %s: %s\n", verdict.size.c_str(), verdict.target.c_str(),
                verdict.measured, verdict.config.c_str(), verdict.verdict.c_str());
}

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
