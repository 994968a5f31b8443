// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace demo {

/// One way to send frames through the element, and how long a frame took.
struct Timing {
  std::string name;
  double frame_ms = 0;
  double ratio_on_h200 = 0;  ///< to the first line, of docs/benchmarks.md
};

/// Measures pageable memory, page-locked memory, and page-locked memory with frames in flight, on
/// the same picture, in this order. `say` is told what is going on, in one line.
///
/// Errors:  throws std::runtime_error; throws Interrupted.
std::vector<Timing> compare(const std::function<void(const std::string&)>& say);

/// Prints them as a table, each with its ratio to the first; where they were `on_cpu`, beside the
/// ratios that an NVIDIA H200 showed, and says why they differ from those.
void print_comparison(const std::vector<Timing>& timings, bool on_cpu);

}  // namespace demo
