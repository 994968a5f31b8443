// SPDX-License-Identifier: LGPL-2.1-or-later

// When a wait sleeps until, from a model of frames whose ends are known.

#include "cuda/forecast.h"

#include <algorithm>
#include <deque>
#include <vector>

#include "support/library_main.h"
#include "support/random.h"

using stripe::Forecast;
using stripe::Time;
using stripe::Waited;
using stripe::WaitPlan;
using test::Random;

namespace {

constexpr Time us = 1'000;
constexpr Time look = us;  // how soon a frame that is looked for is seen

/// What a wait by a plan comes to for a frame that ends at `end`, on a machine whose sleeps are too
/// long by `oversleep`.
struct Outcome {
  Time seen;
  Waited waited;
  int naps = 0;
};

Outcome wait_by(const WaitPlan& plan, Time begin, Time end, Time oversleep) {
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

/// Frames that take `length` each, each submitted when the one before was noticed, by a forecast; the
/// last `counted` of them are judged.
struct Judgement {
  std::vector<Time> late;  // each
  Time most_late = 0;
  Time sum_late = 0;
};

template <typename Length, typename Oversleep>
Judgement run(int warm_up, int counted, Length length, Oversleep oversleep) {
  Forecast forecast;
  Judgement judgement;
  Time at = 1'000'000 * us;
  for (int i = 0; i < warm_up + counted; ++i) {
    const Time submitted = at;
    const Time frame = length(i);
    const WaitPlan plan = forecast.plan(submitted, 0);
    const Outcome outcome = wait_by(plan, submitted, submitted + frame, oversleep(i));
    forecast.note(submitted, outcome.seen, outcome.waited);
    at = outcome.seen;
    if (i < warm_up) continue;
    judgement.late.push_back(outcome.seen - (submitted + frame));
    judgement.most_late = std::max(judgement.most_late, judgement.late.back());
    judgement.sum_late += judgement.late.back();
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
}
GST_END_TEST;

// Sleeps that end late by more than a frame's usual lead are learnt, not waited for in vain.
GST_START_TEST(late_sleepers_wake_earlier) {
  const Judgement it = run(
      60, 200, [](int) { return 170 * us; }, [](int i) { return (15 + i % 4) * us; });
  fail_unless(it.most_late <= 6 * us, "%lld ns late", static_cast<long long>(it.most_late));
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
    const WaitPlan plan = forecast.plan(submitted, 0);
    longest = std::max(longest, length + 1'000 * us);
    fail_unless(plan.spin <= 3 * longest / 10 && plan.spin <= 51 * us);
    fail_unless(plan.spin == 0 || plan.sleep_until >= at - longest);
    const Outcome outcome =
        wait_by(plan, submitted, submitted + length, random.between(0, 80) * us);
    forecast.note(submitted, outcome.seen, outcome.waited);
    at = outcome.seen;
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
      const WaitPlan plan = forecast.plan(submitted, 0);
      sum += plan.spin;
      const Outcome outcome =
          wait_by(plan, submitted, submitted + random.between(shortest, longest) * us, 5 * us);
      forecast.note(submitted, outcome.seen, outcome.waited);
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

// Others in flight: a frame takes its time from when the one before was done.
GST_START_TEST(frames_in_flight_follow_each_other) {
  Forecast forecast;
  constexpr Time length = 170 * us;
  Time done = 10'000 * us;
  for (int i = 0; i < 100; ++i) {
    const Time submitted = done - 2 * length;
    const WaitPlan plan = forecast.plan(submitted, 0);
    if (i > 20) {
      fail_unless(plan.sleep_until <= done + length && plan.sleep_until >= done + length / 2);
      fail_unless(plan.sleep_until + plan.spin >= done + length);
    }
    const Outcome outcome = wait_by(plan, done, done + length, 5 * us);
    forecast.note(submitted, outcome.seen, outcome.waited);
    done = outcome.seen;
  }
}
GST_END_TEST;

// Three frames in flight, on a link that takes them one after another.
struct Usage {
  double busy = 0;   // of the link
  double dozed = 0;  // of the frames: what was planned was too short
};

template <typename Oversleep>
Usage fly(Time length, int warm_up, int counted, Oversleep oversleep) {
  constexpr std::size_t depth = 3;
  constexpr Time issue = 20 * us, rest = 20 * us;  // the CPU's for a frame
  struct Frame {
    Time submitted;
    Time end;
  };
  Forecast forecast;
  std::deque<Frame> frames;
  Usage usage;
  Time at = 1'000'000 * us, link = 0, begin = 0;
  for (int i = 0; i < warm_up + counted; ++i) {
    if (i == warm_up) begin = at;
    while (frames.size() < depth) {
      at += issue;
      link = std::max(link, at) + length;
      frames.push_back({at, link});
    }
    const Frame frame = frames.front();
    frames.pop_front();
    const WaitPlan plan = forecast.plan(frame.submitted, static_cast<int>(frames.size()));
    const Outcome outcome = wait_by(plan, at, frame.end, oversleep(i));
    forecast.note(frame.submitted, outcome.seen, outcome.waited);
    at = outcome.seen + rest;
    if (i < warm_up) continue;
    if (outcome.waited.dozed) usage.dozed += 1.0 / counted;
  }
  usage.busy = static_cast<double>(length * counted) / static_cast<double>(at - begin);
  return usage;
}

// A sleep that ends late makes its own wait late; the frames behind it are expected when they are
// done, so that the wait for them spins but shortly, and the link stays busy.
GST_START_TEST(frames_in_flight_keep_the_link_busy) {
  Random random(63);
  for (const Time length : {90 * us, 170 * us, 640 * us, 20'000 * us})
    for (const int late_in : {1'000'000, 100, 20}) {
      const Usage it = fly(length, 100, 2'000, [&](int) {
        return random.one_in(late_in) ? random.between(40, 70) * us : random.between(2, 7) * us;
      });
      // What dozing adds is nothing to long frames.
      fail_unless(it.busy >= 0.98 && (it.dozed <= 0.03 || length > 1'000 * us),
                  "%lld us, late 1 in %d: busy %.3f, %.2f dozed",
                  static_cast<long long>(length / us), late_in, it.busy, it.dozed);
    }
}
GST_END_TEST;

namespace {

/// What waits cost and miss, a frame.
struct Cost {
  double naps = 0;
  double spun_us = 0;  // at most
  double late_us = 0;
};

/// Three frames in flight on a link that takes three of each of four engines in turns, as measured
/// with frames of 167 us: they end one right behind the other, and then long none.
Cost take_turns(Random& random, int behind) {
  constexpr int warm_up = 100, counted = 3'000;
  Forecast forecast;
  std::deque<Time> submitted(3, 1'000'000 * us);
  Cost cost;
  Time end = 1'000'000 * us, at = end;
  for (int i = 0; i < warm_up + counted; ++i) {
    end += i % 3 == 0 ? random.between(1'650, 2'350) * us : random.between(5, 60) * us;
    const WaitPlan plan = forecast.plan(submitted.front(), behind);
    const Outcome outcome = wait_by(plan, at, end, random.between(2, 7) * us);
    forecast.note(submitted.front(), outcome.seen, outcome.waited);
    at = outcome.seen + 20 * us;
    submitted.pop_front();
    submitted.push_back(at);
    end = std::max(end, at - 100 * us);
    if (i < warm_up) continue;
    cost.naps += 1.0 * outcome.naps / counted;
    if (outcome.waited.dozed) cost.spun_us += 1e-3 * plan.spin / counted;
    cost.late_us += 1e-3 * (outcome.seen - end) / counted;
  }
  return cost;
}

}  // namespace

// How long frames are under way is what they have in common then.
GST_START_TEST(frames_that_end_in_threes_are_not_waited_for_in_vain) {
  Random random(66);
  const Cost cost = take_turns(random, 2);
  fail_unless(cost.naps <= 1.0 && cost.spun_us <= 10 && cost.late_us <= 150,
              "%.2f naps a frame, %.1f us spun, %.1f us late", cost.naps, cost.spun_us,
              cost.late_us);
  // Where nothing else keeps the link busy they are noticed sooner.
  const Cost alone = take_turns(random, 0);
  fail_unless(alone.late_us < cost.late_us);
}
GST_END_TEST;

// Where the CPU is what is slow, frames are done before anybody looks, and that says nothing of how
// long they take: when the CPU has time again, it knows.
GST_START_TEST(waits_without_sleep_teach_nothing) {
  Forecast forecast;
  Time at = 10'000 * us;
  const auto finish = [&](Time length, const Waited& waited) {
    at += length;
    forecast.note(at - 3 * length, at, waited);
  };
  for (int i = 0; i < 20; ++i) finish(170 * us, {});
  for (int i = 0; i < 1'000; ++i) finish(400 * us, {true, false, 0});
  const WaitPlan plan = forecast.plan(at, 0);
  fail_unless(plan.sleep_until > at + 150 * us && plan.sleep_until < at + 170 * us, "%lld",
              static_cast<long long>(plan.sleep_until - at));
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
  tcase_add_test(cases, it_follows_what_changes);
  tcase_add_test(cases, it_never_spins_for_long);
  tcase_add_test(cases, frames_that_differ_are_met_soon);
  tcase_add_test(cases, naps_grow_with_what_they_wait_for);
  tcase_add_test(cases, it_spins_less_where_that_is_in_vain);
  tcase_add_test(cases, frames_in_flight_follow_each_other);
  tcase_add_test(cases, frames_in_flight_keep_the_link_busy);
  tcase_add_test(cases, frames_that_end_in_threes_are_not_waited_for_in_vain);
  tcase_add_test(cases, waits_without_sleep_teach_nothing);
  return suite;
}

}  // namespace

LIBRARY_CHECK_MAIN(forecast)
