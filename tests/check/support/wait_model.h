// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/device.h"
#include "cuda/forecast.h"

namespace test {

using stripe::Time;
using stripe::Waited;
using stripe::WaitPlan;

inline constexpr Time us = 1'000;
inline constexpr Time look = us;  // how soon a frame that is looked for is seen

/// What became of a wait.
struct Outcome {
  Time seen;
  Waited waited;
  int naps = 0;
  WaitPlan plan = {};
};

/// What a wait by a plan comes to for a frame that ends at `end`, on a machine whose sleeps are too
/// long by `oversleep`.

inline Outcome wait_by(const WaitPlan& plan, Time begin, Time end, Time oversleep) {
  if (end <= begin) return {begin, {true, false, 0}};
  Time awake = begin;
  Waited waited;
  if (plan.sleep_until > begin) {
    awake = plan.sleep_until + oversleep;
    waited = {end <= awake, true, oversleep};
    if (end <= awake) return {awake, waited};
  }
  if (end - awake <= plan.spin) return {end + look, waited};
  const Time dozing = awake + plan.spin;
  Time at = dozing;
  int naps = 0;
  for (; at < end; ++naps) {
    waited.last_nap = stripe::nap_length(at - dozing, oversleep, plan.nap) + oversleep;
    at += waited.last_nap;
  }
  waited.dozed = true;
  return {at, waited, naps};
}

/// A wait that begins at `begin`, by a forecast that learns from it.
inline Outcome wait_for(stripe::Forecast& forecast, Time submitted, int behind, Time begin,
                        Time end, Time oversleep) {
  const WaitPlan plan = forecast.plan(submitted, behind);
  Outcome outcome = wait_by(plan, begin, end, oversleep);
  outcome.plan = plan;
  forecast.note(submitted, outcome.seen, outcome.waited);
  return outcome;
}

}  // namespace test
