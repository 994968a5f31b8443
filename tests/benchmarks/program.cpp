// SPDX-License-Identifier: LGPL-2.1-or-later
#include "program.h"

#include <getopt.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <iterator>
#include <optional>
#include <string>

#include "cuda/backend.h"

namespace benchmark {

namespace {

struct Options {
  Effort effort{0, 0};  // 0: the program's own
  std::string json_path;
  std::vector<std::string> sizes;  // empty: all
  std::vector<Part> parts;
};

std::optional<int> parse_count(const char* text) {
  int value = 0;
  const char* const end = text + std::strlen(text);
  const auto result = std::from_chars(text, end, value);
  if (result.ec != std::errc() || result.ptr != end || value < 1 || value > 1'000'000) return {};
  return value;
}

bool is_known_size(const std::string& name) {
  const auto has = [&](const auto& list) {
    return std::any_of(std::begin(list), std::end(list),
                       [&](const Size& size) { return size.name == name; });
  };
  return has(sizes) || has(swept_sizes);
}

// False for what is not understood.
bool take_option(int found, const char* value, Options& options) {
  if (found == 'j') {
    options.json_path = value;
    return true;
  }
  if (found == 's') {
    options.sizes.push_back(value);
    return is_known_size(value);
  }
  const std::optional<int> count = parse_count(value);
  if (count) (found == 'f' ? options.effort.frames : options.effort.rounds) = *count;
  return count.has_value();
}

std::optional<Options> parse_options(const Program& program, int argc, char** argv) {
  constexpr int first_part = 256;  // behind all characters
  std::vector<option> known = {{"frames", required_argument, nullptr, 'f'},
                               {"rounds", required_argument, nullptr, 'r'},
                               {"json", required_argument, nullptr, 'j'},
                               {"size", required_argument, nullptr, 's'}};
  for (const Part& part : program.parts)
    known.push_back({part.name, no_argument, nullptr,
                     first_part + static_cast<int>(&part - program.parts.data())});
  known.push_back({nullptr, 0, nullptr, 0});
  Options options;
  for (int found; (found = getopt_long(argc, argv, "", known.data(), nullptr)) != -1;) {
    if (found >= first_part)
      options.parts.push_back(program.parts[static_cast<std::size_t>(found - first_part)]);
    else if (found == '?' || !take_option(found, optarg, options))
      return {};
  }
  if (optind != argc) return {};
  if (options.parts.empty())
    std::copy_if(program.parts.begin(), program.parts.end(), std::back_inserter(options.parts),
                 [](const Part& part) { return part.usual; });
  return options;
}

void print_usage(const Program& program) {
  std::string parts;
  for (const Part& part : program.parts) parts += std::string(" [--") + part.name + "]";
  std::string names;
  for (const Size& size : sizes) names += std::string(names.empty() ? "" : ", ") + size.name;
  std::fprintf(stderr,
               "usage: %s%s [--size NAME]... [--frames N] [--rounds N] [--json FILE]\n%s\nsizes: "
               "%s\n",
               program.name, parts.c_str(), program.what, names.c_str());
}

// As it can be typed again from the build folder.
std::string command_line(const char* name, int argc, char** argv) {
  std::string line = std::string("tests/benchmarks/") + name;
  for (int i = 1; i < argc; ++i) {
    const bool quoted = std::strchr(argv[i], ' ') != nullptr;
    line += quoted ? std::string(" '") + argv[i] + "'" : std::string(" ") + argv[i];
  }
  return line;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

void print_heading(const Report& report, const std::string& fallback_reason) {
  const Machine& machine = report.machine;
  std::printf("%s: %s", machine.backend.c_str(), machine.device.c_str());
  if (!machine.driver.empty()) std::printf(", driver %s", machine.driver.c_str());
  if (!machine.cuda_runtime.empty()) std::printf(", CUDA %s", machine.cuda_runtime.c_str());
  std::printf("; %d CPUs. %s\n", machine.cpus, report.date.c_str());
  if (!fallback_reason.empty())
    std::printf(
        "No CUDA: %s. Page-locked means nothing here, and all ratios are those of CPU threads.\n",
        fallback_reason.c_str());
  std::printf(
      "Medians of %d round(s). Limit: a frame up and a frame down at once, sustained. Ratio: time "
      "a "
      "frame / the limit's; share: its inverse.\n",
      report.rounds);
}

void run(const Program& program, const Options& options, const std::string& command) {
  const auto begin = std::chrono::steady_clock::now();
  if (!options.json_path.empty()) check_writable(options.json_path);
  const stripe::OpenedBackend opened = stripe::open_backend(stripe::Backend::automatic, -1);
  const Effort usual = opened.device->info().backend == "cuda" ? program.on_gpu : program.on_cpu;
  Report report{};
  report.program = program.name;
  report.command = command;
  report.date = utc_now();
  report.machine = describe_machine(opened.device->info());
  report.machine.gstreamer = program.gstreamer;
  report.rounds = options.effort.rounds ? options.effort.rounds : usual.rounds;
  report.frames = options.effort.frames ? options.effort.frames : usual.frames;
  print_heading(report, opened.fallback_reason);
  Context context{opened.device, options.sizes, report};
  for (const Part& part : options.parts) {
    part.measure(context);
    // Each part: who is stopped in the middle keeps what was measured.
    if (!options.json_path.empty()) write_json(report, options.json_path);
  }
  print_verdicts(report);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  std::printf("\ntook %.0f s\n", time.count());
}

}  // namespace

bool Context::wants(const Size& size) const {
  return size_names.empty() ||
         std::find(size_names.begin(), size_names.end(), size.name) != size_names.end();
}

int run_program(const Program& program, int argc, char** argv) {
  const std::string command = command_line(program.name, argc, argv);
  const std::optional<Options> options = parse_options(program, argc, argv);
  if (!options) {
    print_usage(program);
    return 2;
  }
  try {
    run(program, *options, command);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program.name, error.what());
    return 1;
  }
}

}  // namespace benchmark
