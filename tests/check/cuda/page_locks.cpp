// SPDX-License-Identifier: LGPL-2.1-or-later

// When memory of others is page-locked, and for how long: on a device that only keeps books.

#include "cuda/page_lock.h"

#include <string>
#include <vector>

#include "support/library_main.h"
#include "support/lock_desk.h"

using stripe::HostRange;
using stripe::LockAnswer;
using stripe::LockState;
using stripe::LockUse;
using stripe::LockWhen;
using test::address;
using test::BookedDevice;
using test::Budget;
using test::Desk;
using test::make_budget;
using test::show;

namespace {

constexpr std::size_t size = 4096;

constexpr stripe::DeviceErrorKind failures[] = {
    stripe::DeviceErrorKind::refused, stripe::DeviceErrorKind::out_of_pinned_memory,
    stripe::DeviceErrorKind::failed, stripe::DeviceErrorKind::out_of_device_memory};

}  // namespace

// Two GstMemories over the same bytes: the registration of one goes with it, and must not be what a copy
// from the other one rests on.
GST_START_TEST(bytes_of_another_registered_range_are_not_relied_on) {
  BookedDevice device(true);
  const Budget budget = make_budget();
  auto first = std::make_unique<HostRange>(address(0), size, false);
  HostRange same(address(0), size, false), inside(address(0) + 10, 20, false);
  HostRange across(address(0) + size - 1, 2, false), behind(address(0) + size, size, false);
  fail_unless(show(*first, device, budget, LockWhen::first_sight) == LockState::locked);
  for (HostRange* other : {&same, &inside, &across})
    for (int i = 0; i < 3; ++i)
      fail_unless(show(*other, device, budget, LockWhen::first_sight) == LockState::busy);
  fail_unless(show(behind, device, budget, LockWhen::first_sight) == LockState::locked);
  fail_unless_equals_int(device.books()->asked(), 2);
  first.reset();
  fail_unless(show(same, device, budget, LockWhen::first_sight) == LockState::locked);
  fail_unless_equals_uint64(budget->refusals(), 0);
  fail_if(device.books()->mistaken());
}
GST_END_TEST;

GST_START_TEST(idle_ranges_are_let_go_on_demand) {
  Desk desk(0, 3);
  for (int i = 0; i < 3; ++i) desk.come(i, 2);
  {
    const LockAnswer held = desk.hold(1);
    desk.budget->let_go_idle();
    fail_unless(desk.is_locked(1) && !desk.is_locked(0) && !desk.is_locked(2));
  }
  desk.budget->let_go_idle();
  fail_unless_equals_int(desk.device.books()->live(), 0);
  fail_unless_equals_uint64(desk.budget->used_bytes(), 0);
  fail_unless_equals_uint64(desk.budget->evictions(), 0);
  fail_unless(desk.come(0) == LockState::locked);  // seen before
}
GST_END_TEST;

GST_START_TEST(registered_at_second_sight) {
  BookedDevice device(true);
  const Budget budget = make_budget();
  HostRange range(address(0), size, false);
  fail_unless(show(range, device, budget) == LockState::unseen);
  fail_unless_equals_int(device.books()->asked(), 0);
  fail_unless_equals_uint64(budget->used_bytes(), 0);
  for (int i = 0; i < 5; ++i) fail_unless(show(range, device, budget) == LockState::locked);
  fail_unless_equals_int(device.books()->asked(), 1);
  fail_unless(device.books()->is_locked(address(0)));
  fail_unless_equals_uint64(budget->registrations(), 1);
  fail_unless_equals_uint64(budget->used_bytes(), size);
}
GST_END_TEST;

GST_START_TEST(registered_at_first_sight_where_that_is_wanted) {
  BookedDevice device(true);
  const Budget budget = make_budget();
  HostRange range(address(0), size, false);
  for (int i = 0; i < 5; ++i)
    fail_unless(show(range, device, budget, LockWhen::first_sight) == LockState::locked);
  fail_unless_equals_int(device.books()->asked(), 1);
}
GST_END_TEST;

