// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What the benchmarks' main functions have in common.

#include <memory>
#include <string>
#include <vector>

#include "cuda/device.h"
#include "report.h"
#include "sizes.h"

namespace benchmark {

// How much is measured.
struct Effort {
  int frames;  // a round, of 1920 x 1080 pixels
  int rounds;
};

// What a part has to work with.
struct Context {
  std::shared_ptr<stripe::Device> device;
  std::vector<std::string> size_names;  // those that were asked for; empty: all
  Report& report;                       // whose rows it fills, and prints

  bool wants(const Size& size) const;
};

// What can be measured alone, by an option of that name.
struct Part {
  const char* name;
  bool usual;  // whether it is measured where no part is asked for
  void (*measure)(Context& context);
};

struct Program {
  const char* name;
  const char* what;  // a line for its users
  Effort on_gpu;
  Effort on_cpu;
  std::vector<Part> parts;
  std::string gstreamer = {};  // its version, where it plays a part
};

// Understands [--PART]... [--size NAME]... [--frames N] [--rounds N] [--json FILE], opens the device, measures, prints
// the verdicts, writes the report. Returns the exit status, of which the targets are no part.
int run_program(const Program& program, int argc, char** argv);

}  // namespace benchmark
