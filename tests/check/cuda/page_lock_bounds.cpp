// SPDX-License-Identifier: LGPL-2.1-or-later

// What an element may have page-locked, who makes room for whom, and many threads at once: on a
// device that only keeps books.

#include <vector>

#include "cuda/page_lock.h"
#include "support/library_main.h"
#include "support/lock_desk.h"

using stripe::HostRange;
using stripe::LockAnswer;
using stripe::LockState;
using stripe::LockWhen;
using test::address;
using test::BookedDevice;
using test::Budget;
using test::Desk;
using test::make_budget;
using test::show;

namespace {

constexpr std::size_t unit = Desk::range_bytes;

/// Two ranges fill the bound, a third one was seen. Then the second one comes `others` times.
LockState state_after(int others) {
  Desk desk(2 * unit, 3);
  desk.come(2);
  desk.come(1, 2);
  desk.come(0, 2);
  desk.come(1, others);
  const LockState state = desk.come(2);
  fail_unless(desk.is_locked(0) == (state == LockState::over_bound));
  fail_unless(desk.is_locked(2) == (state == LockState::locked));
  fail_unless(desk.is_locked(1));
  return state;
}

}  // namespace

GST_START_TEST(budget_counts) {
  stripe::LockBudget budget(10 * unit);
  fail_unless(budget.charge(4 * unit));
  fail_unless(budget.charge(6 * unit));
  fail_unless_equals_uint64(budget.used_bytes(), 10 * unit);
  fail_if(budget.charge(1));
  budget.refund(6 * unit);
  fail_unless_equals_uint64(budget.used_bytes(), 4 * unit);
  fail_if(budget.charge(6 * unit + 1));
  fail_unless(budget.charge(unit));
  fail_unless_equals_uint64(budget.peak_bytes(), 10 * unit);
  budget.refund(5 * unit);
  fail_unless_equals_uint64(budget.used_bytes(), 0);
  fail_unless_equals_uint64(budget.peak_bytes(), 10 * unit);
}
GST_END_TEST;

GST_START_TEST(no_sum_wraps_around) {
  stripe::LockBudget budget(UINT64_MAX);
  fail_unless(budget.charge(UINT64_MAX - 1));
  fail_if(budget.charge(2));
  fail_if(budget.charge(UINT64_MAX));
  fail_unless(budget.charge(1));
}
GST_END_TEST;

GST_START_TEST(bound_of_zero_is_none) {
  BookedDevice device(true);
  const Budget budget = make_budget(0);
  std::vector<std::unique_ptr<HostRange>> ranges;
  constexpr std::size_t size = std::size_t{1} << 42;
  for (int i = 0; i < 100; ++i) {
    // Nobody reads there.
    const auto* base = reinterpret_cast<const std::byte*>((std::uintptr_t(i) + 1) * size);
    ranges.push_back(std::make_unique<HostRange>(base, size, false));
    fail_unless(show(*ranges.back(), device, budget, LockWhen::first_sight) == LockState::locked);
  }
  fail_unless_equals_uint64(budget->used_bytes(), 100 * size);
  fail_unless_equals_uint64(budget->evictions(), 0);
}
GST_END_TEST;

GST_START_TEST(range_beyond_the_bound_is_staged) {
  Desk desk(unit - 1, 1);
  desk.come(0);
  for (int i = 0; i < 100; ++i) fail_unless(desk.come(0) == LockState::over_bound);
  fail_unless_equals_int(desk.device.books()->asked(), 0);
  fail_unless_equals_uint64(desk.budget->peak_bytes(), 0);
  fail_unless_equals_uint64(desk.budget->refusals(), 0);
}
GST_END_TEST;

GST_START_TEST(range_beyond_the_bound_drives_nobody_out) {
  Desk desk(3 * unit, 3);
  for (int i = 0; i < 3; ++i) desk.come(i, 2);
  desk.come(0, 200);  // the others come no more
  HostRange large(address(100), 3 * unit + 1, false);
  for (int i = 0; i < 3; ++i) show(large, desk.device, desk.budget);
  fail_unless(show(large, desk.device, desk.budget) == LockState::over_bound);
  fail_unless_equals_uint64(desk.budget->evictions(), 0);
  fail_unless_equals_int(desk.device.books()->live(), 3);
}
GST_END_TEST;

