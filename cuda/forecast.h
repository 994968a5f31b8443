// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/device.h"
#include "cuda/host_clock.h"

namespace stripe {

/// How long to nap between two looks at what is overdue, after dozing for `dozed`: ever longer, so that
/// it is noticed late by an eighth of that at most, and what takes long costs little; and no shorter
/// than sleeps are worth where the last one ended so late.
///
/// Units:   nanoseconds.
Time nap_length(Time dozed, Time overslept) noexcept;

/// Tells when the next frame will be done from how long the ones before took, so that a wait can
/// sleep for most of the time.
///
/// A frame takes its time from when it was submitted, or, where others were in flight, from when the
/// one before was done. A wait that sleeps until after the frame was done cannot tell when that was:
/// the frame counts as done when it was expected, and the next ones are expected a little earlier,
/// until a wait sees one end. How long they take is counted from one that was seen to the next. A
/// single frame that is held up changes little.
///
/// Thread:  one at a time, a value.
class Forecast {
 public:
  /// How to wait for the next frame. It spins for at most 0.3 of the time that frames take; nothing
  /// is planned before the first few were done. Where frames end when nobody expects it, as where
  /// others share the link, it spins less.
  WaitPlan plan(Time submitted) const noexcept;

  /// The frame that the last plan was for is done.
  void note(Time submitted, Time done, const Waited& waited) noexcept;

 private:
  Time begin_of(Time submitted) const noexcept;
  void note_oversleep(Time overslept) noexcept;
  void note_first(Time measured, Time done) noexcept;
  void note_missed(Time expected, Time done, bool slept) noexcept;
  void note_seen(Time begin, Time done) noexcept;

  Time last_done_ = 0;
  Time length_ = 0;
  int learnt_ = 0;           // of the first frames
  int missed_in_a_row_ = 0;  // waits that slept until after the frame was done
  Time seen_ = 0;            // when a frame was last seen to end; 0: not since the link was idle
  Time frames_since_seen_ = 0;
  Time oversleep_ = 0;
  int vain_ = 0;  // how much more often spinning was in vain than not
};

}  // namespace stripe