GST_START_TEST(ranges_are_seen_one_by_one) {
  BookedDevice device(true);
  const Budget budget = make_budget();
  HostRange one(address(0), size, false), other(address(1), size, false);
  fail_unless(show(one, device, budget) == LockState::unseen);
  fail_unless(show(other, device, budget) == LockState::unseen);
  fail_unless(show(other, device, budget) == LockState::locked);
  fail_if(device.books()->is_locked(address(0)));
}
GST_END_TEST;

// A tee shows one memory to three elements: that is one sight each.
GST_START_TEST(sights_count_for_each_element) {
  BookedDevice device(true);
  const Budget elements[] = {make_budget(), make_budget(), make_budget()};
  HostRange range(address(0), size, false);
  for (const Budget& element : elements)
    fail_unless(show(range, device, element) == LockState::unseen);
  fail_unless_equals_int(device.books()->asked(), 0);
  for (int i = 0; i < 3; ++i)
    for (const Budget& element : elements)
      fail_unless(show(range, device, element) == LockState::locked);
  fail_unless_equals_int(device.books()->asked(), 1);
  fail_unless_equals_uint64(elements[0]->registrations(), 1);
  fail_unless_equals_uint64(elements[0]->used_bytes(), size);
  for (int i = 1; i < 3; ++i) {  // one registration serves all, and one of them pays
    fail_unless_equals_uint64(elements[i]->registrations(), 0);
    fail_unless_equals_uint64(elements[i]->used_bytes(), 0);
  }
}
GST_END_TEST;

GST_START_TEST(second_sight_works_for_each_of_ten_elements) {
  BookedDevice device(true);
  for (int second = 0; second < 10; ++second) {
    std::vector<Budget> elements;
    HostRange range(address(second), size, false);
    for (int i = 0; i < 10; ++i) elements.push_back(make_budget());
    for (const Budget& element : elements)
      fail_unless(show(range, device, element) == LockState::unseen);
    fail_unless(show(range, device, elements[second]) == LockState::locked);
  }
}
GST_END_TEST;

// An element that comes later may well lie where the first one lay.
GST_START_TEST(new_element_has_seen_nothing) {
  BookedDevice device(true);
  HostRange range(address(0), size, false);
  for (int i = 0; i < 40; ++i) fail_unless(show(range, device, make_budget()) == LockState::unseen);
  fail_unless_equals_int(device.books()->asked(), 0);
}
GST_END_TEST;

// As when the memory is freed and another one lies there.
GST_START_TEST(new_range_at_the_same_address_was_never_seen) {
  BookedDevice device(true);
  const Budget budget = make_budget();
  for (int i = 0; i < 5; ++i) {
    HostRange range(address(0), size, false);
    fail_unless(show(range, device, budget) == LockState::unseen);
    if (i % 2 == 0) fail_unless(show(range, device, budget) == LockState::locked);
  }
  fail_unless_equals_int(device.books()->asked(), 3);
  fail_if(device.books()->mistaken());
}
GST_END_TEST;

GST_START_TEST(destroyed_range_lets_the_registration_go) {
  BookedDevice device(true);
  const Budget budget = make_budget();
  for (int i = 1; i <= 3; ++i) {
    {
      HostRange range(address(0), size, false);
      show(range, device, budget, LockWhen::first_sight);
      fail_unless_equals_int(device.books()->live(), 1);
    }
    fail_unless_equals_int(device.books()->live(), 0);
    fail_unless_equals_uint64(device.books()->let_go().size(), i);
    fail_unless_equals_uint64(budget->used_bytes(), 0);
  }
  fail_unless_equals_uint64(budget->registrations(), 3);
  fail_unless_equals_uint64(budget->peak_bytes(), size);
  fail_unless_equals_uint64(budget->evictions(), 0);
}
GST_END_TEST;

GST_START_TEST(range_that_was_never_used_goes_quietly) {
  BookedDevice device(true);
  { const HostRange range(address(0), size, false); }
  fail_unless_equals_int(device.books()->asked_about(), 0);
}
GST_END_TEST;