// To register what still comes again with each frame would cost more than staging.
GST_START_TEST(what_still_comes_is_not_let_go) {
  Desk desk(3 * unit, 4);
  for (int i = 0; i < 3; ++i) desk.come(i, 2);
  for (int round = 0; round < 200; ++round)
    for (int i = 0; i < 4; ++i)
      if (i < 3 || round > 0)
        fail_unless(desk.come(i) == (i < 3 ? LockState::locked : LockState::over_bound));
      else
        fail_unless(desk.come(i) == LockState::unseen);
  fail_unless_equals_uint64(desk.budget->evictions(), 0);
  fail_unless_equals_int(desk.device.books()->asked(), 3);
  fail_unless_equals_uint64(desk.budget->used_bytes(), 3 * unit);
}
GST_END_TEST;

GST_START_TEST(what_was_not_used_for_64_others_makes_room) {
  fail_unless(state_after(0) == LockState::over_bound);
  fail_unless(state_after(63) == LockState::over_bound);
  fail_unless(state_after(64) == LockState::locked);
  fail_unless(state_after(200) == LockState::locked);
}
GST_END_TEST;

// An upstream that changes its pool keeps the old memory for a while, and none of it comes again.
// If frames that are staged for want of room did not count, it would be staged for ever.
GST_START_TEST(old_ranges_make_room_where_no_other_is_locked) {
  Desk desk(2 * unit, 4);
  desk.come(0, 2);
  desk.come(1, 2);
  for (int i = 0; i < 100; ++i) {
    desk.come(2);
    desk.come(3);
  }
  fail_unless(desk.come(2) == LockState::locked);
  fail_unless(desk.come(3) == LockState::locked);
  fail_unless_equals_uint64(desk.budget->evictions(), 2);
  fail_unless(desk.budget->peak_bytes() <= 2 * unit);
}
GST_END_TEST;

GST_START_TEST(least_recently_used_go_and_no_more_than_needed) {
  Desk desk(5 * unit, 5);
  for (int i = 0; i < 5; ++i) desk.come(i, 2);
  for (const int i : {3, 0, 2, 1}) desk.come(i);
  desk.come(4, 64);
  HostRange large(address(100), 2 * unit, false);
  show(large, desk.device, desk.budget);
  fail_unless(show(large, desk.device, desk.budget) == LockState::locked);
  const std::vector<const std::byte*> expected = {address(3), address(0)};
  fail_unless(desk.device.books()->let_go() == expected);
  for (const int i : {1, 2, 4}) fail_unless(desk.is_locked(i));
  fail_unless_equals_uint64(desk.budget->evictions(), 2);
  fail_unless_equals_uint64(desk.budget->registrations(), 6);
  fail_unless_equals_uint64(desk.budget->used_bytes(), 5 * unit);
  fail_unless_equals_uint64(desk.budget->peak_bytes(), 5 * unit);
}
GST_END_TEST;

GST_START_TEST(what_a_frame_uses_is_not_let_go) {
  Desk desk(3 * unit, 4);
  for (int i = 0; i < 3; ++i) desk.come(i, 2);
  desk.come(3);
  {
    const LockAnswer one = desk.hold(0), same = desk.hold(0), other = desk.hold(1);
    desk.come(2, 100);
    fail_unless(desk.come(3) == LockState::over_bound);
    { const LockAnswer third = desk.hold(0); }  // one use of three is over
    desk.come(2, 100);
    fail_unless(desk.come(3) == LockState::over_bound);
    fail_unless_equals_int(desk.device.books()->live(), 3);
    fail_unless_equals_uint64(desk.budget->evictions(), 0);
  }
  fail_unless(desk.come(3) == LockState::locked);
  fail_unless_equals_uint64(desk.device.books()->let_go().size(), 1);
}
GST_END_TEST;

GST_START_TEST(idle_one_goes_before_an_older_one_in_use) {
  Desk desk(3 * unit, 4);
  for (int i = 0; i < 3; ++i) desk.come(i, 2);
  desk.come(3);
  const LockAnswer oldest = desk.hold(0);
  desk.come(1);
  desk.come(2, 100);
  fail_unless(desk.come(3) == LockState::locked);
  fail_unless(desk.is_locked(0));
  fail_if(desk.is_locked(1));
}
GST_END_TEST;

GST_START_TEST(let_go_range_is_registered_again) {
  Desk desk(unit * 2, 3);
  desk.come(2, 2);
  for (int round = 0; round < 4; ++round)
    for (const int i : {0, 1}) {
      fail_unless(desk.come(i, round == 0 ? 2 : 1) == LockState::locked);
      fail_unless(desk.is_locked(i));
      fail_if(desk.is_locked(1 - i));
      desk.come(2, 64);
    }
  fail_unless_equals_uint64(desk.budget->registrations(), 9);
  fail_unless_equals_uint64(desk.budget->evictions(), 7);
  fail_unless_equals_uint64(desk.budget->used_bytes(), 2 * unit);
}
GST_END_TEST;

