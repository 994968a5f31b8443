// SPDX-License-Identifier: LGPL-2.1-or-later

// What is tried where the user leaves something open, what is chosen, and when nothing is tried.

#include "cuda/calibration.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "support/layouts.h"
#include "support/library_main.h"

using stripe::Calibration;
using stripe::Candidate;
using stripe::Choice;
using stripe::ChoiceRequest;
using stripe::DeviceInfo;
using stripe::Transfer;
using stripe::TransferMode;

namespace {

constexpr std::size_t bytes_1080p = std::size_t{1920} * 1080 * 4;

DeviceInfo a_gpu() { return {"cuda", "A GPU", false, 2}; }

std::vector<Candidate> candidates(const ChoiceRequest& request,
                                  std::size_t frame_bytes = bytes_1080p) {
  return stripe::list_candidates(request, a_gpu(), frame_bytes);
}

ChoiceRequest request_of(int stripes, int depth, TransferMode mode) {
  ChoiceRequest request;
  request.stripe_count = stripes;
  request.depth = depth;
  request.transfer = mode;
  return request;
}

bool has(const std::vector<Candidate>& list, Transfer transfer, int stripes) {
  for (const Candidate& one : list)
    if (one.transfer == transfer && one.stripe_count == stripes) return true;
  return false;
}

std::vector<Candidate> list_of(std::size_t count) {
  std::vector<Candidate> list;
  for (std::size_t i = 0; i < count; ++i)
    list.push_back({i % 2 ? Transfer::mapped : Transfer::copy, static_cast<int>(i) + 1});
  return list;
}

/// Times by number, each always the same, and how many measurements there is time for.
Calibration try_times(const std::vector<double>& times, std::size_t told) {
  std::size_t calls = 0, tried = 0;
  return stripe::try_candidates({3, 99, Transfer::copy}, list_of(times.size()),
                                [&](const Candidate& one) -> std::optional<double> {
                                  const auto which = static_cast<std::size_t>(one.stripe_count) - 1;
                                  fail_unless(which <= tried);  // in their order
                                  if (calls++ == told) return std::nullopt;
                                  tried = std::max(tried, which + 1);
                                  return times[which];
                                });
}

void expect_choice(const Calibration& it, int stripes, std::size_t tried) {
  fail_unless_equals_int(it.choice.stripe_count, stripes);
  fail_unless_equals_int(it.choice.stream_count, 3);
  fail_unless_equals_uint64(it.tried.size(), tried);
  fail_unless(!it.from_cache);
  if (tried != 0) fail_unless((it.choice.transfer == Transfer::mapped) == (stripes % 2 == 0));
}

// --- what is tried

GST_START_TEST(all_that_is_open_is_tried) {
  for (const int depth : {1, 2, 3, 16}) {
    const auto open = candidates(request_of(0, depth, TransferMode::automatic));
    for (const int n : {1, 2, 3, 4, 6, 8, 12}) fail_unless(has(open, Transfer::copy, n));
    fail_unless(has(open, Transfer::mapped, 1) && has(open, Transfer::mapped, 3));
    fail_unless_equals_uint64(open.size(), 9);
  }
}
GST_END_TEST;

GST_START_TEST(what_is_asked_for_is_not_tried_otherwise) {
  for (const int depth : {1, 3}) {
    for (const Candidate& one : candidates(request_of(0, depth, TransferMode::copy)))
      fail_unless(one.transfer == Transfer::copy);
    for (const Candidate& one : candidates(request_of(0, depth, TransferMode::mapped)))
      fail_unless(one.transfer == Transfer::mapped);
    const auto counted = candidates(request_of(5, depth, TransferMode::automatic));
    fail_unless_equals_uint64(counted.size(), 2);
    fail_unless(has(counted, Transfer::copy, 5) && has(counted, Transfer::mapped, 5));
    fail_unless(candidates(request_of(5, depth, TransferMode::copy)).size() <= 1);
  }
}
GST_END_TEST;

GST_START_TEST(nothing_is_tried_where_copies_gain_nothing) {
  ChoiceRequest request = request_of(0, 1, TransferMode::automatic);
  DeviceInfo shared = a_gpu();
  shared.shares_memory = true;
  fail_unless(stripe::list_candidates(request, shared, bytes_1080p).empty());
  request.page_locked = false;
  fail_unless(candidates(request).empty());
}
GST_END_TEST;

// Copies of less than 170 KB don't use the link.
GST_START_TEST(small_frames_are_not_cut_small) {
  for (const Candidate& one : candidates(request_of(0, 1, TransferMode::automatic), 600'000))
    fail_unless(one.stripe_count <= 3, "%d stripes", one.stripe_count);
  const auto tiny = candidates(request_of(0, 1, TransferMode::automatic), 3);
  fail_unless(has(tiny, Transfer::copy, 1) && has(tiny, Transfer::mapped, 1));
  fail_unless_equals_uint64(tiny.size(), 2);
}
GST_END_TEST;

// As measured on PCIe 5: stripes or mapped frames help a frame that is alone, and no others. Large frames
// leave time for some five candidates.
GST_START_TEST(the_most_promising_comes_first) {
  for (const std::size_t frame_bytes : {bytes_1080p, 4 * bytes_1080p}) {
    const auto first = candidates(request_of(0, 1, TransferMode::automatic), frame_bytes).front();
    fail_unless(first.transfer == Transfer::mapped && first.stripe_count == 1);
  }
  auto large = candidates(request_of(0, 1, TransferMode::automatic), 4 * bytes_1080p);
  large.resize(5);
  for (const int stripes : {6, 8, 12}) fail_unless(has(large, Transfer::copy, stripes));
  const auto alone = candidates(request_of(0, 1, TransferMode::copy));
  fail_unless(alone.front().stripe_count >= 3 && alone.back().stripe_count == 1);
  const auto answer = candidates(request_of(0, 3, TransferMode::automatic)).front();
  fail_unless(answer.transfer == Transfer::copy && answer.stripe_count == 1);
  const auto two = candidates(request_of(0, 2, TransferMode::automatic), 4 * bytes_1080p).front();
  fail_unless(two.transfer == Transfer::copy && two.stripe_count > 1);
}
GST_END_TEST;

// --- what is chosen

GST_START_TEST(the_fastest_is_chosen) {
  expect_choice(try_times({100, 90, 80, 85}, 5), 3, 4);
  expect_choice(try_times({100, 90, 80, 77}, 5), 4, 4);
  expect_choice(try_times({100}, 1), 1, 1);
}
GST_END_TEST;

// Within 5 % what costs the CPU less is as good.
GST_START_TEST(of_equals_the_cheapest_is_chosen) {
  // Three calls, two and nine: of a mapped stripe it is one, of a copied one three.
  expect_choice(try_times({100, 99, 98.5}, 3), 2, 3);
  expect_choice(try_times({97, 101, 95}, 4), 1, 3);
  expect_choice(try_times({102, 103, 97}, 4), 3, 3);
  expect_choice(try_times({104.5, 109, 100}, 4), 1, 3);
  for (const int copied_stripes : {1, 2}) {
    const std::vector<Candidate> both = {{Transfer::copy, copied_stripes}, {Transfer::mapped, 4}};
    const Calibration it = stripe::try_candidates(
        {3, 99, Transfer::copy}, both,
        [](const Candidate& one) { return one.transfer == Transfer::copy ? 99.0 : 101.0; });
    fail_unless(it.choice.transfer == (copied_stripes == 1 ? Transfer::copy : Transfer::mapped));
  }
  // Three calls each: the faster one, whatever the order.
  for (const double mapped_us : {99.0, 101.0})
    for (const bool mapped_first : {false, true}) {
      std::vector<Candidate> both = {{Transfer::copy, 1}, {Transfer::mapped, 3}};
      if (mapped_first) std::swap(both[0], both[1]);
      const Calibration it = stripe::try_candidates(
          {3, 99, Transfer::copy}, both,
          [&](const Candidate& one) { return one.transfer == Transfer::copy ? 100.0 : mapped_us; });
      fail_unless(it.choice.transfer == (mapped_us < 100 ? Transfer::mapped : Transfer::copy));
    }
}
GST_END_TEST;

// What was held up in one round is measured again, and the shortest time counts; what is far behind
// is not measured for ever.
GST_START_TEST(what_was_held_up_is_measured_again) {
  const std::vector<std::vector<double>> rounds = {
      {200, 100, 200, 300}, {150, 103, 190, 50}, {99, 140, 90, 50}, {99, 140, 90, 50}};
  for (const std::size_t told : {1, 2, 3, 4, 5}) {
    std::vector<std::size_t> calls(4);
    const Calibration it = stripe::try_candidates(
        {3, 99, Transfer::copy}, list_of(4), [&](const Candidate& one) -> std::optional<double> {
          const auto which = static_cast<std::size_t>(one.stripe_count) - 1;
          const std::size_t round = calls[which]++;
          if (round == told) return std::nullopt;
          return rounds[round][which];
        });
    expect_choice(it, 2, 4);
    fail_unless_equals_float(it.tried[0].us, told == 1 ? 200 : 150);
    fail_unless_equals_float(it.tried[1].us, 100);
    fail_unless_equals_uint64(calls[1], told == 1 ? 1 : std::min<std::size_t>(told + 1, 4));
    fail_unless_equals_uint64(calls[2], told == 1 ? 1 : 2);
    fail_unless_equals_uint64(calls[3], 1);
  }
}
GST_END_TEST;

namespace {

/// What is tried, and the times of its measurements; after the last one no time is left.
struct Course {
  std::vector<Candidate> candidates;
  std::vector<std::pair<int, double>> measured;  // which, by stripes; us
  int chosen;                                    // stripes
  std::size_t tried;
};

void expect_course(const Course& course) {
  std::size_t calls = 0;
  const Calibration it = stripe::try_candidates({3, 99, Transfer::copy}, course.candidates,
                                                [&](const Candidate& one) -> std::optional<double> {
                                                  if (calls == course.measured.size())
                                                    return std::nullopt;
                                                  const auto [which, us] = course.measured[calls++];
                                                  fail_unless_equals_int(one.stripe_count, which);
                                                  return us;
                                                });
  fail_unless_equals_uint64(calls, course.measured.size());
  fail_unless_equals_int(it.choice.stripe_count, course.chosen);
  fail_unless_equals_uint64(it.tried.size(), course.tried);
}

}  // namespace

// What was held up while there is no time for a second round is measured again where it matters.
GST_START_TEST(what_costs_more_wins_twice) {
  const std::vector<Candidate> copies = {
      {Transfer::copy, 1}, {Transfer::copy, 2}, {Transfer::copy, 3}, {Transfer::copy, 4}};
  expect_course({copies, {{1, 100}, {2, 90}, {1, 88}, {3, 84}}, 1, 3});
  expect_course({copies, {{1, 100}, {2, 90}, {1, 99}, {3, 84}, {2, 85}}, 2, 3});
  expect_course({copies, {{1, 100}, {2, 90}, {1, 99}, {3, 84}, {2, 91}}, 3, 3});
  // The third makes the second one the best.
  expect_course({copies, {{1, 100}, {2, 96}, {3, 93}, {1, 88}, {4, 95}}, 1, 4});
  expect_course({copies, {{1, 100}, {2, 96}, {3, 93}, {1, 99}, {4, 95}}, 2, 4});
  // Three calls each cost the same.
  const std::vector<Candidate> both = {{Transfer::copy, 1}, {Transfer::mapped, 3}};
  expect_course({both, {{1, 100}, {3, 60}}, 3, 2});
  expect_course({both, {{1, 100}, {3, 94}}, 3, 2});
}
GST_END_TEST;

// It may have been luck, or be true: where nobody can tell, a tenth decides.
GST_START_TEST(without_time_for_that_it_wins_by_a_tenth) {
  const std::vector<Candidate> copies = {{Transfer::copy, 1}, {Transfer::copy, 2}};
  expect_course({copies, {{1, 100}, {2, 92}}, 1, 1});
  expect_course({copies, {{1, 100}, {2, 90}}, 2, 2});
}
GST_END_TEST;

GST_START_TEST(one_that_was_held_up_may_win) {
  int calls = 0;
  const Calibration it =
      stripe::try_candidates({3, 99, Transfer::copy}, list_of(2), [&](const Candidate& one) {
        return one.stripe_count == 2 ? 106.0 : calls++ ? 100.0 : 220.0;
      });
  expect_choice(it, 1, 2);
  fail_unless_equals_int(calls, 4);
}
GST_END_TEST;

GST_START_TEST(it_ends_where_the_time_is_up) {
  expect_choice(try_times({100, 90, 10}, 2), 2, 2);
  expect_choice(try_times({100, 90, 10}, 0), 99, 0);
}
GST_END_TEST;

GST_START_TEST(what_fails_is_not_chosen) {
  const double failed = std::numeric_limits<double>::infinity();
  expect_choice(try_times({failed, 500, failed}, 3), 2, 1);
  expect_choice(try_times({failed, 500, 470}, 7), 3, 2);
  expect_choice(try_times({failed, failed}, 2), 99, 0);
}
GST_END_TEST;

// --- on a device

stripe::FrameShape shape_of(const char* format, int width, int height) {
  return {test::layout_of(test::format_named(format)), width, height, false};
}

/// Other processes may keep the device busy.
constexpr stripe::Time patience = 20'000'000'000;

GST_START_TEST(on_a_device) {
  const auto device = test::open_test_device();
  for (const int depth : {1, 3}) {
    const ChoiceRequest request = request_of(0, depth, TransferMode::automatic);
    // Another size for each, so that no other test has asked before.
    const stripe::FrameShape shape = shape_of("RGBA", 640 + depth, 480);
    const stripe::Time begin = stripe::now();
    const Calibration answer = stripe::calibrate(device, shape, request, patience);
    const stripe::Time spent = stripe::now() - begin;
    g_print("%zu candidates in %.1f ms\n", answer.tried.size(), static_cast<double>(spent) / 1e6);
    fail_unless(!answer.from_cache);
    if (device->info().shares_memory) {
      const Choice usual = stripe::choose(request, device->info());
      fail_unless(answer.tried.empty());
      fail_unless_equals_int(answer.choice.stripe_count, usual.stripe_count);
      fail_unless(answer.choice.transfer == usual.transfer);
      continue;
    }
    fail_unless(!answer.tried.empty());
    fail_unless(has(answer.tried, answer.choice.transfer, answer.choice.stripe_count));
    for (const Candidate& one : answer.tried) fail_unless(one.us > 0 && std::isfinite(one.us));
    const Calibration again = stripe::calibrate(device, shape, request, patience);
    fail_unless(again.from_cache);
    fail_unless_equals_uint64(again.tried.size(), answer.tried.size());
    fail_unless_equals_int(again.choice.stripe_count, answer.choice.stripe_count);
    fail_unless(again.choice.transfer == answer.choice.transfer);
    ChoiceRequest another = request;
    another.depth = depth + 1;
    fail_unless(!stripe::calibrate(device, shape, another, patience).from_cache);
  }
}
GST_END_TEST;

GST_START_TEST(without_time_the_model_decides) {
  const auto device = test::open_test_device();
  const ChoiceRequest request = request_of(0, 1, TransferMode::automatic);
  const Choice usual = stripe::choose(request, device->info());
  for (const stripe::Time budget : {stripe::Time{0}, stripe::Time{1000}}) {
    const Calibration it = stripe::calibrate(device, shape_of("RGBA", 1001, 501), request, budget);
    fail_unless(it.tried.empty() && !it.from_cache);
    fail_unless_equals_int(it.choice.stripe_count, usual.stripe_count);
  }
  // So large that page-locking it takes too long.
  const Calibration large = stripe::calibrate(device, shape_of("RGBA", 16384, 16384), request);
  fail_unless(large.tried.empty());
}
GST_END_TEST;

Suite* calibration_suite() {
  Suite* suite = suite_create("calibration");
  TCase* cases = tcase_create("calibration");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, all_that_is_open_is_tried);
  tcase_add_test(cases, what_is_asked_for_is_not_tried_otherwise);
  tcase_add_test(cases, nothing_is_tried_where_copies_gain_nothing);
  tcase_add_test(cases, small_frames_are_not_cut_small);
  tcase_add_test(cases, the_most_promising_comes_first);
  tcase_add_test(cases, the_fastest_is_chosen);
  tcase_add_test(cases, of_equals_the_cheapest_is_chosen);
  tcase_add_test(cases, what_was_held_up_is_measured_again);
  tcase_add_test(cases, what_costs_more_wins_twice);
  tcase_add_test(cases, without_time_for_that_it_wins_by_a_tenth);
  tcase_add_test(cases, one_that_was_held_up_may_win);
  tcase_add_test(cases, it_ends_where_the_time_is_up);
  tcase_add_test(cases, what_fails_is_not_chosen);
  tcase_add_test(cases, on_a_device);
  tcase_add_test(cases, without_time_the_model_decides);
  return suite;
}

}  // namespace

LIBRARY_CHECK_MAIN(calibration)
