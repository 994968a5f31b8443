// SPDX-License-Identifier: LGPL-2.1-or-later
// Each reason why copies and kernels don't overlap, on made-up devices and environments.

#include "cuda/advice.h"

#include <cstdlib>
#include <set>

#include "support/library_main.h"
#include "support/made_times.h"

using stripe::Advice;
using stripe::Cause;
using stripe::Situation;

namespace {

/// A GPU with two copy engines, an HD picture, nothing asked for: all is well.
Situation good_situation() {
  Situation s;
  s.device = {"cuda", "NVIDIA H200", false, 2};
  s.request = {0, 0, 3, stripe::TransferMode::automatic, true};
  s.choice = {3, 1, stripe::Transfer::copy};
  s.frame_bytes = 1920 * 1080 * 3;
  s.stripes = 1;
  return s;
}

Situation host_situation() {
  Situation s = good_situation();
  s.device = {"host", "CPU", true, 0};
  s.choice.transfer = stripe::Transfer::mapped;
  return s;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Fails unless this is the one reason, with these words in its text and its hint.
void expect_only(const std::vector<Advice>& all, Cause cause, bool is_users_choice,
                 const char* in_text, const char* in_hint) {
  fail_unless(all.size() == 1, "%zu reasons instead of one: %s", all.size(),
              all.empty() ? "" : all.back().text.c_str());
  const Advice& advice = all.front();
  fail_unless(advice.cause == cause, "another reason: %s", advice.text.c_str());
  fail_unless(advice.is_users_choice == is_users_choice, "%s", advice.text.c_str());
  fail_unless(contains(advice.text, in_text), "no '%s' in: %s", in_text, advice.text.c_str());
  fail_unless(contains(advice.hint, in_hint), "no '%s' in: %s", in_hint, advice.hint.c_str());
  fail_unless(advice.text.back() != '.', "the message adds the full stop: %s", advice.text.c_str());
}

void expect_none(const Situation& s) {
  const std::vector<Advice> all = stripe::advise(s);
  fail_unless(all.empty(), "%s", all.empty() ? "" : all.front().text.c_str());
}

GST_START_TEST(nothing_where_all_is_well) {
  expect_none(good_situation());
  expect_none(host_situation());
  Situation s = good_situation();
  s.request.stream_count = 1;  // frames in flight do overlap each other's streams no more, but
  s.choice.stream_count = 1;   // their staging and waiting
  expect_none(s);
  s = good_situation();
  s.request.depth = 1;
  s.choice.stripe_count = s.stripes = 3;
  expect_none(s);
  s = good_situation();
  s.device.copy_engines = 7;
  s.launch_blocking = std::string("0");
  s.max_connections = std::string("8");
  expect_none(s);
}
GST_END_TEST;

GST_START_TEST(not_page_locked) {
  Situation s = good_situation();
  s.request.page_locked = false;
  expect_only(stripe::advise(s), Cause::not_page_locked, true, "page-lock=off", "page-lock=auto");
}
GST_END_TEST;

GST_START_TEST(single_stream) {
  for (Situation s : {good_situation(), host_situation()}) {
    s.request.stream_count = s.choice.stream_count = 1;
    s.request.depth = 1;
    expect_only(stripe::advise(s), Cause::single_stream, true, "stream-count=1 with async-depth=1",
                "async-depth=3");
  }
}
GST_END_TEST;

GST_START_TEST(one_copy_engine) {
  Situation s = good_situation();
  s.device.copy_engines = 1;
  expect_only(stripe::advise(s), Cause::one_copy_engine, false, "one copy engine",
              "transfer-mode=mapped");
  s.choice.transfer = stripe::Transfer::mapped;
  expect_none(s);
}
GST_END_TEST;

GST_START_TEST(launch_blocking) {
  for (const char* value : {"1", "2", "yes"}) {
    Situation s = good_situation();
    s.launch_blocking = value;
    expect_only(stripe::advise(s), Cause::launch_blocking, false,
                (std::string("CUDA_LAUNCH_BLOCKING=") + value).c_str(),
                "unset CUDA_LAUNCH_BLOCKING");
  }
}
GST_END_TEST;

GST_START_TEST(one_connection) {
  Situation s = good_situation();
  s.max_connections = std::string("1");
  expect_only(stripe::advise(s), Cause::one_connection, false, "CUDA_DEVICE_MAX_CONNECTIONS=1",
              "unset CUDA_DEVICE_MAX_CONNECTIONS");
  for (const char* value : {"2", "11", "32"}) {
    s.max_connections = value;
    expect_none(s);
  }
}
GST_END_TEST;

// A stripe of 170 KB is the smallest that uses half of the link.
GST_START_TEST(stripes_of_few_bytes) {
  Situation s = good_situation();
  s.request.stripe_count = s.choice.stripe_count = s.stripes = 4;
  s.frame_bytes = 4 * stripe::small_copy_bytes;
  expect_none(s);
  s.frame_bytes -= 1;
  expect_only(stripe::advise(s), Cause::small_frame, false, "too small for 4 stripes",
              "stripe-count=0");
  s.choice.transfer = stripe::Transfer::mapped;
  expect_none(s);
}
GST_END_TEST;

// One stripe, or a number that was chosen, is no mistake of the user's.
GST_START_TEST(small_frames_as_chosen) {
  Situation s = good_situation();
  s.frame_bytes = 64 * 48;
  expect_none(s);
  s.request.stripe_count = 1;
  expect_none(s);
}
GST_END_TEST;

GST_START_TEST(fewer_units_than_stripes) {
  for (Situation s : {good_situation(), host_situation()}) {
    s.request.stripe_count = s.choice.stripe_count = 200;
    s.frame_bytes = 1'000'000'000;
    s.stripes = 200;
    expect_none(s);
    s.stripes = 54;
    expect_only(stripe::advise(s), Cause::small_frame, false, "too small for 200 stripes",
                "stripe-count=0");
    fail_unless(contains(stripe::advise(s).front().text, "54"));
  }
}
GST_END_TEST;

/// Everything that can be wrong before the first frame.
Situation worst_situation() {
  Situation s = good_situation();
  s.request = {1, 100, 1, stripe::TransferMode::copy, false};
  s.choice = {1, 100, stripe::Transfer::copy};
  s.device.copy_engines = 1;
  s.frame_bytes = 64 * 16;
  s.stripes = 16;
  s.launch_blocking = s.max_connections = std::string("1");
  return s;
}

GST_START_TEST(all_causes_at_once) {
  std::set<Cause> causes;
  std::set<std::string> texts;
  for (const Advice& advice : stripe::advise(worst_situation())) {
    causes.insert(advice.cause);
    fail_unless(texts.insert(advice.text).second, "twice: %s", advice.text.c_str());
    fail_unless(!advice.hint.empty() && advice.hint != advice.text);
  }
  fail_unless_equals_int(causes.size(), 6);
}
GST_END_TEST;

// The CPU works in its own memory: CUDA's troubles are not its own.
GST_START_TEST(host_is_told_only_what_concerns_it) {
  Situation s = worst_situation();
  s.device = host_situation().device;
  std::set<Cause> causes;
  for (const Advice& advice : stripe::advise(s)) causes.insert(advice.cause);
  const std::set<Cause> expected{Cause::single_stream, Cause::small_frame};
  fail_unless(causes == expected);
}
GST_END_TEST;

stripe::Overlap overlap_of(stripe::Time upload, stripe::Time kernel) {
  const stripe::Time a = upload * 1000, b = a + kernel * 1000;
  return stripe::measure_overlap(
      std::vector{test::made_frame(0, {0, a}, {a, b}, {b, b + upload * 1000})});
}

GST_START_TEST(kernel_bound) {
  const stripe::DeviceInfo gpu = good_situation().device;
  expect_only(stripe::advise(overlap_of(10, 380), gpu), Cause::kernel_bound, false,
              "kernels ran for 95 % of the time", "another process");
  fail_unless(stripe::advise(overlap_of(100, 90), gpu).empty());
  fail_unless(stripe::advise({}, gpu).empty());
  fail_unless(stripe::advise(overlap_of(10, 380), host_situation().device).empty());
}
GST_END_TEST;

GST_START_TEST(new_memory) {
  expect_only({stripe::advise_on_new_memory()}, Cause::new_memory, false, "new memory", "pool");
}
GST_END_TEST;

GST_START_TEST(environment_is_read) {
  Situation s = good_situation();
  unsetenv("CUDA_LAUNCH_BLOCKING");
  unsetenv("CUDA_DEVICE_MAX_CONNECTIONS");
  s.launch_blocking = s.max_connections = std::string("old");
  stripe::read_environment(s);
  fail_unless(s.launch_blocking.empty() && s.max_connections.empty());
  expect_none(s);
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 1);
  stripe::read_environment(s);
  fail_unless_equals_string(s.launch_blocking.c_str(), "1");
  fail_unless_equals_string(s.max_connections.c_str(), "1");
  fail_unless_equals_int(stripe::advise(s).size(), 2);
  unsetenv("CUDA_LAUNCH_BLOCKING");
  unsetenv("CUDA_DEVICE_MAX_CONNECTIONS");
}
GST_END_TEST;

Suite* advice_suite() {
  Suite* suite = suite_create("advice");
  TCase* cases = tcase_create("advice");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, nothing_where_all_is_well);
  tcase_add_test(cases, not_page_locked);
  tcase_add_test(cases, single_stream);
  tcase_add_test(cases, one_copy_engine);
  tcase_add_test(cases, launch_blocking);
  tcase_add_test(cases, one_connection);
  tcase_add_test(cases, stripes_of_few_bytes);
  tcase_add_test(cases, small_frames_as_chosen);
  tcase_add_test(cases, fewer_units_than_stripes);
  tcase_add_test(cases, all_causes_at_once);
  tcase_add_test(cases, host_is_told_only_what_concerns_it);
  tcase_add_test(cases, kernel_bound);
  tcase_add_test(cases, new_memory);
  tcase_add_test(cases, environment_is_read);
  return suite;
}

}  // namespace

LIBRARY_CHECK_MAIN(advice)
