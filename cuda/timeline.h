// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "cuda/frame_times.h"
#include "cuda/text.h"

namespace stripe {

/// The rows of what the host's threads did.
inline constexpr std::array<const char*, 5> host_row_names = {"submit", "staging in", "wait",
                                                              "staging out", "push"};

/// Consecutive frames, to be looked at.
struct Timeline {
  std::string device;
  std::string settings;  ///< what frames they are and how they are processed, for people
  int streams = 1;
  int left_out = 0;         ///< frames before the first one here, in which memory was made ready
  bool warming_up = false;  ///< the stream was too short to leave those frames out
  std::vector<FrameTimes> frames;
};

/// The timeline as Chrome trace events: opens in Perfetto and chrome://tracing. A row for each
/// stream, rows for what the host's threads did; frame and stripe as arguments.
///
/// Units:   microseconds since the first thing in it; independent of the locale.
/// Source:  Trace Event Format, JSON object format, complete events.
std::string to_trace_json(const Timeline& timeline);

/// The timeline as a picture, 1200 pixels wide: a row for each stream and for the host, a colour for
/// each frame, kinds by shade, overlap and the link's share in the title.
std::string to_svg(const Timeline& timeline);

/// Chooses the frames of a timeline and keeps them.
///
/// Thread:  one at a time.
class TimelineRecorder {
 public:
  /// `frames` of them, after `warm_up` that are left out if enough come.
  TimelineRecorder(int frames, int warm_up);

  /// Whether frame `number`, counted from 0, is to be timed. Thread: any.
  bool wants(std::uint64_t number) const noexcept { return number < end_; }

  /// Takes the times of a frame that was wanted, in order.
  void add(FrameTimes times);

  /// Whether all frames are there.
  bool is_complete() const noexcept;

  bool is_empty() const noexcept { return frames_.empty(); }

  /// Gives its frames away to `timeline`: those after the warm-up, or all where there are none.
  void move_into(Timeline& timeline);

 private:
  const std::uint64_t warm_up_;
  const std::uint64_t end_;
  std::vector<FrameTimes> frames_;
};

/// When the first thing in the timeline began; 0 where it is empty. And when the last one ended.
Span extent_of(const Timeline& timeline);

}  // namespace stripe
