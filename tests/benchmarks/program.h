// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What the benchmarks' main functions have in common.

#include <memory>
#include <string>

#include "cuda/device.h"
#include "report.h"

namespace benchmark {

// How much is measured.
struct Effort {
  int frames;  // a round, of 1920 x 1080 pixels
  int rounds;
};

struct Program {
  const char* name;
  const char* what;  // a line for its users
  Effort on_gpu;
  Effort on_cpu;
  // Fills the report's rows, and prints them.
  void (*measure)(const std::shared_ptr<stripe::Device>& device, Report& report);
};

// Understands [--frames N] [--rounds N] [--json FILE], opens the device, measures, writes the report. Returns the
// exit status, of which the targets are no part.
int run_program(const Program& program, int argc, char** argv);

}  // namespace benchmark
