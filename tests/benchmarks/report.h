// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What a benchmark has found out: printed as it comes, and written as JSON at the end.

#include <string>
#include <vector>

#include "machine.h"
#include "measure.h"

namespace benchmark {

// A configuration is told in the element's properties, such as "async-depth=3 stripe-count=1".
struct Row {
  std::string size;
  std::string config;
  int frames;  // a round
  Figure figure;
  double limit_us;

  double ratio() const { return figure.median_us / limit_us; }  // of times
  double share() const { return limit_us / figure.median_us; }
};

inline constexpr const char* limit_config = "limit";

// Kernels on frames in device memory.
struct KernelRow {
  std::string size;
  std::string config;
  Figure figure;
  double bytes;  // read and written

  double gigabytes_per_second() const { return 1e-3 * bytes / figure.median_us; }
};

// What an element's `stats` said of a run.
struct OverlapRow {
  std::string size;
  std::string config;
  double overlap;
  double ceiling;
  double link_share;
};

// A target for a size, and the configuration that comes nearest.
struct Verdict {
  std::string size;
  std::string target;  // in words
  double share;        // of the limit that it asks for; NaN: it is about something else
  std::string config;
  double measured;
  std::string verdict;  // met, missed, or reported where the target holds for other sizes only
};

struct Report {
  std::string program;
  std::string command;
  std::string date;  // UTC, ISO 8601
  Machine machine;
  int rounds;
  int frames;  // a round, of 1920 x 1080 pixels; larger pictures have fewer
  std::vector<Row> rows;
  std::vector<KernelRow> kernels;
  std::vector<OverlapRow> overlaps;
  std::vector<Verdict> verdicts;
};

// Makes rows of figures, of which the first is the limit's, and prints them.
std::vector<Row> make_rows(const Size& size, const std::vector<Contestant>& contestants,
                           const std::vector<Figure>& figures, int frames);
void print_rows(const std::vector<Row>& rows);
void print_kernels(const std::vector<KernelRow>& rows);
void print_overlaps(const std::vector<OverlapRow>& rows);
void print_verdicts(const Report& report);

// Both throw std::runtime_error where the file can't be written; the first finds out before minutes are spent.
void check_writable(const std::string& path);
void write_json(const Report& report, const std::string& path);

}  // namespace benchmark
