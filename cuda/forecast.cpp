// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/forecast.h"

#include <algorithm>

namespace stripe {

namespace {

// Shares of the time a frame takes. A wait wakes at most half of `most_spin` before the expected
// end, so that the other half is left for a frame that takes longer than expected.
constexpr double most_spin = 0.3;
constexpr double most_lead = 0.15;
constexpr double most_spin_ns = 50'000;

// How long before the expected end it wakes if sleeps are punctual: for what frames differ by.
constexpr double usual_lead = 0.05;
constexpr double most_usual_lead_ns = 10'000;

// Where spinning was in vain so much more often than not, the time for it after the expected end is
// halved, and down to an eighth if it goes on.
constexpr int patience = 3;
constexpr int most_vain = patience + 3;

// So many are only measured.
constexpr int first_frames = 3;

// A frame counts as at most so many times what was expected.
constexpr Time most_growth = 2;

// Waits in vain shorten the estimate by 1/256, 1/128 ... 1/4 of it: the first ones cost nothing,
// and what became much shorter is found within some ten frames.
constexpr int shrink_bits = 8;
constexpr int most_shrink_bits = 6;

constexpr Time shortest = 1'000;

}  // namespace

Time nap_length(Time dozed, Time overslept) noexcept {
  constexpr Time shortest_nap = 10'000;
  constexpr Time longest_nap = 1'000'000;
  return std::max(std::clamp(dozed / 8, shortest_nap, longest_nap), 2 * overslept);
}

Time Forecast::begin_of(Time submitted) const noexcept { return std::max(submitted, last_done_); }

WaitPlan Forecast::plan(Time submitted) const noexcept {
  if (learnt_ < first_frames) return {};
  const auto length = static_cast<double>(length_);
  const auto overslept = static_cast<double>(oversleep_);
  const Time expected = begin_of(submitted) + length_;
  const double usual = std::min(usual_lead * length, most_usual_lead_ns);
  const double spin = std::min(most_spin * length, most_spin_ns);
  const double lead = std::min({usual + overslept, most_lead * length, spin / 2});
  const double after = (spin - lead) / (1 << std::max(vain_ - patience, 0));
  return {expected - static_cast<Time>(lead), static_cast<Time>(lead + after)};
}

void Forecast::note(Time submitted, Time done, const Waited& waited) noexcept {
  const Time begin = begin_of(submitted);
  if (submitted > last_done_) seen_ = 0;
  ++frames_since_seen_;
  if (waited.slept) note_oversleep(waited.overslept);
  if (waited.dozed)
    vain_ = std::min(vain_ + 1, most_vain);
  else if (!waited.was_late)
    vain_ = std::max(vain_ - 1, 0);
  if (learnt_ < first_frames)
    note_first(std::max<Time>(done - begin, 1), done);
  else if (waited.was_late)
    note_missed(begin + length_, done, waited.slept);
  else
    note_seen(begin, done);
  length_ = std::max(length_, shortest);
}

// It grows at once and shrinks slowly: waking too early costs a few microseconds of the CPU's
// time, waking too late may cost the link's.
void Forecast::note_oversleep(Time overslept) noexcept {
  const Time difference = overslept - oversleep_;
  oversleep_ += difference / (difference > 0 ? 2 : 16);
}

// Of these some take far longer than all others.
void Forecast::note_first(Time measured, Time done) noexcept {
  length_ = learnt_ == 0 ? measured : std::min(length_, measured);
  ++learnt_;
  last_done_ = done;
}

// Taking the time at which it was noticed for its end would make the next one seem short.
void Forecast::note_missed(Time expected, Time done, bool slept) noexcept {
  missed_in_a_row_ = slept ? missed_in_a_row_ + 1 : 0;
  if (slept) length_ -= length_ >> (shrink_bits - std::min(missed_in_a_row_ - 1, most_shrink_bits));
  if (done < expected) length_ -= (expected - done) / 4;
  last_done_ = std::min(done, expected);
}

void Forecast::note_seen(Time begin, Time done) noexcept {
  const bool counted = seen_ != 0 && frames_since_seen_ > 1;
  const Time measured = counted ? (done - seen_) / frames_since_seen_ : done - begin;
  // The more frames, the less does one that was held up say of the next ones.
  length_ += (std::min(measured, most_growth * length_) - length_) / (counted ? 2 : 4);
  missed_in_a_row_ = 0;
  seen_ = done;
  frames_since_seen_ = 0;
  last_done_ = done;
}

}  // namespace stripe