GST_START_TEST(read_only_memory_is_locked_as_such) {
  BookedDevice device(true);
  const Budget budget = make_budget();
  HostRange written(address(0), size, false), read(address(1), size, true);
  show(written, device, budget, LockWhen::first_sight);
  show(read, device, budget, LockWhen::first_sight);
  fail_if(device.books()->is_read_only(address(0)));
  fail_unless(device.books()->is_read_only(address(1)));
}
GST_END_TEST;

GST_START_TEST(refusal_is_remembered_and_told_once) {
  BookedDevice device(true);
  device.refusal = failures[__i__];
  const Budget budget = make_budget(), other = make_budget();
  HostRange range(address(0), size, false);
  fail_unless(show(range, device, budget) == LockState::unseen);
  const LockAnswer first = range.use(device, budget, LockWhen::second_sight);
  fail_unless(first.state == LockState::refused);
  fail_unless(first.reason.find(BookedDevice::complaint) != std::string::npos, "%s",
              first.reason.c_str());
  device.refusal.reset();  // nobody asks whether it would work now
  for (int i = 0; i < 5; ++i)
    for (const Budget& each : {budget, other}) {
      const LockAnswer answer = range.use(device, each, LockWhen::first_sight);
      fail_unless(answer.state == LockState::refused);
      fail_unless_equals_string(answer.reason.c_str(), "");
    }
  fail_unless_equals_int(device.books()->asked(), 1);
  fail_unless_equals_uint64(budget->refusals(), 1);
  fail_unless_equals_uint64(other->refusals(), 0);
  fail_unless_equals_uint64(budget->registrations(), 0);
  fail_unless_equals_uint64(budget->used_bytes(), 0);
}
GST_END_TEST;

GST_START_TEST(refusal_is_forgotten_with_its_memory) {
  BookedDevice device(true);
  const Budget budget = make_budget();
  for (int i = 0; i < 2; ++i) {
    HostRange range(address(0), size, false);
    device.refusal.reset();
    if (i == 0) device.refusal = stripe::DeviceErrorKind::refused;
    fail_unless(show(range, device, budget, LockWhen::first_sight) ==
                (i == 0 ? LockState::refused : LockState::locked));
  }
}
GST_END_TEST;

GST_START_TEST(refusal_of_one_backend_is_none_of_the_other) {
  for (const bool refusing : {false, true}) {
    BookedDevice one(refusing), two(!refusing);
    one.refusal = stripe::DeviceErrorKind::refused;
    const Budget budget = make_budget(), other = make_budget();
    HostRange range(address(0), size, false);
    fail_unless(show(range, one, budget, LockWhen::first_sight) == LockState::refused);
    fail_unless(show(range, two, other, LockWhen::first_sight) == LockState::locked);
    fail_unless(show(range, one, budget, LockWhen::first_sight) == LockState::refused);
    fail_unless_equals_int(one.books()->asked(), 1);
    fail_unless_equals_int(two.books()->asked(), 1);
  }
}
GST_END_TEST;

// The caller may know better than to ask.
GST_START_TEST(memory_of_a_kind_that_is_never_registered) {
  BookedDevice cuda(true), host(false);
  const Budget budget = make_budget();
  HostRange range(address(0), size, false);
  fail_unless(range.refuse(cuda, *budget));
  for (int i = 0; i < 3; ++i) {
    const LockAnswer answer = range.use(cuda, budget, LockWhen::first_sight);
    fail_unless(answer.state == LockState::refused && answer.reason.empty());
    fail_if(range.refuse(cuda, *budget));
  }
  fail_unless_equals_int(cuda.books()->asked(), 0);
  fail_unless_equals_uint64(budget->refusals(), 1);
  fail_unless(show(range, host, budget, LockWhen::first_sight) == LockState::locked);
}
GST_END_TEST;

GST_START_TEST(both_backends_lock_for_themselves) {
  BookedDevice host(false), cuda(true);
  const Budget budget = make_budget(), other = make_budget();
  {
    HostRange range(address(0), size, false);
    fail_unless(show(range, host, budget, LockWhen::first_sight) == LockState::locked);
    fail_unless_equals_int(cuda.books()->live(), 0);
    fail_unless(show(range, cuda, other, LockWhen::first_sight) == LockState::locked);
    fail_unless_equals_int(cuda.books()->live(), 1);
  }
  fail_unless_equals_int(host.books()->live(), 0);
  fail_unless_equals_int(cuda.books()->live(), 0);
  fail_unless_equals_uint64(budget->used_bytes(), 0);
  fail_unless_equals_uint64(other->used_bytes(), 0);
}
GST_END_TEST;

