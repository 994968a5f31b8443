// SPDX-License-Identifier: LGPL-2.1-or-later
#include "on_cpu.h"

#include <sched.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "child.h"
#include "element_ways.h"
#include "json.h"
#include "peers.h"
#include "pipeline.h"

namespace benchmark {

namespace {

constexpr const char* memcpy_config = "memcpy in and out";
constexpr const char* invert_settings = "backend=host effect=invert";
constexpr const char* balance_on_host = "backend=host stream-count=1 saturation=1.5 contrast=1.2";
constexpr const char* converter = "videoconvert n-threads=2 to BGRA";
constexpr const char* converter_elements = "videoconvert n-threads=2 ! video/x-raw,format=BGRA";

// What is compared on some CPUs. The first member is what the others are told against.
struct Group {
  const char* size;
  int cpus;
  Picture picture;
  std::size_t frame_bytes;
  std::vector<const char*> members;
};

const std::vector<Group>& groups() {
  static const std::string balance = std::string("videobalance ") + balance_settings;
  static const std::vector<Group> all = {
      {"1080p RGBx, 2 CPUs",
       2,
       {"RGBx", 1920, 1080},
       std::size_t{4} * 1920 * 1080,
       {memcpy_config, invert_settings, converter}},
      {"1080p I420, 1 CPU",
       1,
       {"I420", 1920, 1080},
       std::size_t{3} * 1920 * 1080 / 2,
       {balance.c_str(), balance_on_host}},
      {"1080p RGBx, 1 CPU",
       1,
       {"RGBx", 1920, 1080},
       std::size_t{4} * 1920 * 1080,
       {balance.c_str(), balance_on_host}},
  };
  return all;
}

std::string elements_of(const std::string& config) {
  if (config == converter) return converter_elements;
  if (config.starts_with("backend=")) return "cudastripetransform " + config;
  return config;
}

// As many threads as CPUs, each of which copies its part of every frame into another one, and from there to a third.
class CopyInAndOut {
 public:
  CopyInAndOut(std::size_t frame_bytes, int threads)
      : part_bytes_(frame_bytes / static_cast<std::size_t>(threads)), threads_(threads) {
    for (auto& frame : frames_) frame.assign(frame_bytes, std::byte{0x5a});
  }

  Sample run(int frames) {
    const Stopwatch watch;
    std::vector<std::jthread> threads;
    for (int i = 0; i < threads_; ++i)
      threads.emplace_back([this, i, frames] { copy(static_cast<std::size_t>(i), frames); });
    threads.clear();
    return watch.a_frame(frames);
  }

 private:
  void copy(std::size_t part, int frames) {
    std::byte* const from = frames_[0].data() + part * part_bytes_;
    std::byte* const between = frames_[1].data() + part * part_bytes_;
    std::byte* const to = frames_[2].data() + part * part_bytes_;
    for (int i = 0; i < frames; ++i) {
      std::memcpy(between, from, part_bytes_);
      std::memcpy(to, between, part_bytes_);
    }
  }

  const std::size_t part_bytes_;
  const int threads_;
  std::vector<std::byte> frames_[3];
};

Contestant make_contestant(const Group& group, const std::string& config, int frames) {
  const auto pace = std::make_shared<Pace>(frames);
  if (config == memcpy_config) {
    const auto copy = std::make_shared<CopyInAndOut>(group.frame_bytes, group.cpus);
    return {config, [=] { return pace->run([&](int count) { return copy->run(count); }); }};
  }
  const Chain chain{group.picture, Source::still, elements_of(config)};
  return {config, [=] { return run_at_pace(chain, *pace); }};
}

// Throws std::runtime_error where there are fewer. Threads that are made later inherit it.
void keep_to_cpus(int count) {
  cpu_set_t allowed, kept;
  CPU_ZERO(&kept);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    throw std::runtime_error("sched_getaffinity failed");
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&kept) < count; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &kept);
  if (CPU_COUNT(&kept) < count)
    throw std::runtime_error("this machine has fewer than " + std::to_string(count) + " CPUs");
  if (sched_setaffinity(0, sizeof kept, &kept) != 0)
    throw std::runtime_error("sched_setaffinity failed");
}

