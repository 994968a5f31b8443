// SPDX-License-Identifier: LGPL-2.1-or-later

// What is decided where the user leaves it open, and the words for it.

#include "cuda/choice.h"

#include <string>

#include "support/library_main.h"

using stripe::Choice;
using stripe::ChoiceRequest;
using stripe::DeviceInfo;
using stripe::Transfer;
using stripe::TransferMode;

namespace {

DeviceInfo a_device(bool shares_memory, int copy_engines = 2) {
  return {"cuda", "A device", shares_memory, copy_engines};
}

ChoiceRequest transfer_request(TransferMode mode, bool page_locked) {
  ChoiceRequest request;
  request.transfer = mode;
  request.page_locked = page_locked;
  return request;
}

struct TransferCase {
  TransferMode mode;
  bool page_locked;
  bool shares_memory;
  Transfer wanted;
};

constexpr TransferCase transfer_cases[] = {{TransferMode::automatic, true, true, Transfer::mapped},
                                           {TransferMode::automatic, true, false, Transfer::copy},
                                           {TransferMode::copy, true, true, Transfer::copy},
                                           {TransferMode::copy, true, false, Transfer::copy},
                                           {TransferMode::mapped, true, true, Transfer::mapped},
                                           {TransferMode::mapped, true, false, Transfer::mapped},
                                           // Pageable memory can't be mapped, whoever asks for it.
                                           {TransferMode::automatic, false, true, Transfer::copy},
                                           {TransferMode::automatic, false, false, Transfer::copy},
                                           {TransferMode::copy, false, true, Transfer::copy},
                                           {TransferMode::copy, false, false, Transfer::copy},
                                           {TransferMode::mapped, false, true, Transfer::copy},
                                           {TransferMode::mapped, false, false, Transfer::copy}};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

GST_START_TEST(transfers) {
  const TransferCase& entry = transfer_cases[__i__];
  for (const int copy_engines : {0, 1, 5})
    fail_unless(choose(transfer_request(entry.mode, entry.page_locked),
                       a_device(entry.shares_memory, copy_engines))
                    .transfer == entry.wanted);
}
GST_END_TEST;

GST_START_TEST(counts_that_are_asked_for_stay) {
  for (const int depth : {1, 2, 16})
    for (const int count : {1, 2, 7, 256}) {
      const Choice choice = choose({count, count + 1, depth}, a_device(false));
      fail_unless_equals_int(choice.stream_count, count);
      fail_unless_equals_int(choice.stripe_count, count + 1);
    }
}
GST_END_TEST;

// A frame that is alone in flight has only its own stripes to overlap with.
GST_START_TEST(counts_that_are_left_open) {
  for (const bool shares_memory : {true, false}) {
    fail_unless_equals_int(choose({0, 0, 1}, a_device(shares_memory)).stripe_count, 3);
    for (const int depth : {2, 3, 16})
      fail_unless_equals_int(choose({0, 0, depth}, a_device(shares_memory)).stripe_count, 1);
    for (const int depth : {1, 3})
      fail_unless_equals_int(choose({0, 5, depth}, a_device(shares_memory)).stream_count, 3);
    fail_unless_equals_int(choose({7, 0, 1}, a_device(shares_memory)).stripe_count, 3);
  }
}
GST_END_TEST;

// The sentence must not say another thing than what is done.
GST_START_TEST(the_sentence_names_the_transfer) {
  const TransferCase& entry = transfer_cases[__i__];
  const ChoiceRequest request = transfer_request(entry.mode, entry.page_locked);
  const std::string text = explain_choice(request, a_device(entry.shares_memory));
  const bool mapped = entry.wanted == Transfer::mapped;
  fail_unless(contains(text, "; mapped") == mapped && contains(text, "; copied") == !mapped, "%s",
              text.c_str());
  const bool granted = entry.page_locked && entry.mode != TransferMode::automatic;
  fail_unless(contains(text, "ed, as asked for") == granted, "%s", text.c_str());
  fail_unless(contains(text, "pageable") == !entry.page_locked, "%s", text.c_str());
}
GST_END_TEST;

GST_START_TEST(the_sentence_names_the_counts) {
  const DeviceInfo device = a_device(false);
  const struct {
    ChoiceRequest request;
    const char* wanted;
  } cases[] = {{{0, 0, 1}, "3 stripes a frame, to overlap"},
               {{0, 0, 4}, "1 stripe a frame, since frames in flight overlap"},
               {{5, 12, 1}, "12 stripes a frame, as asked for, on 5 streams"},
               {{1, 1, 4}, "1 stripe a frame, as asked for, on 1 stream;"}};
  for (const auto& entry : cases) {
    const std::string text = explain_choice(entry.request, device);
    fail_unless(contains(text, entry.wanted), "no '%s' in: %s", entry.wanted, text.c_str());
  }
}
GST_END_TEST;

GST_START_TEST(names) {
  fail_unless_equals_string(name_of(Transfer::copy), "copy");
  fail_unless_equals_string(name_of(Transfer::mapped), "mapped");
}
GST_END_TEST;

static Suite* choice_suite() {
  Suite* suite = suite_create("choice");
  TCase* cases = tcase_create("choice");
  suite_add_tcase(suite, cases);
  tcase_add_loop_test(cases, transfers, 0, G_N_ELEMENTS(transfer_cases));
  tcase_add_test(cases, counts_that_are_asked_for_stay);
  tcase_add_test(cases, counts_that_are_left_open);
  tcase_add_loop_test(cases, the_sentence_names_the_transfer, 0, G_N_ELEMENTS(transfer_cases));
  tcase_add_test(cases, the_sentence_names_the_counts);
  tcase_add_test(cases, names);
  return suite;
}

LIBRARY_CHECK_MAIN(choice)
