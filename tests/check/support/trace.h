// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// A timeline file as its readers see it: the rules of the Trace Event Format, and what is in it.

#include <cstdint>
#include <string>
#include <vector>

#include "support/json.h"

namespace test {

/// A span of a row.
///
/// Units: nanoseconds.
struct TraceSpan {
  std::string row;  ///< the row's name: "stream 0", "submit", ...
  std::string name;
  int frame = -1;
  int stripe = -1;  ///< -1: it says none
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// A trace of complete events.
struct Trace {
  std::string fault;  ///< which rule it breaks, in words; empty: none
  std::vector<std::string> rows;
  std::vector<TraceSpan> spans;
  Json other;  ///< what it says of itself

  /// The numbers of the frames in it, each once, in order.
  std::vector<int> frames() const;

  /// The spans of this name; of one frame, or all for -1.
  std::vector<TraceSpan> named(const std::string& name, int frame = -1) const;
};

/// Reads a trace, and looks whether it is JSON, has the fields that each event must have, names each
/// row, and whether the spans of each row lie beside each other or within one another.
Trace read_trace(const std::string& text);

/// What is wrong with its frames, in words: each of `frames` must be there with `stripes` stripes,
/// each of which with its three pieces of work in order (mapped ones: the kernel alone), and the
/// rows submit and wait, and push where `pushed`.
std::string frames_fault(const Trace& trace, const std::vector<int>& frames, int stripes,
                         bool mapped, bool pushed = true);

}  // namespace test