// A line a figure, in the order of the members: median, low, high, CPU, frames.
void print_figure(const Figure& figure) {
  for (const double us : {figure.median_us, figure.low_us, figure.high_us, figure.cpu_us})
    std::printf("%s ", json_number(us, 3).c_str());
  std::printf("%d\n", figure.frames);
}

std::vector<Row> read_rows(const Group& group, const std::string& text) {
  std::vector<Row> rows;
  std::istringstream lines(text);
  lines.imbue(std::locale::classic());
  for (const char* member : group.members) {
    Figure figure{};
    lines >> figure.median_us >> figure.low_us >> figure.high_us >> figure.cpu_us >> figure.frames;
    if (!lines) throw std::runtime_error(std::string(group.size) + ": no figures came back");
    rows.push_back({group.size, member, figure, 0});
  }
  for (Row& row : rows) row.limit_us = rows[0].figure.median_us;
  return rows;
}

std::string why_missing_group(const Group& group) {
  for (const std::string member : group.members) {
    if (!member.starts_with("backend=")) continue;
    const std::string missing = why_no_settings(member);
    if (!missing.empty()) return missing;
  }
  return {};
}

// How often `faster` runs while `slower` runs once; NaN where one was not measured.
double speed_up(const std::vector<Row>& rows, const char* size, const std::string& slower,
                const std::string& faster) {
  double slower_us = NAN, faster_us = NAN;
  for (const Row& row : rows) {
    if (row.size != size) continue;
    if (row.config == slower) slower_us = row.figure.median_us;
    if (row.config == faster) faster_us = row.figure.median_us;
  }
  return slower_us / faster_us;
}

void judge_on_cpu(Report& report) {
  const auto add = [&](const Group& group, const char* target, const char* slower,
                       const char* faster, double least) {
    const double measured = speed_up(report.on_cpu, group.size, slower, faster);
    report.verdicts.push_back(
        {group.size, target, NAN, faster, measured, judge(measured, Bound::at_least, least)});
  };
  const Group& inverted = groups()[0];
  add(inverted, "host: at least as fast as videoconvert", converter, invert_settings, 1);
  add(inverted, "host: at least 0.6 of memcpy's throughput", memcpy_config, invert_settings, 0.6);
  add(groups()[1], "host: at least as fast as videobalance", groups()[1].members[0],
      balance_on_host, 1);
  add(groups()[2], "host: at least 4 times as fast as videobalance", groups()[2].members[0],
      balance_on_host, 4);
}

void measure_group(std::size_t number, Report& report) {
  const Group& group = groups()[number];
  const std::string missing = why_missing_group(group);
  const ChildResult result =
      missing.empty() ? run_child("on-cpu", {std::to_string(number), std::to_string(report.frames),
                                             std::to_string(report.rounds)})
                      : ChildResult{{}, missing};
  if (!result.failure.empty()) {
    const std::vector<Absence> absences = {
        {group.size, group.members[1], missing.empty() ? "failed" : "missing", result.failure}};
    std::printf("\n%s\n", group.size);
    print_absences(absences);
    report.absences.insert(report.absences.end(), absences.begin(), absences.end());
    return;
  }
  const std::vector<Row> rows = read_rows(group, result.output);
  print_rows(rows);
  report.on_cpu.insert(report.on_cpu.end(), rows.begin(), rows.end());
}

}  // namespace

void measure_on_cpu(Context& context) {
  for (std::size_t i = 0; i < groups().size(); ++i) measure_group(i, context.report);
  judge_on_cpu(context.report);
}

void on_cpu_as_child(const std::vector<std::string>& arguments) {
  const Group& group = groups().at(std::stoul(arguments.at(0)));
  const int frames = std::stoi(arguments.at(1));
  keep_to_cpus(group.cpus);
  gst_init(nullptr, nullptr);
  std::vector<Contestant> contestants;
  for (const char* member : group.members)
    contestants.push_back(make_contestant(group, member, frames));
  for (const Figure& figure : measure_in_turn(contestants, std::stoi(arguments.at(2))))
    print_figure(figure);
}

}  // namespace benchmark
