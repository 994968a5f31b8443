// SPDX-License-Identifier: LGPL-2.1-or-later
// What the engine tells of timed frames is true: all of their work, in order, on the host's clock.

#include <algorithm>

#include "support/decorated_device.h"
#include "support/timed_run.h"

using stripe::FrameTimes;
using stripe::Span;
using stripe::StripeTimes;
using stripe::Time;
using stripe::Transfer;
using test::Access;
using test::expect_in_order;
using test::expect_streams_in_order;
using test::Random;
using test::Script;
using test::Setting;
using test::TimedRun;
using test::Treatment;
using test::whole_of;
using test::work_of;

namespace {

/// How far the two clocks may be apart.
constexpr Time clock_error = 20'000;

const Access in_staged{stripe::HostAccess::staged, stripe::HostAccess::direct, true};
const Access out_staged{stripe::HostAccess::direct, stripe::HostAccess::staged, true};

// --- truth

void expect_stripes(const FrameTimes& frame, int stripes, int streams) {
  fail_unless_equals_int(frame.stripes.size(), stripes);
  for (int k = 0; k < stripes; ++k) {
    const StripeTimes& stripe = frame.stripes[static_cast<std::size_t>(k)];
    fail_unless_equals_int(stripe.stripe, k);
    fail_unless_equals_uint64(stripe.stream,
                              (frame.frame * static_cast<std::uint64_t>(stripes) + k) % streams);
    const std::vector<Span> work = work_of(stripe);
    for (std::size_t i = 1; i < work.size(); ++i)
      expect_in_order(work[i - 1], work[i], "a kernel or a download");
  }
}

// Nothing is done before submit begins, and all is done when wait ends.
void expect_on_the_host_s_clock(const FrameTimes& frame) {
  expect_in_order(frame.submit, frame.wait, "the wait");
  fail_unless(frame.submit.length() > 0 && frame.push == Span{});
  for (const StripeTimes& stripe : frame.stripes) {
    const Time early = frame.submit.begin - whole_of(stripe).begin;
    const Time late = whole_of(stripe).end - frame.wait.end;
    fail_unless(early <= clock_error, "%lld ns before submit", static_cast<long long>(early));
    fail_unless(late <= clock_error, "%lld ns after wait", static_cast<long long>(late));
  }
}

void expect_staging(const FrameTimes& frame, const Access& access, int copies) {
  const bool in = access.input == stripe::HostAccess::staged;
  const bool out = access.output == stripe::HostAccess::staged;
  fail_unless_equals_int(frame.staging_in.size(), in ? copies : 0);
  fail_unless_equals_int(frame.staging_out.size(), out ? copies : 0);
  for (const Span& span : frame.staging_in)
    fail_unless(frame.submit.begin <= span.begin && span.begin <= span.end &&
                span.end <= frame.submit.end);
  for (const Span& span : frame.staging_out)
    fail_unless(frame.wait.begin <= span.begin && span.begin <= span.end &&
                span.end <= frame.wait.end);
  Time last = 0;
  for (const StripeTimes& stripe : frame.stripes) last = std::max(last, whole_of(stripe).end);
  fail_unless(frame.complete == (out ? frame.wait.end : last), "complete at another time");
}

void expect_transfer(const FrameTimes& frame, const Setting& setting) {
  const bool copied = setting.options.transfer == Transfer::copy;
  fail_unless(frame.transfer == setting.options.transfer);
  const std::uint64_t bytes = copied ? test::sample_bytes(setting) : 0;
  fail_unless_equals_uint64(frame.bytes_uploaded, bytes);
  fail_unless_equals_uint64(frame.bytes_downloaded, bytes);
  for (const StripeTimes& stripe : frame.stripes) {
    fail_unless(copied || (stripe.upload.length() == 0 && stripe.download.length() == 0));
    fail_unless(stripe.kernel.length() > 0, "a kernel that takes no time");
    fail_unless(!copied || (stripe.upload.length() > 0 && stripe.download.length() > 0));
  }
}

void expect_truth(const std::vector<FrameTimes>& frames, const Setting& setting,
                  const Access& access, int stripes) {
  for (const FrameTimes& frame : frames) {
    expect_stripes(frame, stripes, setting.options.stream_count);
    expect_on_the_host_s_clock(frame);
    expect_staging(frame, access, stripes * setting.format->planes);
    expect_transfer(frame, setting);
  }
  expect_streams_in_order(frames);
}

const Access accesses[] = {test::page_locked, test::staged, in_staged, out_staged};

void run_and_expect_truth(const Setting& setting, Random& random) {
  for (const Access& access : accesses)
    for (const int stripes : {1, 3, 8}) {
      TimedRun run(test::open_test_device(), setting, random);
      const Treatment treatment{test::Effect::invert, test::bt709_full, stripe::StripeLayout::rows,
                                stripes};
      for (int i = 0; i < 7; ++i) run.feed(access, treatment, true);
      run.finish();
      fail_unless_equals_int(run.times.size(), 7);
      expect_truth(run.times, setting, access, stripes);
    }
}

GST_START_TEST(times_are_true) {
  Random random(20);
  for (const char* format : {"RGB", "I420"})
    for (const int streams : {1, 2, 3, 8})
      for (const int depth : {1, 3})
        run_and_expect_truth({&test::format_named(format),
                              98,
                              66,
                              false,
                              {streams, depth, __i__ ? Transfer::mapped : Transfer::copy}},
                             random);
}
GST_END_TEST;

// Large frames one after another: streams are never idle.
GST_START_TEST(times_of_large_frames_are_true) {
  Random random(21);
  const Setting setting{&test::format_named("RGBA"), 1920, 1080, false, {3, 3, Transfer::copy}};
  TimedRun run(test::open_test_device(), setting, random);
  for (int i = 0; i < 12; ++i) run.feed(test::page_locked, {.count = 1 + i % 2 * 2}, true);
  run.finish();
  expect_streams_in_order(run.times);
  for (const FrameTimes& frame : run.times) {
    expect_on_the_host_s_clock(frame);
    expect_transfer(frame, setting);
  }
}
GST_END_TEST;

// A side that kernels can't reach is copied, and its bytes and times say so.
GST_START_TEST(mapped_in_vain) {
  Random random(22);
  const auto script = std::make_shared<Script>();
  script->unmapped_one_in = 1;
  const Setting setting{&test::format_named("GRAY8"), 640, 480, false, {2, 2, Transfer::mapped}};
  TimedRun run(test::decorate(test::open_test_device(), script), setting, random);
  for (int i = 0; i < 5; ++i) run.feed(test::page_locked, {.count = 2}, true);
  run.finish();
  expect_streams_in_order(run.times);
  for (const FrameTimes& frame : run.times) {
    fail_unless_equals_uint64(frame.bytes_uploaded, 640 * 480);
    fail_unless_equals_uint64(frame.bytes_downloaded, 640 * 480);
    for (const StripeTimes& stripe : frame.stripes)
      fail_unless(stripe.upload.length() > 0 && stripe.download.length() > 0);
  }
}
GST_END_TEST;

Suite* engine_times_suite() {
  Suite* suite = suite_create("engine-times");
  TCase* cases = tcase_create("times");
  suite_add_tcase(suite, cases);
  tcase_add_loop_test(cases, times_are_true, 0, 2);
  tcase_add_test(cases, times_of_large_frames_are_true);
  tcase_add_test(cases, mapped_in_vain);
  return suite;
}

}  // namespace

LIBRARY_CHECK_MAIN(engine_times)
