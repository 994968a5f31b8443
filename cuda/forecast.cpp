// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/forecast.h"

#include <algorithm>

namespace stripe {

namespace {

// Shares of the time a frame takes. A wait wakes at most `most_lead` before the expected end, and where
// frames come evenly so that some of its spin is left for one that takes longer than expected.
constexpr double most_spin = 0.3;
constexpr double most_lead = 0.15;
constexpr double most_spin_ns = 50'000;

// How long before the expected end it wakes if sleeps are punctual: for what frames differ by.
constexpr double usual_lead = 0.05;
constexpr double most_usual_lead_ns = 10'000;

// Where frames come unevenly most spinning is in vain: so much less of it, before and after.
// Errors that are no longer than naps, or a small share of what frames take, don't count.
constexpr double uneven_spin = 1.0 / 8;
constexpr double least_uneven_error = 0.15;
constexpr double least_uneven_error_ns = 20'000;
constexpr double most_error = 2;  // so that what was wrong by far is soon forgotten

// So many are only measured.
constexpr int first_frames = 3;

// A frame counts as at most so many times what was expected.
constexpr int most_growth = 2;
constexpr int most_growth_of_several = 4;

// Sleeping too long shortens the estimate by 1/256, 1/128 ... 1/4 of it: the first ones cost nothing,
// and what became much shorter is found within some ten frames. Where frames come unevenly a 256th
// would be far too little.
constexpr int first_shrink_bits = 8;
constexpr int first_uneven_shrink_bits = 6;
constexpr int last_shrink_bits = 2;

constexpr Time shortest = 1'000;
constexpr Time longest_nap = 1'000'000;

// By how much an end was not expected that was noticed so late at most.
Time error_of(Time late, Time most_unnoticed) {
  return late > 0 ? std::max<Time>(late - most_unnoticed, 0) : -late;
}

}  // namespace

Time nap_length(Time dozed, Time overslept, Time least) noexcept {
  constexpr Time shortest_nap = 10'000;
  return std::min(std::max({dozed / 8, shortest_nap, 2 * overslept, least}), longest_nap);
}

// Of the first ones some take far longer than all others.
void Forecast::Estimate::learn(Time measured, bool is_first) noexcept {
  const Time least = std::max(measured, shortest);
  length = is_first ? least : std::min(length, least);
}

void Forecast::Estimate::follow(Time measured, int most, int share) noexcept {
  length += (std::min(measured, most * length) - length) / share;
  length = std::max(length, shortest);
}

void Forecast::Estimate::shorten(Time too_long) noexcept {
  length = std::max(length - too_long, shortest);
}

void Forecast::Estimate::note_error(Time by) noexcept {
  const double share = static_cast<double>(by) / static_cast<double>(length);
  error += (std::min(share, most_error) - error) / 8;
}

double Forecast::Estimate::error_ns() const noexcept { return error * static_cast<double>(length); }

Time Forecast::begin_of(Time submitted) const noexcept { return std::max(submitted, last_done_); }

bool Forecast::come_unevenly() const noexcept {
  return spacing_.error > least_uneven_error && spacing_.error_ns() > least_uneven_error_ns;
}

// Where frames come evenly their spacing is by far the more exact, whatever the errors of late.
bool Forecast::believes_latency() const noexcept {
  return come_unevenly() && latency_.error_ns() < 0.75 * spacing_.error_ns();
}

Time Forecast::expect(Time submitted) const noexcept {
  return believes_latency() ? submitted + latency_.length : begin_of(submitted) + spacing_.length;
}

WaitPlan Forecast::plan(Time submitted, int behind) const noexcept {
  if (learnt_ < first_frames) return {};
  const auto length = static_cast<double>(spacing_.length);
  const auto overslept = static_cast<double>(oversleep_);
  const double usual = std::min(usual_lead * length, most_usual_lead_ns);
  double spin = std::min(most_spin * length, most_spin_ns);
  double lead = std::min({usual + overslept, most_lead * length, spin - usual});
  Time nap = 0;
  if (come_unevenly()) {
    spin *= uneven_spin;
    lead = std::min(uneven_spin * usual + overslept, most_lead * length);
    // From two others on more of them make no difference: naps that are longer than a frame would
    // themselves make frames seem uneven.
    nap = std::min(latency_.length * std::min(behind, 2) / (8 * (Time{behind} + 1)), longest_nap);
  }
  return {expect(submitted) - static_cast<Time>(lead), static_cast<Time>(spin), nap};
}

void Forecast::note(Time submitted, Time done, const Waited& waited) noexcept {
  if (submitted > last_done_) seen_ = 0;
  ++frames_since_seen_;
  if (waited.slept) note_oversleep(waited.overslept);
  if (learnt_ < first_frames)
    note_first(submitted, done, done - waited.last_nap);
  else if (waited.was_late)
    note_missed(submitted, done, waited.slept);
  else
    note_seen(submitted, done, waited.last_nap);
}

// It grows at once and shrinks slowly: waking too early costs a few microseconds of the CPU's
// time, waking too late may cost the link's.
void Forecast::note_oversleep(Time overslept) noexcept {
  const Time difference = overslept - oversleep_;
  oversleep_ += difference / (difference > 0 ? 2 : 16);
}

// Nothing is planned for these: they are noticed late by a long nap, and who expected that would
// sleep too long for the next ones.
void Forecast::note_first(Time submitted, Time done, Time earliest) noexcept {
  spacing_.learn(earliest - begin_of(submitted), learnt_ == 0);
  latency_.learn(earliest - submitted, learnt_ == 0);
  ++learnt_;
  last_done_ = done;
}

// Done before anybody looked, or while who waited slept, and does not know how much too long. Taking
// the time at which it was noticed for its end would make the next one seem short.
void Forecast::note_missed(Time submitted, Time done, bool slept) noexcept {
  const Time expected = expect(submitted);
  Estimate& believed = believes_latency() ? latency_ : spacing_;
  believed.shorten(std::max<Time>(expected - done, 0) / 4);
  if (slept) {
    const int first = come_unevenly() ? first_uneven_shrink_bits : first_shrink_bits;
    believed.shorten(believed.length >> std::max(first - overslept_in_a_row_, last_shrink_bits));
    ++overslept_in_a_row_;
  }
  last_done_ = std::max(last_done_, std::min(done, expected));
}

void Forecast::note_seen(Time submitted, Time done, Time most_unnoticed) noexcept {
  const Time begin = begin_of(submitted);
  spacing_.note_error(error_of(done - begin - spacing_.length, most_unnoticed));
  latency_.note_error(error_of(done - submitted - latency_.length, most_unnoticed));
  // The more frames, the less does one that was held up say of the next ones.
  if (seen_ != 0 && frames_since_seen_ > 1)
    spacing_.follow((done - seen_) / frames_since_seen_, most_growth_of_several, 2);
  else
    spacing_.follow(done - begin, most_growth, 4);
  latency_.follow(done - submitted, most_growth, 4);
  overslept_in_a_row_ = 0;
  seen_ = done;
  frames_since_seen_ = 0;
  last_done_ = done;
}

}  // namespace stripe