GST_START_TEST(allocations_take_room_as_ranges_do) {
  Desk desk(2 * unit, 3);
  desk.come(0, 2);
  desk.come(1, 2);
  fail_if(desk.budget->charge(unit));
  desk.come(1, 64);
  fail_unless(desk.budget->charge(unit));
  fail_if(desk.is_locked(0));
  fail_unless(desk.come(2, 2) == LockState::over_bound);
  desk.budget->refund(unit);
  fail_unless(desk.come(2) == LockState::locked);
}
GST_END_TEST;

GST_START_TEST(over_bound_is_no_refusal) {
  Desk desk(unit, 2);
  desk.come(0, 2);
  desk.come(1);
  const LockAnswer answer = desk.hold(1);
  fail_unless(answer.state == LockState::over_bound);
  fail_unless_equals_string(answer.reason.c_str(), "");
  desk.ranges[0].reset();
  fail_unless(desk.come(1) == LockState::locked);
  fail_unless_equals_uint64(desk.budget->refusals(), 0);
}
GST_END_TEST;

GST_START_TEST(elements_have_bounds_of_their_own) {
  Desk desk(unit, 3);
  const Budget other = make_budget(unit);
  desk.come(0, 2);
  show(*desk.ranges[1], desk.device, other);
  fail_unless(show(*desk.ranges[1], desk.device, other) == LockState::locked);
  // An element lets go what it pays for, and nothing else.
  for (int i = 0; i < 200; ++i) {
    show(*desk.ranges[1], desk.device, desk.budget);
    show(*desk.ranges[2], desk.device, other);
  }
  fail_unless(desk.is_locked(0));
  fail_unless_equals_uint64(desk.budget->evictions(), 0);
  fail_unless_equals_uint64(desk.budget->used_bytes(), unit);
  fail_unless(desk.is_locked(1));
  fail_unless_equals_uint64(other->used_bytes(), unit);
}
GST_END_TEST;

GST_START_TEST(budget_lives_as_long_as_what_it_paid_for) {
  Desk desk(unit, 1);
  desk.come(0, 2);
  const std::weak_ptr<stripe::LockBudget> weak = desk.budget;
  desk.budget = make_budget(unit);
  fail_unless(desk.come(0) == LockState::locked);  // paid for by an element that is gone
  fail_unless_equals_uint64(desk.budget->used_bytes(), 0);
  fail_if(weak.expired());
  desk.ranges.clear();
  fail_unless(weak.expired());
  fail_unless_equals_int(desk.device.books()->live(), 0);
}
GST_END_TEST;

GST_START_TEST(range_that_was_only_seen_keeps_no_budget) {
  Desk desk(unit, 1);
  desk.come(0);
  const std::weak_ptr<stripe::LockBudget> weak = desk.budget;
  desk.budget.reset();
  fail_unless(weak.expired());
}
GST_END_TEST;

static Suite* page_lock_bounds_suite() {
  Suite* suite = suite_create("page-lock-bounds");
  TCase* cases = tcase_create("page-lock-bounds");
  suite_add_tcase(suite, cases);
  tcase_set_timeout(cases, 30);
  tcase_add_test(cases, budget_counts);
  tcase_add_test(cases, no_sum_wraps_around);
  tcase_add_test(cases, bound_of_zero_is_none);
  tcase_add_test(cases, range_beyond_the_bound_is_staged);
  tcase_add_test(cases, range_beyond_the_bound_drives_nobody_out);
  tcase_add_test(cases, what_still_comes_is_not_let_go);
  tcase_add_test(cases, what_was_not_used_for_64_others_makes_room);
  tcase_add_test(cases, old_ranges_make_room_where_no_other_is_locked);
  tcase_add_test(cases, least_recently_used_go_and_no_more_than_needed);
  tcase_add_test(cases, what_a_frame_uses_is_not_let_go);
  tcase_add_test(cases, idle_one_goes_before_an_older_one_in_use);
  tcase_add_test(cases, let_go_range_is_registered_again);
  tcase_add_test(cases, allocations_take_room_as_ranges_do);
  tcase_add_test(cases, over_bound_is_no_refusal);
  tcase_add_test(cases, elements_have_bounds_of_their_own);
  tcase_add_test(cases, budget_lives_as_long_as_what_it_paid_for);
  tcase_add_test(cases, range_that_was_only_seen_keeps_no_budget);
  return suite;
}

LIBRARY_CHECK_MAIN(page_lock_bounds)
