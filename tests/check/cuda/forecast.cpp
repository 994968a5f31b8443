// SPDX-License-Identifier: LGPL-2.1-or-later

// When a wait sleeps until, from a model of frames whose ends are known.

#include "cuda/forecast.h"

#include <algorithm>
#include <vector>

#include "support/library_main.h"
#include "support/random.h"
#include "support/wait_model.h"

using stripe::Forecast;
using stripe::Time;
using stripe::WaitPlan;
using test::look;
using test::Outcome;
using test::Random;
using test::us;
using test::wait_for;

namespace {

/// Frames that take `length` each, each submitted when the one before was noticed, by a forecast; the
/// last `counted` of them are judged.
struct Judgement {
  std::vector<Time> late;  // each
  Time most_late = 0;
  Time sum_late = 0;
  int overslept = 0;  // waits that slept until after the end
};

template <typename Length, typename Oversleep>
Judgement run(int warm_up, int counted, Length length, Oversleep oversleep) {
  Forecast forecast;
  Judgement judgement;
  Time at = 1'000'000 * us;
  for (int i = 0; i < warm_up + counted; ++i) {
    const Time submitted = at;
    const Time frame = length(i);
    const Outcome outcome =
        wait_for(forecast, submitted, 0, submitted, submitted + frame, oversleep(i));
    at = outcome.seen;
    if (i < warm_up) continue;
    judgement.late.push_back(outcome.seen - (submitted + frame));
    judgement.most_late = std::max(judgement.most_late, judgement.late.back());
    judgement.sum_late += judgement.late.back();
    if (outcome.waited.was_late) ++judgement.overslept;
  }
  return judgement;
}

}  // namespace

GST_START_TEST(nothing_is_planned_before_the_first_frames) {
  Forecast forecast;
  for (int i = 0; i < 3; ++i) {
    const WaitPlan plan = forecast.plan(5 * us, 0);
    fail_unless(plan.spin == 0 && plan.sleep_until == 0);
    forecast.note(5 * us, 100 * us, {});
  }
  fail_unless(forecast.plan(200 * us, 0).spin > 0);
}
GST_END_TEST;

// A frame that is held up, be it the first one, holds up no others: lateness in all is far below it.
GST_START_TEST(one_slow_frame_changes_little) {
  for (const Time held_up : {5'000 * us, 100'000 * us, 1'000'000 * us})
    for (const int which : {0, 1, 50}) {
      const Judgement it = run(
          0, 300, [&](int i) { return i == which ? held_up : 300 * us; },
          [](int) { return 5 * us; });
      const Time late = it.sum_late - it.late[which];
      const Time longest = *std::max_element(it.late.begin() + which + 1, it.late.end());
      fail_unless(late <= 3'000 * us && longest <= 400 * us,
                  "%lld us late in all, %lld at once, after %lld",
                  static_cast<long long>(late / us), static_cast<long long>(longest / us),
                  static_cast<long long>(held_up / us));
    }
}
GST_END_TEST;

