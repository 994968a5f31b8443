// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/forecast.h"

#include <algorithm>

namespace stripe {

namespace {

// Shares of the time a frame takes. A wait wakes at most half of `most_spin` before the expected
// end, so that the other half is left for a frame that takes longer than expected.
constexpr double most_spin = 0.3;
constexpr double most_lead = 0.15;
constexpr double most_doze = 0.3;

// How long before the expected end it wakes if sleeps are punctual: for what frames differ by.
constexpr double usual_lead = 0.05;
constexpr double most_usual_lead_ns = 10'000;

// Where others are in flight they keep the link busy meanwhile: the CPU's time is worth more.
constexpr double most_spin_alone_ns = 50'000;
constexpr double most_spin_in_flight_ns = 20'000;

// So many are only measured.
constexpr int first_frames = 3;

// A frame counts as at most so many times what was expected.
constexpr Time most_growth = 2;

}  // namespace

Time Forecast::begin_of(Time submitted) const noexcept { return std::max(submitted, last_done_); }

WaitPlan Forecast::plan(Time submitted) const noexcept {
  if (learnt_ < first_frames) return {};
  const auto length = static_cast<double>(length_);
  const double usual = std::min(usual_lead * length, most_usual_lead_ns);
  const double spin =
      std::min(most_spin * length, alone_ ? most_spin_alone_ns : most_spin_in_flight_ns);
  const double lead =
      std::min({usual + static_cast<double>(oversleep_), most_lead * length, spin / 2});
  return {begin_of(submitted) + length_ - static_cast<Time>(lead), static_cast<Time>(spin) + 1,
          alone_ ? static_cast<Time>(most_doze * length) : 0};
}

// Alone it grows at once and shrinks slowly: waking too early costs a few microseconds of the CPU's
// time, waking too late costs the link's.
void Forecast::note_oversleep(Time overslept) noexcept {
  const Time difference = overslept - oversleep_;
  oversleep_ += difference / (alone_ && difference > 0 ? 2 : 16);
}

void Forecast::note(Time submitted, Time done, const Waited& waited) noexcept {
  const Time measured = std::max<Time>(done - begin_of(submitted), 1);
  last_done_ = done;
  if (waited.slept) note_oversleep(waited.overslept);
  const bool slept_in_vain = waited.slept && waited.was_late;
  late_in_a_row_ = slept_in_vain ? late_in_a_row_ + 1 : 0;
  if (learnt_ < first_frames) {  // of which some take far longer than all others
    length_ = learnt_ == 0 ? measured : std::min(length_, measured);
    ++learnt_;
  } else if (waited.was_late) {  // it took less than was measured, and nobody knows how much less
    length_ -= length_ / (late_in_a_row_ > 1 ? 2 : slept_in_vain ? 8 : 32);
  } else {  // a frame that was held up says little of the next ones
    length_ += (std::min(measured, most_growth * length_) - length_) / 4;
  }
  length_ = std::max<Time>(length_, 1);
}

}  // namespace stripe
