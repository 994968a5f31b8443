// SPDX-License-Identifier: LGPL-2.1-or-later
// Which backend runs, and what is said when it is not the one that was hoped for. What is expected
// depends on whether this machine has a usable device, which backend=cuda itself is asked.

#include <algorithm>
#include <string>

#include "gst/frames.h"
#include "gst/support.h"
#include "support/backend.h"

namespace {

using namespace test;

/// Whether backend=cuda starts here. In a run for cuda it must: main has tried.
bool cuda_is_usable() { return try_backend("cuda", -1).started; }

bool is_not_found(const Report& report) {
  return report.domain == GST_RESOURCE_ERROR && report.code == GST_RESOURCE_ERROR_NOT_FOUND;
}

void expect_not_found(const StartResult& result) {
  fail_unless(!result.started);
  fail_unless_equals_int(result.errors.size(), 1);
  fail_unless(is_not_found(result.errors[0]), "%s", result.errors[0].text.c_str());
}

/// The warning comes once a process, and the cases of this program may share one.
StartResult start_automatically(int cuda_device_id) {
  static bool warned = false;
  StartResult result = try_backend("auto", cuda_device_id);
  fail_unless(result.started);
  const std::vector<Report>& expected = warned ? result.infos : result.warnings;
  const std::vector<Report>& unexpected = warned ? result.warnings : result.infos;
  fail_unless_equals_int(std::count_if(expected.begin(), expected.end(), is_not_found), 1);
  fail_unless_equals_int(std::count_if(unexpected.begin(), unexpected.end(), is_not_found), 0);
  fail_unless_equals_int(result.errors.size(), 0);
  warned = true;
  return result;
}

GST_START_TEST(host_is_always_there) {
  for (const int id : {-1, 0, 99}) {
    const StartResult result = try_backend("host", id);
    fail_unless(result.started && result.errors.empty() && result.warnings.empty());
  }
}
GST_END_TEST;

// One of the five reasons, in words that name what is missing.
GST_START_TEST(cuda_without_a_device) {
  if (cuda_is_usable()) return;
  const StartResult result = try_backend("cuda", -1);
  expect_not_found(result);
  const std::string words = result.errors[0].text + " " + result.errors[0].debug;
  const char* const reasons[] = {"without CUDA", "driver", "device", "architecture"};
  fail_unless(
      std::any_of(std::begin(reasons), std::end(reasons),
                  [&](const char* reason) { return words.find(reason) != std::string::npos; }),
      "%s", words.c_str());
}
GST_END_TEST;

GST_START_TEST(cuda_without_a_device_can_become_host) {
  if (cuda_is_usable()) return;
  Ref<GstElement> element = make_element();
  set_nick(element.get(), "backend", "cuda");
  expect_not_found(try_start(element.get()));
  set_nick(element.get(), "backend", "host");
  Rig rig(std::move(element));
  const Ref<GstCaps> caps = make_caps("RGB", 16, 16);
  Random random(100);
  rig.set_caps(caps.get());
  const Frame input = make_plain_frame(caps.get(), random);
  const Ref<GstBuffer> output = rig.process(input.share());
  fail_unless_empty(mistake(output.get(), caps.get(), input.image->view(), Effect::none));
}
GST_END_TEST;

GST_START_TEST(auto_without_a_device_is_host) {
  if (cuda_is_usable()) return;
  for (int i = 0; i < 3; ++i) start_automatically(-1);
  const Ref<GstElement> element = make_element();
  set_nick(element.get(), "backend", "auto");
  gst_element_set_state(element.get(), GST_STATE_PAUSED);
  fail_unless(stat_string(element.get(), "backend") == "host");
  // What was asked for stays what it was.
  fail_unless_equals_string(nick_of(element.get(), "backend"), "auto");
  gst_element_set_state(element.get(), GST_STATE_NULL);
}
GST_END_TEST;

GST_START_TEST(auto_without_a_device_ignores_the_id) {
  if (cuda_is_usable()) return;
  start_automatically(99);
  start_automatically(0);
}
GST_END_TEST;

GST_START_TEST(auto_with_a_device_is_cuda) {
  if (!cuda_is_usable()) return;
  const Ref<GstElement> element = make_element();
  set_nick(element.get(), "backend", "auto");
  const StartResult result = try_start(element.get());
  fail_unless(result.started && result.warnings.empty() && result.infos.empty());
  gst_element_set_state(element.get(), GST_STATE_PAUSED);
  fail_unless(stat_string(element.get(), "backend") == "cuda");
  gst_element_set_state(element.get(), GST_STATE_NULL);
}
GST_END_TEST;

// An explicit id that is not there is an error, with the list of those that are.
GST_START_TEST(an_id_that_is_not_there) {
  expect_not_found(try_backend("cuda", 99));
  if (!cuda_is_usable()) return;
  for (const char* backend : {"auto", "cuda"}) {
    const StartResult result = try_backend(backend, 99);
    expect_not_found(result);
    const std::string words = result.errors[0].text + " " + result.errors[0].debug;
    fail_unless(words.find("0: ") != std::string::npos, "%s", words.c_str());
  }
}
GST_END_TEST;

GST_START_TEST(an_id_that_is_there) {
  if (!cuda_is_usable()) return;
  for (const char* backend : {"auto", "cuda"}) fail_unless(try_backend(backend, 0).started);
}
GST_END_TEST;

// A failed start leaves nothing behind: it can be tried again and again.
GST_START_TEST(failing_starts) {
  const Ref<GstElement> element = make_element();
  set_nick(element.get(), "backend", "cuda");
  g_object_set(element.get(), "cuda-device-id", 99, nullptr);
  for (int i = 0; i < 20; ++i) expect_not_found(try_start(element.get()));
  set_nick(element.get(), "backend", backend_name());
  g_object_set(element.get(), "cuda-device-id", -1, nullptr);
  fail_unless(try_start(element.get()).started);
}
GST_END_TEST;

Suite* element_backends_suite() {
  Suite* suite = suite_create("element-backends");
  TCase* cases = tcase_create("backends");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, host_is_always_there);
  tcase_add_test(cases, cuda_without_a_device);
  tcase_add_test(cases, cuda_without_a_device_can_become_host);
  tcase_add_test(cases, auto_without_a_device_is_host);
  tcase_add_test(cases, auto_without_a_device_ignores_the_id);
  tcase_add_test(cases, auto_with_a_device_is_cuda);
  tcase_add_test(cases, an_id_that_is_not_there);
  tcase_add_test(cases, an_id_that_is_there);
  tcase_add_test(cases, failing_starts);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_backends)
