// SPDX-License-Identifier: LGPL-2.1-or-later

// Which device is chosen, and what the user is told when it is not the one he hoped for. Facts are
// made up, so that every machine's situation is tested on every machine.

#include "cuda/backend.h"

#include <optional>
#include <set>
#include <string>

#include "support/cuda_facts.h"
#include "support/library_main.h"

using stripe::Backend;
using stripe::CudaEnumeration;
using stripe::CudaFacts;
using stripe::DeviceErrorKind;
using namespace test;

namespace {

/// What choosing gave: a choice, or the error's kind and message.
struct Decision {
  stripe::BackendChoice choice;
  std::optional<DeviceErrorKind> error;
  std::string message;
};

Decision decide(Backend wanted, int id, const CudaFacts& facts) {
  try {
    return {stripe::choose_backend(wanted, id, facts), {}, {}};
  } catch (const stripe::DeviceError& error) {
    return {{}, error.kind(), error.what()};
  }
}

void expect_cuda(const Decision& decision, int id) {
  fail_if(decision.error, "%s", decision.message.c_str());
  fail_unless(decision.choice.backend == Backend::cuda);
  fail_unless_equals_int(decision.choice.cuda_device_id, id);
  fail_unless(decision.choice.fallback_reason.empty());
}

void expect_host_by_choice(const Decision& decision) {
  fail_if(decision.error, "%s", decision.message.c_str());
  fail_unless(decision.choice.backend == Backend::host);
  fail_unless(decision.choice.fallback_reason.empty());
}

void expect_fallback(const Decision& decision, const CudaFacts& facts) {
  fail_if(decision.error, "%s", decision.message.c_str());
  fail_unless(decision.choice.backend == Backend::host);
  fail_unless(decision.choice.fallback_reason == stripe::why_not_cuda(facts));
}

void expect_error(const Decision& decision, DeviceErrorKind kind, const std::string& words) {
  fail_unless(decision.error == kind);
  expect_in(decision.message, words.c_str());
}

}  // namespace

GST_START_TEST(nothing_against_a_usable_device) {
  fail_unless_empty(stripe::why_not_cuda(with_devices({h200})));
  fail_unless_empty(stripe::why_not_cuda(with_devices({titan, t4})));
}
GST_END_TEST;

GST_START_TEST(each_reason_names_its_cause) {
  expect_in(stripe::why_not_cuda(not_built()), "without CUDA");
  expect_in(stripe::why_not_cuda(no_driver()), "driver");
  expect_in(stripe::why_not_cuda(old_driver()), "12.4");
  expect_in(stripe::why_not_cuda(old_driver()), "13.0");
  expect_in(stripe::why_not_cuda(nothing_visible()), "CUDA_VISIBLE_DEVICES");
  expect_in(stripe::why_not_cuda(nothing_visible()), "7,8");
  expect_in(stripe::why_not_cuda(with_devices({titan})), "TITAN X");
  expect_in(stripe::why_not_cuda(with_devices({titan})), "no code for this architecture");
  expect_in(stripe::why_not_cuda(enumeration_failed()), "the words of the driver");
  expect_in(stripe::why_not_cuda(failed_process()), "an illegal memory access was encountered");
}
GST_END_TEST;

GST_START_TEST(reasons_differ) {
  std::set<std::string> reasons;
  for (const CudaFacts& facts : {not_built(), no_driver(), old_driver(), with_devices({}),
                                 with_devices({titan}), enumeration_failed(), failed_process()})
    reasons.insert(stripe::why_not_cuda(facts));
  fail_unless_equals_int(static_cast<int>(reasons.size()), 7);
  fail_unless_equals_int(static_cast<int>(reasons.count("")), 0);
}
GST_END_TEST;

// An unset CUDA_VISIBLE_DEVICES is not what hides the devices: naming it would mislead.
GST_START_TEST(unset_visible_devices_is_not_blamed) {
  const std::string reason = stripe::why_not_cuda(with_devices({}));
  fail_unless(reason.find("CUDA_VISIBLE_DEVICES") == std::string::npos, "%s", reason.c_str());
}
GST_END_TEST;

GST_START_TEST(devices_are_listed_by_clause) {
  const std::string list = stripe::describe_devices(with_devices({h200, titan}));
  expect_in(list, "0: NVIDIA H200 (sm_90)");
  expect_in(list, "1: TITAN X (sm_52)");
  expect_in(list, "no code for this architecture");
  fail_unless(list.find("NVIDIA H200") < list.find("TITAN X"));
  fail_if(stripe::describe_devices(with_devices({})).empty());
}
GST_END_TEST;

GST_START_TEST(host_never_asks_for_cuda) {
  for (const CudaFacts& facts : {not_built(), with_devices({h200}), failed_process(), old_driver()})
    for (const int id : {-1, 0, 5}) expect_host_by_choice(decide(Backend::host, id, facts));
}
GST_END_TEST;

