// SPDX-License-Identifier: LGPL-2.1-or-later
// What timing costs, and what becomes of the engine where it fails.

#include "support/decorated_device.h"
#include "support/timed_run.h"

using stripe::FrameTimes;
using stripe::Transfer;
using test::Call;
using test::expect_streams_in_order;
using test::Random;
using test::Script;
using test::Setting;
using test::TestFrame;
using test::TimedRun;
using test::Treatment;

namespace {

// --- cost

Setting small_setting(int streams, int depth) {
  return {&test::format_named("I420"), 65, 63, false, {streams, depth, Transfer::copy}};
}

GST_START_TEST(untimed_frames_take_no_stamps) {
  Random random(23);
  const auto script = std::make_shared<Script>();
  TimedRun run(test::decorate(test::open_test_device(), script), small_setting(2, 3), random);
  for (int i = 0; i < 10; ++i) run.feed(test::staged, {.count = 3}, false);
  run.finish();
  for (const Call call :
       {Call::create_stamp, Call::create_clock, Call::stamp, Call::anchor, Call::time_of})
    fail_unless_equals_int(script->count(call), 0);
}
GST_END_TEST;

// Of frames among others: four stamps a stripe, kept for the next timed frame.
GST_START_TEST(stamps_are_for_timed_frames_alone) {
  Random random(24);
  const auto script = std::make_shared<Script>();
  constexpr int depth = 3, stripes = 5, rounds = 20;
  TimedRun run(test::decorate(test::open_test_device(), script), small_setting(2, depth), random);
  int timed = 0;
  for (int i = 0; i < rounds * depth; ++i) {
    const bool is_timed = random.one_in(3) || i < depth;
    timed += is_timed;
    run.feed(test::page_locked, {.count = stripes}, is_timed);
  }
  run.finish();
  fail_unless_equals_int(run.times.size(), timed);
  fail_unless_equals_int(script->count(Call::stamp), 4 * stripes * timed);
  fail_unless_equals_int(script->count(Call::time_of), 4 * stripes * timed);
  fail_unless_equals_int(script->count(Call::create_stamp), 4 * stripes * depth);
  fail_unless_equals_int(script->count(Call::create_clock), 1);
  expect_streams_in_order(run.times);
}
GST_END_TEST;

// More stripes than before, then fewer: only those of the frame are told.
GST_START_TEST(stripes_change_between_frames) {
  Random random(25);
  const Setting setting = small_setting(3, 2);
  TimedRun run(test::open_test_device(), setting, random);
  const int counts[] = {1, 4, 2, 7, 1, 3};
  for (const int count : counts) run.feed(test::page_locked, {.count = count}, true);
  run.finish();
  for (std::size_t i = 0; i < std::size(counts); ++i)
    fail_unless_equals_int(run.times[i].stripes.size(), counts[i]);
  expect_streams_in_order(run.times);
}
GST_END_TEST;

/// A small frame that is timed, and what it must become.
struct TimedFrame {
  TimedFrame(stripe::Device& device, const Setting& setting, Random& random)
      : frame(device, setting.shape(), *setting.format, test::page_locked, random),
        parameters(Treatment{.count = 2}.parameters(*setting.format)) {
    frame.expect({.count = 2});
    parameters.timed = true;
  }

