// SPDX-License-Identifier: LGPL-2.1-or-later

// Waits for frames behind which others are in flight, and that share the link.

#include <algorithm>
#include <deque>
#include <functional>
#include <utility>

#include "cuda/forecast.h"
#include "support/library_main.h"
#include "support/random.h"
#include "support/wait_model.h"

using stripe::Forecast;
using stripe::Time;
using stripe::Waited;
using stripe::WaitPlan;
using test::Outcome;
using test::Random;
using test::us;
using test::wait_for;

namespace {

/// What became of some frames.
struct Usage {
  double busy = 0;   // the link, with these
  double dozed = 0;  // of the frames: what was planned was too short
  double late_us = 0;
  Time longest_nap = 0;  // that was planned
};

/// So many frames in flight, on a link that takes them one after another.
class Flight {
 public:
  using Oversleep = std::function<Time()>;

  Flight(std::size_t depth, Time length, Oversleep oversleep)
      : depth_(depth), length_(length), oversleep_(std::move(oversleep)) {}

  /// `others`: how long the link is taken by others before each frame.
  template <typename Others>
  Usage run(int count, Others others) {
    Usage usage;
    const Time begin = at_;
    for (int i = 0; i < count; ++i) step(usage, count, others);
    usage.busy = static_cast<double>(length_ * count) / static_cast<double>(at_ - begin);
    return usage;
  }
  Usage run(int count) {
    return run(count, [] { return Time{0}; });
  }

 private:
  static constexpr Time issue = 20 * us, rest = 20 * us;  // the CPU's for a frame

  struct Frame {
    Time submitted;
    Time end;
  };

  template <typename Others>
  void step(Usage& usage, int count, Others& others) {
    while (frames_.size() < depth_) {
      at_ += issue;
      link_ = std::max(link_, at_) + others() + length_;
      frames_.push_back({at_, link_});
    }
    const Frame frame = frames_.front();
    frames_.pop_front();
    const Outcome outcome = wait_for(forecast_, frame.submitted, static_cast<int>(frames_.size()),
                                     at_, frame.end, oversleep_());
    if (outcome.waited.dozed) usage.dozed += 1.0 / count;
    usage.late_us += 1e-3 * static_cast<double>(outcome.seen - std::max(at_, frame.end)) / count;
    usage.longest_nap = std::max(usage.longest_nap, outcome.plan.nap);
    at_ = outcome.seen + rest;
  }

  const std::size_t depth_;
  const Time length_;
  const Oversleep oversleep_;
  Forecast forecast_;
  std::deque<Frame> frames_;
  Time at_ = 1'000'000 * us;
  Time link_ = 0;
};

}  // namespace

// Others in flight: a frame takes its time from when the one before was done.
GST_START_TEST(frames_in_flight_follow_each_other) {
  Forecast forecast;
  constexpr Time length = 170 * us;
  Time done = 10'000 * us;
  for (int i = 0; i < 100; ++i) {
    const Time submitted = done - 2 * length;
    const Outcome outcome = wait_for(forecast, submitted, 0, done, done + length, 5 * us);
    const WaitPlan& plan = outcome.plan;
    if (i > 20) {
      fail_unless(plan.sleep_until <= done + length && plan.sleep_until >= done + length / 2);
      fail_unless(plan.sleep_until + plan.spin >= done + length);
    }
    done = outcome.seen;
  }
}
GST_END_TEST;

