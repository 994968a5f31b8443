// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/device.h"
#include "cuda/host_clock.h"

namespace stripe {

/// How long to nap between two looks at what is overdue, after dozing for `dozed`: ever longer, so that
/// it is noticed late by an eighth of that, and what takes long costs little; but no shorter than
/// `least`, nor than sleeps are worth where the last one ended so late, and never longer than 1 ms.
///
/// Units:   nanoseconds.
Time nap_length(Time dozed, Time overslept, Time least) noexcept;

/// Tells when the next frame will be done from how long the ones before took, so that a wait can
/// sleep for most of the time.
///
/// A frame takes its time from when it was submitted, or, where others were in flight, from when the
/// one before was done. Where many share a link it may take its frames in turns, all of one engine at
/// once and then long none: only how long they are under way is much the same then. Both are followed.
/// The first is believed unless frames come unevenly by it and the other was clearly less wrong of late.
///
/// A wait that sleeps until after the frame was done cannot tell when that was: the frame counts as
/// done when it was expected, and the next ones are expected a little earlier, until a wait sees one
/// end. How long they take is counted from one that was seen to the next. A single frame that is held
/// up changes little.
///
/// Thread:  one at a time, a value.
class Forecast {
 public:
  /// How to wait for the next frame, behind which so many others are in flight. It spins for at most
  /// 0.3 of the time that frames take; nothing is planned before the first few were done. Where frames
  /// come unevenly it spins less, and naps longer where others are in flight: they keep the link busy
  /// until this one is noticed, late by an eighth of how long it is under way, and 1 ms, at most.
  WaitPlan plan(Time submitted, int behind) const noexcept;

  /// The frame that the last plan was for is done.
  void note(Time submitted, Time done, const Waited& waited) noexcept;

 private:
  // How long frames take from a certain beginning, and how wrong that was of late.
  struct Estimate {
    void learn(Time measured, bool is_first) noexcept;
    void follow(Time measured, int most, int share) noexcept;
    void shorten(Time too_long) noexcept;
    void note_error(Time by) noexcept;
    double error_ns() const noexcept;

    Time length = 0;
    double error = 0;  // a share of the length
  };

  Time begin_of(Time submitted) const noexcept;
  bool come_unevenly() const noexcept;
  bool believes_latency() const noexcept;
  Time expect(Time submitted) const noexcept;
  void note_oversleep(Time overslept) noexcept;
  void note_first(Time submitted, Time done, Time earliest) noexcept;
  void note_missed(Time submitted, Time done, bool slept) noexcept;
  void note_seen(Time submitted, Time done, Time most_unnoticed) noexcept;

  Time last_done_ = 0;
  Estimate spacing_;            // from when the one before was done
  Estimate latency_;            // from when it was submitted
  int learnt_ = 0;              // of the first frames
  int overslept_in_a_row_ = 0;  // waits that slept too long since one saw a frame end
  Time seen_ = 0;               // when a frame was last seen to end; 0: not since the link was idle
  Time frames_since_seen_ = 0;
  Time oversleep_ = 0;
};

}  // namespace stripe
