// SPDX-License-Identifier: LGPL-2.1-or-later

// Many threads, few ranges, a small bound: nothing hangs, nothing is used that is not page-locked,
// nothing stays locked.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "cuda/page_lock.h"
#include "support/library_main.h"
#include "support/lock_desk.h"

using stripe::HostRange;
using stripe::LockAnswer;
using stripe::LockState;
using stripe::LockWhen;
using test::BookedDevice;
using test::Budget;
using test::make_budget;
using test::Random;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t unit = 100;
constexpr int places = 8;
constexpr int hot_places = 3;
constexpr int states = 5;

/// Memory at an address that no other memory ever has: a device that keeps books may confuse none.
class Memory {
 public:
  Memory() : base(reinterpret_cast<const std::byte*>(unit * ++last_)), range(base, unit, false) {}

  const std::byte* const base;
  HostRange range;

 private:
  static inline std::atomic<std::uintptr_t> last_{0};
};

/// What threads share: memory that lives while a thread holds it, and is put in the place of other
/// memory at any time.
class Hall {
 public:
  Hall() {
    for (auto& place : memories_) place = std::make_shared<Memory>();
  }

  std::shared_ptr<Memory> at(int place) {
    const std::lock_guard lock(mutex_);
    return memories_[place];
  }

  void replace(int place) {
    auto fresh = std::make_shared<Memory>();
    const std::lock_guard lock(mutex_);
    memories_[place].swap(fresh);
  }  // the old one, or its last thread's

  BookedDevice device{true};
  std::array<std::atomic<std::uint64_t>, states> seen{};
  const Clock::time_point begin = Clock::now();

  bool is_over() const { return Clock::now() - begin > std::chrono::milliseconds(1200); }

  /// Few places come often and the others not at all, in turns: or nothing was ever let go.
  int hot_place(Random& random) const {
    const auto turn = (Clock::now() - begin) / std::chrono::milliseconds(25);
    return static_cast<int>((turn + random.between(0, hot_places - 1)) % places);
  }

 private:
  std::mutex mutex_;
  std::array<std::shared_ptr<Memory>, places> memories_;
};

void use_memory(Hall& hall, const Budget& budget, std::uint64_t salt) {
  Random random(salt);
  while (!hall.is_over()) {
    const std::shared_ptr<Memory> memory = hall.at(hall.hot_place(random));
    const LockAnswer answer = memory->range.use(
        hall.device, budget, random.one_in(4) ? LockWhen::first_sight : LockWhen::second_sight);
    ++hall.seen[static_cast<int>(answer.state)];
    if (answer.state != LockState::locked) continue;
    hall.device.books()->begin_use(memory->base);
    if (random.one_in(8)) std::this_thread::sleep_for(std::chrono::microseconds(20));
    // Long after everybody else stopped coming.
    if (random.one_in(300)) std::this_thread::sleep_for(std::chrono::milliseconds(60));
    hall.device.books()->end_use(memory->base);
  }
}

void replace_memory(Hall& hall) {
  Random random(99);
  while (!hall.is_over()) {
    hall.replace(random.between(0, places - 1));
    std::this_thread::sleep_for(std::chrono::microseconds(random.between(0, 3000)));
  }
}

/// An allocator's memories come out of the same bound.
void charge_and_refund(Hall& hall, const Budget& budget) {
  Random random(98);
  while (!hall.is_over()) {
    const bool charged = budget->charge(unit);
    std::this_thread::sleep_for(std::chrono::microseconds(random.between(0, 2000)));
    if (charged) budget->refund(unit);
    std::this_thread::sleep_for(std::chrono::microseconds(random.between(0, 2000)));
  }
}

}  // namespace