GST_START_TEST(steady_frames_are_met_in_time) {
  for (const Time length : {20 * us, 65 * us, 170 * us, 700 * us, 20'000 * us})
    for (const Time oversleep : {0 * us, 5 * us}) {
      const Judgement it = run(
          60, 100, [&](int) { return length; }, [&](int) { return oversleep; });
      fail_unless(it.most_late <= std::max(2 * look, oversleep), "%lld ns late for %lld ns",
                  static_cast<long long>(it.most_late), static_cast<long long>(length));
    }
}
GST_END_TEST;

// Those that are only measured are noticed late; the next ones are not.
GST_START_TEST(the_first_planned_ones_are_met_soon) {
  for (const Time length : {65 * us, 170 * us, 810 * us, 20'000 * us}) {
    const Judgement it = run(
        3, 10, [&](int) { return length; }, [](int) { return 5 * us; });
    fail_unless(it.most_late <= std::max(16 * us, length / 200), "%lld us late for %lld",
                static_cast<long long>(it.most_late / us), static_cast<long long>(length / us));
  }
}
GST_END_TEST;

// A frame that takes a little longer than expected is noticed soon, however long frames are.
GST_START_TEST(frames_that_differ_are_met_soon) {
  Random random(65);
  for (const Time length : {800 * us, 1'500 * us, 3'000 * us, 12'000 * us})
    for (const int percent : {1, 2}) {
      const int most = static_cast<int>(length / us) * percent / 100;
      const Judgement it = run(
          100, 1'000, [&](int) { return length + random.between(-most, most) * us; },
          [&](int) { return random.between(2, 7) * us; });
      fail_unless(it.sum_late / 1'000 <= length / 150, "%lld us late for %lld, %d %%",
                  static_cast<long long>(it.sum_late / 1'000 / us),
                  static_cast<long long>(length / us), percent);
    }
}
GST_END_TEST;

GST_START_TEST(naps_grow_with_what_they_wait_for) {
  fail_unless_equals_int64(stripe::nap_length(0, 0, 0), 10 * us);
  fail_unless_equals_int64(stripe::nap_length(400 * us, 3 * us, 0), 50 * us);
  fail_unless_equals_int64(stripe::nap_length(400 * us, 40 * us, 0), 80 * us);
  fail_unless_equals_int64(stripe::nap_length(400 * us, 3 * us, 60 * us), 60 * us);
  fail_unless_equals_int64(stripe::nap_length(60'000'000 * us, 0, 0), 1'000 * us);
  fail_unless_equals_int64(stripe::nap_length(0, -5 * us, 0), 10 * us);
  fail_unless_equals_int64(stripe::nap_length(50 * us, 100'000 * us, 0), 1'000 * us);
  fail_unless_equals_int64(stripe::nap_length(0, 0, 5'000 * us), 1'000 * us);
}
GST_END_TEST;

// Sleeps that end late by more than a frame's usual lead are learnt, not waited for in vain.
GST_START_TEST(late_sleepers_wake_earlier) {
  const auto expect_punctual = [](Time length, Time shortest, int differ) {
    const Judgement it = run(
        60, 200, [&](int) { return length; }, [&](int i) { return shortest + i % differ * us; });
    fail_unless(it.most_late <= 6 * us && it.overslept <= 20, "%lld us: %lld ns late, %d overslept",
                static_cast<long long>(length / us), static_cast<long long>(it.most_late),
                it.overslept);
  };
  expect_punctual(170 * us, 15 * us, 4);
  // As of CPUs that sleep for long.
  for (const Time length : {660 * us, 3'000 * us}) expect_punctual(length, 22 * us, 10);
}
GST_END_TEST;

// Some of them are punctual for once: the wait still spins until the end, mostly.
GST_START_TEST(punctual_sleeps_of_late_sleepers_are_no_loss) {
  Random random(69);
  const auto expect_few = [&](int shortest, int most_dozed, int most_overslept) {
    Forecast forecast;
    Time at = 1'000'000 * us;
    int dozed = 0, overslept = 0;
    for (int i = 0; i < 2'100; ++i) {
      const Time end = at + (660 + random.between(-6, 6)) * us;
      const Time oversleep =
          random.one_in(10) ? 2 * us : random.between(shortest, shortest + 6) * us;
      const Outcome outcome = wait_for(forecast, at, 0, at, end, oversleep);
      at = outcome.seen;
      if (i < 100) continue;
      dozed += outcome.waited.dozed;
      overslept += outcome.waited.was_late;
    }
    fail_unless(dozed <= most_dozed && overslept <= most_overslept, "%d us: %d dozed, %d overslept",
                shortest, dozed, overslept);
  };
  expect_few(30, 20, 300);
  // That much the spin can't cover.
  expect_few(44, 60, 1'100);
}
GST_END_TEST;

// It never wakes so late that frames wait for the wait: from any length to any other.
GST_START_TEST(it_follows_what_changes) {
  Random random(61);
  for (int round = 0; round < 200; ++round) {
    const Time before = random.between(20, 3000) * us;
    const Time after = random.between(20, 3000) * us;
    const Judgement it = run(
        100, 50, [&](int i) { return i < 50 ? before : after; }, [](int) { return 7 * us; });
    fail_unless(it.most_late <= 10 * us, "%lld ns late after %lld, then %lld",
                static_cast<long long>(it.most_late), static_cast<long long>(before),
                static_cast<long long>(after));
  }
}
GST_END_TEST;

// The rule of all waits: whatever frames do, none spins for more than 0.3 of what they take.
GST_START_TEST(it_never_spins_for_long) {
  Random random(62);
  Forecast forecast;
  Time at = 1'000 * us, longest = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Time length =
        random.one_in(20) ? random.between(1, 90'000) * us : random.between(100, 300) * us;
    const Time submitted = at + (random.one_in(3) ? random.between(0, 500) * us : 0);
    const Outcome outcome =
        wait_for(forecast, submitted, 0, submitted, submitted + length, random.between(0, 80) * us);
    const WaitPlan& plan = outcome.plan;
    longest = std::max(longest, length + 1'000 * us);
    fail_unless(plan.spin <= 3 * longest / 10 && plan.spin <= 51 * us);
    fail_unless(plan.spin == 0 || plan.sleep_until >= at - longest);
    at = outcome.seen;
  }
}
GST_END_TEST;

GST_START_TEST(it_spins_for_a_share_of_steady_frames) {
  for (const Time length : {20 * us, 65 * us, 170 * us, 20'000 * us}) {
    Forecast forecast;
    Time at = 1'000 * us;
    for (int i = 0; i < 200; ++i) {
      const Outcome outcome = wait_for(forecast, at, 0, at, at + length, 5 * us);
      const WaitPlan& plan = outcome.plan;
      fail_unless(plan.spin <= std::min(3 * length / 10 + us, 50 * us) && (i < 3 || plan.spin > 0),
                  "%lld ns for %lld", static_cast<long long>(plan.spin),
                  static_cast<long long>(length));
      at = outcome.seen;
    }
  }
}
GST_END_TEST;

// Where it can't know, as where others share the link, it soon looks but shortly; and again for as
// long as it may once frames are steady.
GST_START_TEST(it_spins_less_where_that_is_in_vain) {
  Random random(64);
  Forecast forecast;
  Time at = 1'000 * us;
  const auto mean_spin = [&](int frames, int shortest, int longest) {
    Time sum = 0;
    for (int i = 0; i < frames; ++i) {
      const Time submitted = at;
      const Outcome outcome = wait_for(forecast, submitted, 0, submitted,
                                       submitted + random.between(shortest, longest) * us, 5 * us);
      sum += outcome.plan.spin;
      at = outcome.seen;
    }
    return sum / frames;
  };
  mean_spin(100, 600, 600);
  const Time steady = mean_spin(100, 600, 600);
  const Time unknown = mean_spin(1'000, 300, 1'500);
  mean_spin(100, 600, 600);
  fail_unless(unknown <= 2 * steady / 3, "%lld ns, steady %lld", static_cast<long long>(unknown),
              static_cast<long long>(steady));
  fail_unless_equals_int64(mean_spin(100, 600, 600), steady);
}
GST_END_TEST;

namespace {

Suite* forecast_suite() {
  Suite* suite = suite_create("forecast");
  TCase* cases = tcase_create("forecast");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, nothing_is_planned_before_the_first_frames);
  tcase_add_test(cases, one_slow_frame_changes_little);
  tcase_add_test(cases, steady_frames_are_met_in_time);
  tcase_add_test(cases, the_first_planned_ones_are_met_soon);
  tcase_add_test(cases, late_sleepers_wake_earlier);
  tcase_add_test(cases, punctual_sleeps_of_late_sleepers_are_no_loss);
  tcase_add_test(cases, it_follows_what_changes);
  tcase_add_test(cases, it_never_spins_for_long);
  tcase_add_test(cases, it_spins_for_a_share_of_steady_frames);
  tcase_add_test(cases, frames_that_differ_are_met_soon);
  tcase_add_test(cases, naps_grow_with_what_they_wait_for);
  tcase_add_test(cases, it_spins_less_where_that_is_in_vain);
  return suite;
}

}  // namespace

LIBRARY_CHECK_MAIN(forecast)
