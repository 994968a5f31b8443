// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <mutex>
#include <stdexcept>
#include <string>

#include "cuda/timeline.h"

namespace gst_stripe {

/// Why a timeline can't be written. `what()` is for the user.
class TimelineError : public std::runtime_error {
 public:
  TimelineError(bool is_setting, const std::string& text)
      : std::runtime_error(text), is_setting_(is_setting) {}

  /// Whether the property's value is to blame, and not the file.
  bool is_setting() const noexcept { return is_setting_; }

 private:
  const bool is_setting_;
};

/// Finds out, without touching it, whether a timeline can be written to `path`: it ends in .json or
/// .svg, and is a regular file or a new one, in a folder where files can be made (one is, and is
/// removed).
///
/// Errors:  throws TimelineError.
void check_timeline_path(const std::string& path);

/// The file of `timeline-location`: takes the times of the frames, and is written once.
///
/// Thread:  any.
class TimelineFile {
 public:
  /// `frame` says what is in the timeline but the frames.
  TimelineFile(std::string path, int frames, int warm_up, stripe::Timeline frame);
  TimelineFile(const TimelineFile&) = delete;

  /// Whether frame `number` is to be timed.
  bool wants(std::uint64_t number) const noexcept { return recorder_.wants(number); }

  /// What frames of the caps are, for people: the last one before the file is written stands.
  void set_settings(std::string settings);

  void add(stripe::FrameTimes times);

  /// Writes the file where all frames are there, or `now`; not again.
  /// Errors:  throws TimelineError; the file is given up then.
  void write(bool now);

 private:
  const std::string path_;
  std::mutex mutex_;  // a leaf; guards all below
  stripe::TimelineRecorder recorder_;
  stripe::Timeline timeline_;
  bool written_ = false;
};

}  // namespace gst_stripe
