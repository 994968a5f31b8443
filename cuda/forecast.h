// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/device.h"
#include "cuda/host_clock.h"

namespace stripe {

/// Tells when the next frame will be done from how long the ones before took, so that a wait can
/// sleep for most of the time and look closely at the end.
///
/// A frame takes its time from when it was submitted, or, where others were in flight, from when the
/// one before was done. The estimate follows what is measured within some frames; where a wait woke
/// when the frame was done already, the next one wakes earlier. A single frame that is held up
/// changes little.
///
/// Thread:  one at a time, a value.
class Forecast {
 public:
  /// `alone`: no other frame keeps the link busy until the next one is submitted.
  explicit Forecast(bool alone) noexcept : alone_(alone) {}

  /// How to wait for the next frame. It spins for at most 0.3 of the time that frames take; nothing
  /// is planned before the first few were done.
  WaitPlan plan(Time submitted) const noexcept;

  /// The frame that the last plan was for is done.
  void note(Time submitted, Time done, const Waited& waited) noexcept;

 private:
  Time begin_of(Time submitted) const noexcept;
  void note_oversleep(Time overslept) noexcept;

  const bool alone_;
  Time last_done_ = 0;
  Time length_ = 0;
  int learnt_ = 0;         // of the first frames
  int late_in_a_row_ = 0;  // waits that slept until after the frame was done
  Time oversleep_ = 0;
};

}  // namespace stripe
