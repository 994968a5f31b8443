// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <cstdint>
#include <optional>

#include "cuda/advice.h"
#include "cuda/engine.h"
#include "cuda/sampling.h"
#include "gst/notices.h"
#include "gst/properties.h"
#include "gst/timeline_file.h"

namespace gst_stripe {

/// A frame's number, and who wants to know what it took.
struct TimedFrame {
  std::uint64_t number = 0;     ///< since READY to PAUSED
  std::uint64_t in_format = 0;  ///< since these caps
  bool sampled = false;
  bool traced = false;
  stripe::Ticket ticket = 0;

  bool is_timed() const noexcept { return sampled || traced; }
};

/// What a session knows of its frames' times: samples for `stats`, the timeline, and the reasons why
/// copies and kernels don't overlap.
///
/// Owner:   whoever makes it keeps `notices`.
/// Thread:  set_format and next from the streaming thread, add from the thread that waits for
///          frames, the rest from any.
class Timing {
 public:
  Timing(const Settings& settings, const stripe::DeviceInfo& device, Notices& notices);
  Timing(const Timing&) = delete;

  /// New caps, cut as `settings` say, or as was chosen: forgets the samples, and says what is known
  /// beforehand.
  void set_format(const GstVideoInfo& info, const stripe::FrameShape& shape,
                  const Settings& settings, const stripe::Choice& choice);

  /// The next frame that is started.
  TimedFrame next() noexcept;

  /// What a frame took that was to be timed. Writes the timeline if that was its last frame.
  void add(const TimedFrame& frame, stripe::FrameTimes times);

  /// No frame comes any more: writes the timeline if it was not written yet.
  void finish();

  /// Keeps advice to be said, each cause once for these caps.
  void tell(const stripe::Advice& advice);

  stripe::SampledTimes times() const { return sampling_.times(); }

 private:
  void write(bool now);

  const stripe::DeviceInfo device_;
  Notices& notices_;
  stripe::Sampling sampling_;
  std::optional<TimelineFile> timeline_;
  std::uint64_t next_number_ = 0;
  std::uint64_t next_in_format_ = 0;
};

}  // namespace gst_stripe
