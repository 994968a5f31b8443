// SPDX-License-Identifier: LGPL-2.1-or-later

// What is opened when a device that is listed can't be: another process has it for itself, or there
// is no memory for a context.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda/backend.h"
#include "support/cuda_facts.h"
#include "support/library_main.h"

using stripe::Backend;
using stripe::CudaFacts;
using stripe::DeviceErrorKind;
using namespace test;

namespace {

/// Opens what it is asked for, except the ids in `broken`. The device of an id is always the same.
class Opener {
 public:
  static constexpr int host = -1;

  std::map<int, stripe::DeviceError> broken;  ///< by id; `host` is the host device
  std::vector<int> asked;

  std::shared_ptr<stripe::Device> open(const stripe::BackendChoice& choice) {
    const int id = choice.backend == Backend::cuda ? choice.cuda_device_id : host;
    asked.push_back(id);
    if (const auto error = broken.find(id); error != broken.end()) throw error->second;
    return device(id);
  }

  std::shared_ptr<stripe::Device> device(int id) {
    auto& device = devices_[id];
    if (!device) device = stripe::open_device({});
    return device;
  }

 private:
  std::map<int, std::shared_ptr<stripe::Device>> devices_;
};

const stripe::DeviceError busy(DeviceErrorKind::failed, "another process has it for itself");
const stripe::DeviceError full(DeviceErrorKind::out_of_device_memory, "no room for a context");

/// What opening gave: a device, or the error's kind and message.
struct Opening {
  stripe::OpenedBackend opened;
  std::optional<DeviceErrorKind> error;
  std::string message;
};

Opening open_with(Opener& opener, Backend wanted, int id, const CudaFacts& facts) {
  try {
    const auto open = [&](const stripe::BackendChoice& choice) { return opener.open(choice); };
    return {stripe::open_backend(wanted, id, facts, open), {}, {}};
  } catch (const stripe::DeviceError& error) {
    return {{}, error.kind(), error.what()};
  }
}

/// `ids` were tried, in this order and no other, and the last one is what came of it.
void expect_opened(Opener& opener, const Opening& opening, const std::vector<int>& ids) {
  fail_if(opening.error, "%s", opening.message.c_str());
  fail_unless(opener.asked == ids, "%zu tries, the last one %d", opener.asked.size(),
              opener.asked.back());
  fail_unless(opening.opened.device == opener.device(ids.back()));
}

void expect_not_opened(const Opener& opener, const Opening& opening, DeviceErrorKind kind,
                       const std::vector<int>& ids) {
  fail_unless(opening.error == kind);
  fail_unless(opener.asked == ids, "%zu tries", opener.asked.size());
}

}  // namespace

GST_START_TEST(first_usable_device_is_opened) {
  for (const Backend wanted : {Backend::automatic, Backend::cuda}) {
    Opener opener;
    const Opening opening = open_with(opener, wanted, -1, with_devices({titan, t4, h200}));
    expect_opened(opener, opening, {t4.id});
    fail_unless_empty(opening.opened.fallback_reason);
  }
}
GST_END_TEST;

GST_START_TEST(device_that_cannot_be_opened_is_passed_over) {
  for (const Backend wanted : {Backend::automatic, Backend::cuda})
    for (const stripe::DeviceError& error : {busy, full}) {
      Opener opener;
      opener.broken.insert({h200.id, error});
      const Opening opening = open_with(opener, wanted, -1, with_devices({h200, titan, t4}));
      expect_opened(opener, opening, {h200.id, t4.id});
      fail_unless_empty(opening.opened.fallback_reason);
    }
}
GST_END_TEST;

GST_START_TEST(automatic_falls_back_when_none_can_be_opened) {
  Opener opener;
  opener.broken = {{h200.id, busy}, {t4.id, full}};
  const Opening opening = open_with(opener, Backend::automatic, -1, with_devices({h200, t4}));
  expect_opened(opener, opening, {h200.id, t4.id, Opener::host});
  for (const char* word : {"NVIDIA H200", busy.what(), "Tesla T4", full.what()})
    expect_in(opening.opened.fallback_reason, word);
}
GST_END_TEST;

GST_START_TEST(automatic_without_a_device_opens_the_host) {
  for (const CudaFacts& facts : {not_built(), nothing_visible(), with_devices({titan})}) {
    Opener opener;
    const Opening opening = open_with(opener, Backend::automatic, -1, facts);
    expect_opened(opener, opening, {Opener::host});
    fail_unless(opening.opened.fallback_reason == stripe::why_not_cuda(facts));
  }
}
GST_END_TEST;

GST_START_TEST(device_asked_for_by_id_has_no_substitute) {
  for (const Backend wanted : {Backend::automatic, Backend::cuda})
    for (const stripe::DeviceError& error : {busy, full}) {
      Opener opener;
      opener.broken.insert({t4.id, error});
      const Opening opening = open_with(opener, wanted, t4.id, with_devices({h200, t4}));
      expect_not_opened(opener, opening, error.kind(), {t4.id});
      fail_unless_equals_string(opening.message.c_str(), error.what());
    }
}
GST_END_TEST;

GST_START_TEST(cuda_has_no_substitute) {
  Opener opener;
  opener.broken = {{h200.id, busy}, {t4.id, full}};
  const Opening opening = open_with(opener, Backend::cuda, -1, with_devices({h200, titan, t4}));
  expect_not_opened(opener, opening, DeviceErrorKind::not_found, {h200.id, t4.id});
  for (const char* word : {busy.what(), "no code for this architecture", full.what()})
    expect_in(opening.message, word);
}
GST_END_TEST;

GST_START_TEST(host_that_cannot_be_opened_is_the_end) {
  for (const Backend wanted : {Backend::automatic, Backend::host}) {
    Opener opener;
    opener.broken.insert({Opener::host, full});
    const Opening opening = open_with(opener, wanted, -1, with_devices({}));
    expect_not_opened(opener, opening, full.kind(), {Opener::host});
    fail_unless_equals_string(opening.message.c_str(), full.what());
  }
}
GST_END_TEST;

GST_START_TEST(nothing_is_opened_after_a_failure) {
  for (const Backend wanted : {Backend::automatic, Backend::cuda}) {
    Opener opener;
    const CudaFacts facts = failed_process();
    const Opening opening = open_with(opener, wanted, -1, facts);
    expect_not_opened(opener, opening, DeviceErrorKind::failed, {});
    expect_in(opening.message, facts.failure.c_str());
  }
}
GST_END_TEST;

static Suite* backend_opening_suite() {
  Suite* suite = suite_create("backend-opening");
  TCase* cases = tcase_create("opening");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, first_usable_device_is_opened);
  tcase_add_test(cases, device_that_cannot_be_opened_is_passed_over);
  tcase_add_test(cases, automatic_falls_back_when_none_can_be_opened);
  tcase_add_test(cases, automatic_without_a_device_opens_the_host);
  tcase_add_test(cases, device_asked_for_by_id_has_no_substitute);
  tcase_add_test(cases, cuda_has_no_substitute);
  tcase_add_test(cases, host_that_cannot_be_opened_is_the_end);
  tcase_add_test(cases, nothing_is_opened_after_a_failure);
  return suite;
}

LIBRARY_CHECK_MAIN(backend_opening)
