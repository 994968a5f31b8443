// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Frames' times as a test wants them.

#include <initializer_list>

#include "cuda/frame_times.h"
#include "support/random.h"

namespace test {

/// A frame of one stripe on stream 0 with these three spans, 1000 bytes each way.
inline stripe::FrameTimes made_frame(std::uint64_t number, stripe::Span upload, stripe::Span kernel,
                                     stripe::Span download) {
  stripe::FrameTimes frame;
  frame.frame = number;
  frame.bytes_uploaded = frame.bytes_downloaded = 1000;
  frame.submit = {upload.begin, upload.begin + 1};
  frame.wait = {download.end, download.end + 1};
  frame.complete = download.end;
  frame.stripes = {{0, 0, upload, kernel, download}};
  return frame;
}

/// The same, one piece of work after the other from `begin` on, each `length` long.
inline stripe::FrameTimes made_frame_at(std::uint64_t number, stripe::Time begin,
                                        stripe::Time length) {
  return made_frame(number, {begin, begin + length}, {begin + length, begin + 2 * length},
                    {begin + 2 * length, begin + 3 * length});
}

inline stripe::Span random_span(Random& random, int low, int high) {
  const int begin = random.between(low, high);
  return {begin, random.between(begin, high)};
}

/// Up to four stripes with spans in [0, 60), wherever they happen to lie.
inline stripe::FrameTimes random_frame(std::uint64_t number, Random& random) {
  stripe::FrameTimes frame;
  frame.frame = number;
  frame.bytes_uploaded = static_cast<std::uint64_t>(random.between(0, 10000));
  frame.bytes_downloaded = static_cast<std::uint64_t>(random.between(0, 10000));
  const int stripes = random.between(0, 4);
  for (int i = 0; i < stripes; ++i)
    frame.stripes.push_back({i, random.between(0, 2), random_span(random, 0, 60),
                             random_span(random, 0, 60), random_span(random, 0, 60)});
  return frame;
}

}  // namespace test