GST_START_TEST(what_others_locked_is_used_as_it_is) {
  BookedDevice device(true);
  device.all_locked_by_others = true;
  const Budget budget = make_budget(1), other = make_budget(1);
  HostRange range(address(0), size, false);
  for (int i = 0; i < 5; ++i)
    for (const Budget& each : {budget, other})
      fail_unless(show(range, device, each) == LockState::locked);
  fail_unless_equals_int(device.books()->asked(), 0);
  fail_unless_equals_int(device.books()->asked_about(), 1);
  fail_unless_equals_uint64(budget->registrations(), 0);
  fail_unless_equals_uint64(budget->peak_bytes(), 0);
}
GST_END_TEST;

// The driver's answer costs too much for every frame.
GST_START_TEST(device_is_asked_about_a_memory_once) {
  BookedDevice device(true);
  const Budget budget = make_budget(1), other = make_budget();
  HostRange range(address(0), size, false);
  for (int i = 0; i < 5; ++i)
    fail_unless(show(range, device, budget) ==
                (i == 0 ? LockState::unseen : LockState::over_bound));
  for (int i = 0; i < 5; ++i) show(range, device, other);
  fail_unless_equals_int(device.books()->asked_about(), 1);
}
GST_END_TEST;

GST_START_TEST(answer_moves_with_its_use) {
  Desk desk(2 * Desk::range_bytes, 3);
  desk.come(0, 2);
  desk.come(1, 2);
  LockUse kept;
  {
    LockAnswer answer = desk.hold(0);
    fail_unless(answer.state == LockState::locked);
    LockUse moved(std::move(answer.use));
    kept = std::move(moved);
  }  // what was moved from holds nothing, and lets nothing go
  desk.come(1, 100);
  fail_unless(desk.come(2, 2) == LockState::over_bound);
  fail_unless(desk.is_locked(0));
  kept = LockUse();
  fail_unless(desk.come(2) == LockState::locked);
  fail_if(desk.is_locked(0));
}
GST_END_TEST;

static Suite* page_locks_suite() {
  Suite* suite = suite_create("page-locks");
  TCase* cases = tcase_create("page-locks");
  suite_add_tcase(suite, cases);
  tcase_set_timeout(cases, 20);
  tcase_add_test(cases, registered_at_second_sight);
  tcase_add_test(cases, registered_at_first_sight_where_that_is_wanted);
  tcase_add_test(cases, ranges_are_seen_one_by_one);
  tcase_add_test(cases, sights_count_for_each_element);
  tcase_add_test(cases, second_sight_works_for_each_of_ten_elements);
  tcase_add_test(cases, new_element_has_seen_nothing);
  tcase_add_test(cases, new_range_at_the_same_address_was_never_seen);
  tcase_add_test(cases, destroyed_range_lets_the_registration_go);
  tcase_add_test(cases, range_that_was_never_used_goes_quietly);
  tcase_add_test(cases, read_only_memory_is_locked_as_such);
  tcase_add_loop_test(cases, refusal_is_remembered_and_told_once, 0, G_N_ELEMENTS(failures));
  tcase_add_test(cases, refusal_is_forgotten_with_its_memory);
  tcase_add_test(cases, refusal_of_one_backend_is_none_of_the_other);
  tcase_add_test(cases, memory_of_a_kind_that_is_never_registered);
  tcase_add_test(cases, both_backends_lock_for_themselves);
  tcase_add_test(cases, what_others_locked_is_used_as_it_is);
  tcase_add_test(cases, device_is_asked_about_a_memory_once);
  tcase_add_test(cases, answer_moves_with_its_use);
  tcase_add_test(cases, bytes_of_another_registered_range_are_not_relied_on);
  tcase_add_test(cases, idle_ranges_are_let_go_on_demand);
  return suite;
}

LIBRARY_CHECK_MAIN(page_locks)