// A sleep that ends late makes its own wait late; the frames behind it are expected when they are
// done, so that the wait for them spins but shortly, and the link stays busy.
GST_START_TEST(frames_in_flight_keep_the_link_busy) {
  Random random(63);
  for (const Time length : {90 * us, 170 * us, 640 * us, 20'000 * us})
    for (const int late_in : {1'000'000, 100, 20}) {
      Flight flight(3, length, [&] {
        return random.one_in(late_in) ? random.between(40, 70) * us : random.between(2, 7) * us;
      });
      flight.run(100);
      const Usage it = flight.run(2'000);
      // What dozing adds is nothing to long frames.
      fail_unless(it.busy >= 0.98 && (it.dozed <= 0.03 || length > 1'000 * us),
                  "%lld us, late 1 in %d: busy %.3f, %.2f dozed",
                  static_cast<long long>(length / us), late_in, it.busy, it.dozed);
    }
}
GST_END_TEST;

// However many are in flight: naps that make waits late don't keep themselves alive.
GST_START_TEST(what_disturbed_them_is_forgotten) {
  Random random(67);
  for (const std::size_t depth : {2, 3, 9, 16})
    for (const Time length : {100 * us, 170 * us, 800 * us, 4'000 * us}) {
      Flight flight(depth, length, [&] { return random.between(2, 7) * us; });
      flight.run(50);
      const Usage disturbed = flight.run(
          100, [&] { return random.one_in(3) ? length * random.between(0, 600) / 100 : Time{0}; });
      fail_unless(disturbed.longest_nap <= 1'000 * us);
      flight.run(1'000);
      const Usage it = flight.run(300);
      fail_unless(it.busy >= 0.98 && it.late_us <= 5,
                  "%zu in flight, %lld us: busy %.3f, %.1f us late", depth,
                  static_cast<long long>(length / us), it.busy, it.late_us);
    }
}
GST_END_TEST;

// A link that takes all frames in flight of one after those of three others, and then is left alone.
GST_START_TEST(a_link_that_is_no_longer_shared_is_busy_soon) {
  Random random(68);
  for (const std::size_t depth : {2, 3, 4})
    for (const Time length : {100 * us, 170 * us, 640 * us}) {
      Flight flight(depth, length, [&] { return random.between(2, 7) * us; });
      std::size_t turn = 0;
      const Usage shared = flight.run(500, [&] {
        return turn++ % depth == 0 ? static_cast<Time>(3 * depth) * length : Time{0};
      });
      fail_unless(shared.busy >= 0.24, "busy %.2f while shared", shared.busy);
      flight.run(100);
      const Usage it = flight.run(200);
      fail_unless(it.busy >= 0.95, "%zu in flight, %lld us: busy %.3f", depth,
                  static_cast<long long>(length / us), it.busy);
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
    const Outcome outcome =
        wait_for(forecast, submitted.front(), behind, at, end, random.between(2, 7) * us);
    at = outcome.seen + 20 * us;
    submitted.pop_front();
    submitted.push_back(at);
    end = std::max(end, at - 100 * us);
    if (i < warm_up) continue;
    cost.naps += 1.0 * outcome.naps / counted;
    if (outcome.waited.dozed) cost.spun_us += 1e-3 * outcome.plan.spin / counted;
    cost.late_us += 1e-3 * (outcome.seen - end) / counted;
  }
  return cost;
}

}  // namespace

// How long frames are under way is what they have in common then.
GST_START_TEST(frames_that_end_in_threes_are_not_waited_for_in_vain) {
  Random random(66);
  const Cost cost = take_turns(random, 2);
  fail_unless(cost.naps <= 0.55 && cost.spun_us <= 2 && cost.late_us <= 90,
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

Suite* forecast_flight_suite() {
  Suite* suite = suite_create("forecast-flight");
  TCase* cases = tcase_create("forecast-flight");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, frames_in_flight_follow_each_other);
  tcase_add_test(cases, frames_in_flight_keep_the_link_busy);
  tcase_add_test(cases, what_disturbed_them_is_forgotten);
  tcase_add_test(cases, a_link_that_is_no_longer_shared_is_busy_soon);
  tcase_add_test(cases, frames_that_end_in_threes_are_not_waited_for_in_vain);
  tcase_add_test(cases, waits_without_sleep_teach_nothing);
  return suite;
}

}  // namespace

LIBRARY_CHECK_MAIN(forecast_flight)
