// SPDX-License-Identifier: LGPL-2.1-or-later

// How cuda-stripe-doctor measures: what fails is told in its place, and the rest is measured.

#include <memory>
#include <vector>

#include "support/decorated_device.h"
#include "support/library_main.h"
#include "tests/doctor/copies.h"

using doctor::FrameTimes;
using doctor::Timing;
using test::Call;

namespace {

constexpr std::size_t size_bytes = 64 * 1024 - 4;

std::vector<Timing> page_locked_of(const FrameTimes& times) {
  return {times.page_locked.upload, times.page_locked.download, times.page_locked.both};
}

// All that every device can do: the host's has no page-locked memory.
std::vector<Timing> others_of(const FrameTimes& times) {
  return {times.pageable.upload, times.pageable.download, times.pageable.both, times.page_lock};
}

std::vector<Timing> measurable_of(const FrameTimes& times) {
  std::vector<Timing> all = others_of(times);
  if (test::backend_is_cuda())
    for (const Timing& timing : page_locked_of(times)) all.push_back(timing);
  return all;
}

int count_failures(const std::vector<Timing>& all) {
  int failures = 0;
  for (const Timing& timing : all) {
    fail_unless((timing.us > 0) == timing.failure.empty());
    if (timing.failure == test::injected_error) ++failures;
  }
  return failures;
}

// Pinned blocks are asked for by copies that the host's device can't make anyway.
const Call calls[] = {Call::allocate, Call::create_queue, Call::copy, Call::synchronize,
                      Call::page_lock};

}  // namespace

GST_START_TEST(everything_is_measured) {
  const auto device = test::open_test_device();
  const FrameTimes times = doctor::time_frame(*device, size_bytes);
  for (const Timing& timing : measurable_of(times)) {
    fail_unless_equals_string(timing.failure.c_str(), "");
    fail_unless(timing.us > 0);
  }
  fail_unless(!test::backend_is_cuda() || times.page_unlock.us > 0);
}
GST_END_TEST;

// Plain memory must not pass for page-locked.
GST_START_TEST(memory_that_is_not_page_locked_is_told) {
  if (test::backend_is_cuda()) return;
  const auto device = test::open_test_device();
  for (const Timing& timing : page_locked_of(doctor::time_frame(*device, size_bytes)))
    fail_unless_equals_string(timing.failure.c_str(), "no page-locked memory was given");
}
GST_END_TEST;

GST_START_TEST(one_failure_costs_one_figure) {
  const auto script = std::make_shared<test::Script>();
  const auto device = test::decorate(test::open_test_device(), script);
  script->fail_kind = calls[__i__];
  script->fail_this_kind = true;
  script->fail_at = 1;
  const FrameTimes times = doctor::time_frame(*device, size_bytes);
  fail_unless(script->fired());
  fail_unless_equals_int(count_failures(measurable_of(times)), 1);
  fail_unless_equals_int(script->live_objects(), 0);
}
GST_END_TEST;

GST_START_TEST(lost_device_fails_all_that_follows) {
  const auto script = std::make_shared<test::Script>();
  const auto device = test::decorate(test::open_test_device(), script);
  script->fail_at = 1;
  script->fail_ever_after = true;
  const auto all = measurable_of(doctor::time_frame(*device, size_bytes));
  fail_unless_equals_int(count_failures(all), static_cast<int>(all.size()));
  fail_unless_equals_int(script->live_objects(), 0);
}
GST_END_TEST;

static Suite* doctor_copies_suite() {
  Suite* suite = suite_create("doctor-copies");
  TCase* cases = tcase_create("doctor-copies");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, everything_is_measured);
  tcase_add_test(cases, memory_that_is_not_page_locked_is_told);
  tcase_add_loop_test(cases, one_failure_costs_one_figure, 0, G_N_ELEMENTS(calls));
  tcase_add_test(cases, lost_device_fails_all_that_follows);
  return suite;
}

LIBRARY_CHECK_MAIN(doctor_copies)
