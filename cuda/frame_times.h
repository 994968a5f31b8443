// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/choice.h"
#include "cuda/host_clock.h"

namespace stripe {

/// From one time to another, or nothing where they are equal.
struct Span {
  Time begin = 0;
  Time end = 0;

  Time length() const noexcept { return end - begin; }
  bool operator==(const Span&) const = default;
};

/// What a device did with one stripe. An upload or download begins when its stream comes to it, so
/// it holds the time that it waits for a copy engine; mapped sides have none.
struct StripeTimes {
  int stripe;
  int stream;
  Span upload;
  Span kernel;
  Span download;
};

/// When what was done with one frame, device and host on one clock.
struct FrameTimes {
  std::uint64_t frame = 0;  ///< counted from 0
  Transfer transfer = Transfer::copy;
  std::uint64_t bytes_uploaded = 0;
  std::uint64_t bytes_downloaded = 0;
  Span submit;                    ///< in the submitting thread
  Span wait;                      ///< in the waiting thread
  Span push;                      ///< downstream; nothing where that was not seen
  Time complete = 0;              ///< when the output was there
  std::vector<Span> staging_in;   ///< copies of the input on the CPU, within submit
  std::vector<Span> staging_out;  ///< copies of the output on the CPU, within wait
  std::vector<StripeTimes> stripes;
};

}  // namespace stripe