GST_START_TEST(threads_use_ranges_under_a_small_bound) {
  const Budget budgets[] = {make_budget(4 * unit), make_budget(2 * unit)};
  auto hall = std::make_unique<Hall>();
  const std::shared_ptr<test::LockBooks> books = hall->device.books();
  hall->device.most_delay_us = 200;
  hall->device.refuses_one_in = 20;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] { use_memory(*hall, budgets[i % 2], 10 + i); });
  threads.emplace_back([&] { replace_memory(*hall); });
  threads.emplace_back([&] { charge_and_refund(*hall, budgets[0]); });
  for (std::thread& thread : threads) thread.join();

  fail_if(books->mistaken());
  for (const LockState state :
       {LockState::locked, LockState::unseen, LockState::refused, LockState::over_bound})
    fail_unless(hall->seen[static_cast<int>(state)] > 0, "state %d never came", int(state));
  fail_unless(budgets[0]->evictions() + budgets[1]->evictions() > 0);
  hall.reset();
  fail_unless_equals_int(books->live(), 0);
  std::uint64_t asked = 0;
  for (const Budget& budget : budgets) {
    fail_unless_equals_uint64(budget->used_bytes(), 0);
    asked += budget->registrations() + budget->refusals();
  }
  fail_unless_equals_uint64(asked, books->asked());
  fail_unless(budgets[0]->peak_bytes() <= 4 * unit && budgets[1]->peak_bytes() <= 2 * unit);
}
GST_END_TEST;

// Who finds a range that is just being registered does not wait for it.
GST_START_TEST(range_is_registered_once_for_many_threads) {
  for (int round = 0; round < 30; ++round) {
    BookedDevice device(true);
    device.most_delay_us = 500;
    Memory memory;
    std::atomic<int> ready{0}, wrong{0};
    std::vector<std::thread> threads;
    const Budget budget = make_budget();
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (++ready; ready < 4;) std::this_thread::yield();
        LockState state = LockState::busy;
        while (state == LockState::busy)
          state = memory.range.use(device, budget, LockWhen::first_sight).state;
        wrong += state == LockState::locked ? 0 : 1;
      });
    for (std::thread& thread : threads) thread.join();
    fail_unless_equals_int(wrong, 0);
    fail_unless_equals_int(device.books()->asked(), 1);
    fail_unless_equals_int(device.books()->asked_about(), 1);
    fail_unless_equals_uint64(budget->used_bytes(), unit);
  }
}
GST_END_TEST;

// A memory is freed while its element lets its registration go for another one's sake.
GST_START_TEST(range_goes_while_it_is_let_go) {
  for (int round = 0; round < 200; ++round) {
    BookedDevice device(true);
    device.most_delay_us = 200;
    const Budget budget = make_budget(2 * unit);
    Memory kept, wanted;
    auto old = std::make_unique<Memory>();
    for (Memory* each : {old.get(), &kept}) each->range.use(device, budget, LockWhen::first_sight);
    for (int i = 0; i < 64; ++i) kept.range.use(device, budget, LockWhen::first_sight);
    const std::byte* const base = old->base;
    std::atomic<bool> outlived{false};
    std::atomic<int> ready{0};
    const auto meet = [&ready] {
      for (++ready; ready < 2;) std::this_thread::yield();
    };
    std::thread other([&] {
      meet();
      old.reset();
      outlived = device.books()->is_locked(base);
    });
    meet();
    const LockState state = wanted.range.use(device, budget, LockWhen::first_sight).state;
    other.join();
    // It may have found nothing to let go any more while the bytes were not paid back yet.
    fail_unless(state == LockState::locked || state == LockState::over_bound);
    fail_if(outlived);
    fail_if(device.books()->mistaken());
    fail_unless_equals_int(device.books()->live(), state == LockState::locked ? 2 : 1);
    fail_unless_equals_uint64(budget->used_bytes(), device.books()->live() * unit);
  }
}
GST_END_TEST;

static Suite* page_lock_threads_suite() {
  Suite* suite = suite_create("page-lock-threads");
  TCase* cases = tcase_create("page-lock-threads");
  suite_add_tcase(suite, cases);
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, threads_use_ranges_under_a_small_bound);
  tcase_add_test(cases, range_is_registered_once_for_many_threads);
  tcase_add_test(cases, range_goes_while_it_is_let_go);
  return suite;
}

LIBRARY_CHECK_MAIN(page_lock_threads)