  TestFrame frame;
  stripe::FrameParameters parameters;
};

// Who doesn't ask costs no reading of the clock, and no memory that grows.
GST_START_TEST(nobody_asks) {
  Random random(26);
  const auto script = std::make_shared<Script>();
  const auto plain = test::open_test_device();
  const Setting setting = small_setting(2, 1);
  stripe::Engine engine(test::decorate(plain, script), setting.shape(), setting.options);
  TimedFrame timed(*plain, setting, random);
  for (int i = 0; i < 50; ++i) {
    timed.frame.expect({.count = 2});
    engine.wait(engine.submit(timed.frame.job(), timed.parameters));
    fail_unless_empty(timed.frame.verdict());
  }
  fail_unless_equals_int(script->count(Call::time_of), 0);
  fail_unless_equals_int(script->count(Call::anchor), 0);
  // Of a frame or two in flight, and as many that were waited for.
  fail_unless(script->count(Call::create_stamp) <= 3 * 4 * 2, "%d stamps",
              script->count(Call::create_stamp));
}
GST_END_TEST;

// Of the last frames, as many as may be in flight; each once.
GST_START_TEST(read_late) {
  Random random(28);
  const auto plain = test::open_test_device();
  constexpr std::uint64_t depth = 3;
  const Setting setting = small_setting(2, depth);
  stripe::Engine engine(plain, setting.shape(), setting.options);
  TimedFrame timed(*plain, setting, random);
  for (std::uint64_t i = 0; i < 10; ++i) {
    engine.wait(engine.submit(timed.frame.job(), timed.parameters));
    timed.parameters.timed = i != 8;
  }
  fail_unless(!engine.read_times(5) && !engine.read_times(0));
  std::vector<FrameTimes> frames;
  for (const stripe::Ticket ticket : {7, 8}) {
    const std::optional<FrameTimes> times = engine.read_times(ticket);
    fail_unless(times.has_value());
    frames.push_back(*times);
    frames.back().frame = ticket;
    fail_unless(!engine.read_times(ticket), "told twice");
  }
  for (const FrameTimes& frame : frames) fail_unless_equals_int(frame.stripes.size(), 2);
  expect_streams_in_order(frames);
  fail_unless(!engine.read_times(9), "of a frame that was not timed");
}
GST_END_TEST;

// --- failures

constexpr Call submit_calls[] = {Call::create_clock, Call::create_stamp, Call::stamp};
constexpr Call read_calls[] = {Call::anchor, Call::time_of};

/// Whether the error is the injected one.
template <typename Body>
bool fails_as_injected(Body body) {
  try {
    body();
  } catch (const stripe::DeviceError& error) {
    return std::string(error.what()) == test::injected_error &&
           error.kind() == stripe::DeviceErrorKind::failed;
  }
  return false;
}

void expect_orderly_failure(Call call, int nth, int delay_kib, Random& random) {
  const auto script = std::make_shared<Script>();
  script->work_delay_kib = delay_kib;
  {
    TimedRun run(test::decorate(test::open_test_device(), script), small_setting(3, 3), random);
    script->fail_kind = call;
    script->fail_this_kind = true;
    script->fail_at = nth;
    fail_unless(fails_as_injected([&] {
      for (int i = 0; i < 8; ++i) run.feed(test::staged, {.count = 4}, true);
      run.finish();
    }));
    fail_unless(script->fired());
    fail_unless(fails_as_injected([&] { run.engine().wait(0); }));
    fail_unless(fails_as_injected([&] { run.feed(test::staged, {}, false); }));
    run.abandon();
  }
  fail_unless_equals_int(script->live_objects(), 0);
}

GST_START_TEST(a_failure_of_timing_fails_the_engine) {
  Random random(27);
  const Call call = submit_calls[__i__];
  const int most = call == Call::create_clock ? 1 : 5;
  for (int nth = 1; nth <= most; ++nth)
    for (const int delay_kib : {0, 400}) expect_orderly_failure(call, nth, delay_kib, random);
}
GST_END_TEST;

// Only the times are lost: the frame is there, and the next ones are timed again.
GST_START_TEST(a_failure_of_reading_loses_no_frame) {
  Random random(29);
  const auto script = std::make_shared<Script>();
  const auto plain = test::open_test_device();
  const Setting setting = small_setting(2, 1);
  {
    stripe::Engine engine(test::decorate(plain, script), setting.shape(), setting.options);
    script->fail_kind = read_calls[__i__];
    script->fail_this_kind = true;
    script->fail_at = 2;
    int failed = 0;
    TimedFrame timed(*plain, setting, random);
    for (int i = 0; i < 6; ++i) {
      timed.frame.expect({.count = 2});
      const stripe::Ticket ticket = engine.submit(timed.frame.job(), timed.parameters);
      engine.wait(ticket);
      fail_unless_empty(timed.frame.verdict());
      failed += fails_as_injected([&] { fail_unless(engine.read_times(ticket).has_value()); });
    }
    fail_unless_equals_int(failed, 1);
  }
  fail_unless_equals_int(script->live_objects(), 0);
}
GST_END_TEST;

Suite* engine_timing_suite() {
  Suite* suite = suite_create("engine-timing");
  TCase* cases = tcase_create("timing");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, untimed_frames_take_no_stamps);
  tcase_add_test(cases, stamps_are_for_timed_frames_alone);
  tcase_add_test(cases, stripes_change_between_frames);
  tcase_add_test(cases, nobody_asks);
  tcase_add_test(cases, read_late);
  tcase_add_loop_test(cases, a_failure_of_timing_fails_the_engine, 0,
                      static_cast<int>(std::size(submit_calls)));
  tcase_add_loop_test(cases, a_failure_of_reading_loses_no_frame, 0,
                      static_cast<int>(std::size(read_calls)));
  return suite;
}

}  // namespace

LIBRARY_CHECK_MAIN(engine_timing)