GST_START_TEST(usable_devices_are_taken) {
  const CudaFacts facts = with_devices({titan, t4, {5, "NVIDIA H200", 9, 0, ""}});
  for (const Backend wanted : {Backend::automatic, Backend::cuda}) {
    expect_cuda(decide(wanted, -1, facts), 2);  // the first usable one, by its id
    expect_cuda(decide(wanted, 2, facts), 2);
    expect_cuda(decide(wanted, 5, facts), 5);
  }
}
GST_END_TEST;

GST_START_TEST(unusable_id_is_an_error_with_the_list) {
  const CudaFacts facts = with_devices({h200, titan});
  for (const Backend wanted : {Backend::automatic, Backend::cuda})
    for (const int id : {1, 7}) {
      const Decision decision = decide(wanted, id, facts);
      expect_error(decision, DeviceErrorKind::not_found, stripe::describe_devices(facts));
      expect_in(decision.message, id == 1 ? "1" : "7");
    }
}
GST_END_TEST;

GST_START_TEST(no_usable_device_at_all) {
  const CudaFacts facts = with_devices({titan});
  expect_fallback(decide(Backend::automatic, -1, facts), facts);
  expect_error(decide(Backend::automatic, 1, facts), DeviceErrorKind::not_found, "TITAN X");
  expect_error(decide(Backend::cuda, -1, facts), DeviceErrorKind::not_found, "TITAN X");
  expect_error(decide(Backend::cuda, 1, facts), DeviceErrorKind::not_found, "TITAN X");
}
GST_END_TEST;

// The one case in which an explicit id falls back: a machine without any device.
GST_START_TEST(no_device_at_all) {
  for (const CudaFacts& facts : {not_built(), no_driver(), old_driver(), with_devices({}),
                                 nothing_visible(), enumeration_failed()}) {
    for (const int id : {-1, 0, 3}) {
      expect_fallback(decide(Backend::automatic, id, facts), facts);
      expect_error(decide(Backend::cuda, id, facts), DeviceErrorKind::not_found,
                   stripe::why_not_cuda(facts));
    }
  }
}
GST_END_TEST;

GST_START_TEST(failed_process_repeats_the_cause) {
  const CudaFacts facts = failed_process();
  for (const Backend wanted : {Backend::automatic, Backend::cuda})
    for (const int id : {-1, 0, 3})
      expect_error(decide(wanted, id, facts), DeviceErrorKind::failed, facts.failure);
}
GST_END_TEST;

// In quotes, or a set and empty one, which hides every device, would be named without its value.
GST_START_TEST(visible_devices_are_quoted) {
  CudaFacts facts = nothing_visible();
  expect_in(stripe::why_not_cuda(facts), "CUDA_VISIBLE_DEVICES=\"7,8\"");
  facts.visible_devices = "\"\"";
  expect_in(stripe::why_not_cuda(facts), "CUDA_VISIBLE_DEVICES=\"\"");
}
GST_END_TEST;

// The environment is read once, so a run that has asked for CUDA already can't be told another one.
GST_START_TEST(empty_visible_devices_are_a_fact) {
  if (test::backend_is_cuda()) return;
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  const CudaFacts facts = stripe::cuda_facts();
  fail_unless_equals_string(facts.visible_devices.c_str(), facts.built ? "\"\"" : "");
}
GST_END_TEST;

GST_START_TEST(facts_of_this_machine_are_consistent) {
  const CudaFacts facts = stripe::cuda_facts();
  const CudaFacts again = stripe::cuda_facts();
  fail_unless(stripe::why_not_cuda(again) == stripe::why_not_cuda(facts));
  fail_unless_equals_int(static_cast<int>(again.devices.size()),
                         static_cast<int>(facts.devices.size()));
  fail_unless(facts.enumeration == CudaEnumeration::ok || facts.devices.empty());
}
GST_END_TEST;

GST_START_TEST(host_device_opens) {
  const auto device = stripe::open_device(decide(Backend::host, -1, stripe::cuda_facts()).choice);
  fail_unless_equals_string(device->info().backend.c_str(), "host");
  fail_if(device->info().name.empty());
}
GST_END_TEST;

static Suite* backend_suite() {
  Suite* suite = suite_create("backend");
  TCase* cases = tcase_create("backend");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, nothing_against_a_usable_device);
  tcase_add_test(cases, each_reason_names_its_cause);
  tcase_add_test(cases, reasons_differ);
  tcase_add_test(cases, unset_visible_devices_is_not_blamed);
  tcase_add_test(cases, devices_are_listed_by_clause);
  tcase_add_test(cases, host_never_asks_for_cuda);
  tcase_add_test(cases, usable_devices_are_taken);
  tcase_add_test(cases, unusable_id_is_an_error_with_the_list);
  tcase_add_test(cases, no_usable_device_at_all);
  tcase_add_test(cases, no_device_at_all);
  tcase_add_test(cases, failed_process_repeats_the_cause);
  tcase_add_test(cases, visible_devices_are_quoted);
  tcase_add_test(cases, empty_visible_devices_are_a_fact);
  tcase_add_test(cases, facts_of_this_machine_are_consistent);
  tcase_add_test(cases, host_device_opens);
  return suite;
}

LIBRARY_CHECK_MAIN(backend)
