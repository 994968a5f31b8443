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
  Figure figure;
  double limit_us;  // of what it is told against

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

// Where the time of a staged frame goes: medians, in microseconds. Of several stripes, when at least one was at it.
struct StagedRow {
  std::string size;
  std::string config;
  double in_us;      // on the CPU, to page-locked memory
  double upload_us;  // with what it waits for a copy engine
  double kernel_us;
  double download_us;  // as upload
  double wait_us;      // of the waiting thread, for the device
  double out_us;       // on the CPU, from page-locked memory
};

// What an element's `stats` said of a run.
struct OverlapRow {
  std::string size;
  std::string config;
  double overlap;
  double ceiling;
  double link_share;
  int stripes;  // a frame
  int streams;
  std::string transfer;  // copy or mapped
};

// A peer that has no row.
struct Absence {
  std::string size;
  std::string config;
  std::string
      state;  // missing: this machine has no such thing; failed: it has, but it does not work
  std::string reason;
};

// From nothing to the first frame, of a process of its own each time.
struct StartRow {
  std::string config;
  double median_ms;
  double low_ms;
  double high_ms;
  double own_ms;  // without what a pipeline takes that has an identity in the same place
};

// What the time of a single frame should be, by (n + 1) / n x one way + n x issue, of n stripes.
struct Model {
  std::string size;
  double one_way_us;
  double issue_us;  // a stripe
};

// A target for a size, and the configuration that comes nearest.
struct Verdict {
  std::string size;
  std::string target;  // in words
  double share;        // of the limit that it asks for; NaN: it is about something else
  std::string config;
  double measured;  // NaN: it was not
  std::string
      verdict;  // met, missed, not measured, or reported where the target holds for other sizes only
};

struct Report {
  std::string program;
  std::string command;
  std::string date;  // UTC, ISO 8601
  Machine machine;
  int rounds;
  int frames;  // a round, of 1920 x 1080 pixels; larger pictures have fewer
  std::vector<Row> rows;
  std::vector<Row> peers;
  std::vector<Absence> absences;
  std::vector<KernelRow> kernels;
  std::vector<StagedRow> staged;
  std::vector<OverlapRow> overlaps;
  std::vector<StartRow> starts;
  std::vector<Row>
      on_cpu;  // on threads of named CPUs; the first of each size is what the others are told against
  std::vector<Model> models;
  std::vector<Verdict> verdicts;
};

// Makes rows of figures, of which the first is the one that the others are told against; and what failed instead.
std::vector<Row> make_rows(const std::string& size, const std::vector<Contestant>& contestants,
                           const std::vector<Figure>& figures);
std::vector<Absence> find_failures(const std::string& size,
                                   const std::vector<Contestant>& contestants,
                                   const std::vector<Figure>& figures);

// met or missed; not measured where `measured` is NaN.
enum class Bound { at_least, at_most };
std::string judge(double measured, Bound bound, double value);

void print_rows(const std::vector<Row>& rows);
void print_absences(const std::vector<Absence>& absences);
void print_kernels(const std::vector<KernelRow>& rows);
void print_staged(const std::vector<StagedRow>& rows);
void print_overlaps(const std::vector<OverlapRow>& rows);
void print_starts(const std::vector<StartRow>& rows);
void print_models(const std::vector<Model>& models);
void print_verdicts(const Report& report);

// Both throw std::runtime_error where the file can't be written; the first finds out before minutes are spent.
void check_writable(const std::string& path);
void write_json(const Report& report, const std::string& path);

}  // namespace benchmark
