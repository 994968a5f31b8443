// SPDX-License-Identifier: LGPL-2.1-or-later

// A device's copies of tables: what is in them, and whose memory is used again, and when.

#include "cuda/table_pool.h"

#include <stdexcept>
#include <thread>

#include "support/decorated_device.h"
#include "support/device_bytes.h"
#include "support/library_main.h"

using stripe::TablePool;
using test::Bytes;
using test::Random;

namespace {

struct Rig {
  Rig()
      : script(std::make_shared<test::Script>()),
        device(test::decorate(test::open_test_device(), script)),
        pool(std::make_shared<TablePool>(
            device->create_queue(), [this](std::size_t size) { return device->allocate(size); })) {}

  std::shared_ptr<const stripe::DeviceMemory> copy(const Bytes& bytes) const {
    return pool->copy(bytes.data(), bytes.size());
  }
  bool holds(const stripe::DeviceMemory& memory, const Bytes& bytes) const {
    return test::download(*device->create_queue(), memory, bytes.size()) == bytes;
  }

  std::shared_ptr<test::Script> script;
  std::shared_ptr<stripe::Device> device;
  std::shared_ptr<TablePool> pool;
};

}  // namespace

GST_START_TEST(copies_hold_what_was_copied) {
  Random random;
  const Rig rig;
  const Bytes a = test::random_bytes(random, 24606), b = test::random_bytes(random, 24606);
  const auto first = rig.copy(a), second = rig.copy(b);
  fail_if(first->data() == second->data());
  fail_unless(rig.holds(*first, a) && rig.holds(*second, b));
  fail_unless(rig.pool->owns(first.get()));
  fail_if(rig.pool->owns(nullptr));
  fail_if(Rig().pool->owns(first.get()));
}
GST_END_TEST;

GST_START_TEST(memory_is_used_again) {
  Random random(1);
  const Rig rig;
  const Bytes bytes = test::random_bytes(random, 5000);
  auto first = rig.copy(bytes);
  const std::byte* const place = first->data();
  auto held = first;
  first.reset();
  const auto second = rig.copy(test::random_bytes(random, 5000));
  fail_if(second->data() == place, "memory that is still held");
  fail_unless(rig.holds(*held, bytes));
  held.reset();
  const auto other_size = rig.copy(test::random_bytes(random, 5001));
  fail_if(other_size->data() == place);
  const Bytes last = test::random_bytes(random, 5000);
  const auto third = rig.copy(last);
  fail_unless(third->data() == place);
  fail_unless(rig.holds(*third, last));
}
GST_END_TEST;

// As while gamma is animated with four frames in flight.
GST_START_TEST(animation_allocates_nothing) {
  Random random(2);
  const Rig rig;
  std::shared_ptr<const stripe::DeviceMemory> held[4];
  int objects = 0;
  for (int frame = 0; frame < 60; ++frame) {
    held[frame % 4] = rig.copy(test::random_bytes(random, 3000));
    if (frame == 8) objects = rig.script->live_objects();
  }
  fail_unless_equals_int(rig.script->live_objects(), objects);
}
GST_END_TEST;

GST_START_TEST(idle_memory_is_bounded) {
  Random random(3);
  const Rig rig;
  const int before = rig.script->live_objects();
  for (int i = 0; i < 20; ++i) rig.copy(Bytes(TablePool::most_idle_bytes / 2 - i));
  // Two that are idle, and the last one.
  fail_unless(rig.script->live_objects() - before <= 3, "%d", rig.script->live_objects() - before);
}
GST_END_TEST;

GST_START_TEST(copies_outlive_the_pool) {
  Random random(4);
  Rig rig;
  const Bytes bytes = test::random_bytes(random, 700);
  auto copy = rig.copy(bytes);
  rig.pool.reset();
  fail_unless(rig.holds(*copy, bytes));
  copy.reset();
  fail_unless_equals_int(rig.script->live_objects(), 0);
}
GST_END_TEST;

GST_START_TEST(threads_share_a_pool) {
  const Rig rig;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Random random(100 + t);
      for (int i = 0; i < 40; ++i) {
        const Bytes bytes = test::random_bytes(random, 1000 + random.between(0, 2));
        if (!rig.holds(*rig.copy(bytes), bytes)) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  fail_unless_equals_int(wrong, 0);
}
GST_END_TEST;

static Suite* table_pool_suite() {
  Suite* suite = suite_create("table-pool");
  TCase* cases = tcase_create(test::backend_name());
  suite_add_tcase(suite, cases);
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, copies_hold_what_was_copied);
  tcase_add_test(cases, memory_is_used_again);
  tcase_add_test(cases, animation_allocates_nothing);
  tcase_add_test(cases, idle_memory_is_bounded);
  tcase_add_test(cases, copies_outlive_the_pool);
  tcase_add_test(cases, threads_share_a_pool);
  return suite;
}

LIBRARY_CHECK_MAIN(table_pool)
