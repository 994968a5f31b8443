// SPDX-License-Identifier: LGPL-2.1-or-later

// Copies by several threads: what one loop over the bytes gives, and not a byte beside it.

#include "cuda/copy_pool.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/device_bytes.h"
#include "support/library_main.h"

using stripe::CopyPool;
using test::Bytes;
using test::Random;

namespace {

constexpr int most_helpers = 7;
constexpr std::size_t guard_bytes = 61;

struct Config {
  int helpers;
  bool past_caches;
};

constexpr Config configs[] = {{0, false}, {0, true}, {1, false}, {1, true},
                              {3, false}, {4, true}, {7, false}, {7, true}};
constexpr int config_count = std::size(configs);

CopyPool pool_of(int config) {
  return CopyPool(configs[config].helpers, configs[config].past_caches ? 0 : ~std::size_t{0});
}

/// One side of a copy: a block with guards, and rows in it that go up or down.
class Side {
 public:
  Side(std::size_t row_bytes, std::size_t rows, std::ptrdiff_t pitch, Random& random)
      : pitch_(pitch),
        first_(guard_bytes + (pitch < 0 ? std::size_t(-pitch) * (rows - 1) : 0)),
        bytes(test::random_bytes(
            random, 2 * guard_bytes + std::size_t(std::abs(pitch)) * (rows - 1) + row_bytes)) {}

  std::size_t index(std::size_t row) const {
    return first_ + static_cast<std::size_t>(static_cast<std::ptrdiff_t>(row) * pitch_);
  }
  std::uint8_t* data() { return bytes.data() + first_; }

 private:
  const std::ptrdiff_t pitch_;
  const std::size_t first_;

 public:
  Bytes bytes;
};

struct Shape {
  std::size_t row_bytes, rows;
  std::ptrdiff_t to_padding, from_padding;
  bool to_up, from_up;

  std::ptrdiff_t to_pitch() const { return pitch(to_padding, to_up); }
  std::ptrdiff_t from_pitch() const { return pitch(from_padding, from_up); }

 private:
  std::ptrdiff_t pitch(std::ptrdiff_t padding, bool up) const {
    const std::ptrdiff_t down = static_cast<std::ptrdiff_t>(row_bytes) + padding;
    return up ? -down : down;
  }
};

/// What is wrong with a copy, in words; empty if nothing. Either way, since they store otherwise.
std::string check_copy(CopyPool& pool, const Shape& shape, Random& random) {
  Side to(shape.row_bytes, shape.rows, shape.to_pitch(), random);
  Side from(shape.row_bytes, shape.rows, shape.from_pitch(), random);
  const Bytes source = from.bytes;
  Bytes expected = to.bytes;
  for (std::size_t y = 0; y < shape.rows; ++y)
    std::copy_n(&source[from.index(y)], shape.row_bytes, &expected[to.index(y)]);
  pool.copy({test::as_bytes(to.data()), shape.to_pitch(), test::as_bytes(from.data()),
             shape.from_pitch(), shape.row_bytes, shape.rows,
             random.one_in(2) ? stripe::CopyDirection::upload : stripe::CopyDirection::download});
  if (to.bytes == expected && from.bytes == source) return {};
  return std::to_string(shape.row_bytes) + " bytes x " + std::to_string(shape.rows) + ", pitches " +
         std::to_string(shape.to_pitch()) + " and " + std::to_string(shape.from_pitch());
}

Shape random_shape(Random& random, std::size_t most_bytes) {
  Shape shape{};
  shape.rows = random.one_in(5) ? 1 : random.between(2, 1200);
  shape.row_bytes = random.between(1, static_cast<int>(most_bytes / shape.rows));
  constexpr std::ptrdiff_t paddings[] = {0, 0, 1, 3, 64, 101};
  shape.to_padding = random.pick(paddings);
  shape.from_padding = random.pick(paddings);
  shape.to_up = random.one_in(3);
  shape.from_up = random.one_in(3);
  return shape;
}

}  // namespace

GST_START_TEST(every_row_arrives_and_nothing_else) {
  Random random;
  CopyPool pool = pool_of(__i__);
  for (const std::size_t row_bytes : {1, 3, 1023, 3840})
    for (const std::size_t rows : {1, 2, 3, 5, 203})
      for (const bool to_up : {false, true})
        for (const bool from_up : {false, true})
          for (const std::ptrdiff_t padding : {0, 5})
            fail_unless_empty(
                check_copy(pool, {row_bytes, rows, padding, 5 - padding, to_up, from_up}, random));
}
GST_END_TEST;

GST_START_TEST(single_rows_are_cut_anywhere) {
  Random random;
  CopyPool pool = pool_of(__i__);
  for (const std::size_t size : {1, 262143, 262144, 262145, 262147, 1000003})
    for (const std::ptrdiff_t padding : {0, 7})
      fail_unless_empty(check_copy(pool, {size, 1, padding, 0, false, true}, random));
}
GST_END_TEST;

// A single row has no next one: whatever its pitch says.
GST_START_TEST(pitch_of_a_single_row_does_not_count) {
  Random random;
  CopyPool pool = pool_of(__i__);
  for (const std::ptrdiff_t pitch : {0, 1, -5, 1 << 30}) {
    const Bytes from = test::random_bytes(random, 600001);
    Bytes to(from.size());
    pool.copy({test::as_bytes(to.data()), pitch, test::as_bytes(from.data()), -pitch, from.size(),
               1, stripe::CopyDirection::download});
    fail_unless(to == from);
  }
}
GST_END_TEST;

// Large ones, in rows of which a thread gets few, or in many that are tiny.
GST_START_TEST(large_copies_of_odd_shapes) {
  Random random;
  CopyPool pool = pool_of(__i__);
  for (const auto& [row_bytes, rows] : {std::pair<std::size_t, std::size_t>{500001, 2},
                                        {400003, 3},
                                        {300007, 4},
                                        {262144, 5},
                                        {131071, 2},
                                        {131072, 2},
                                        {131073, 2},
                                        {1, 300001},
                                        {7, 50021}})
    for (const bool up : {false, true})
      fail_unless_empty(check_copy(pool, {row_bytes, rows, 3, 0, up, !up}, random));
}
GST_END_TEST;

GST_START_TEST(nothing_to_copy_is_nothing) {
  CopyPool pool = pool_of(__i__);
  std::uint8_t byte = 5;
  const std::uint8_t other = 6;
  for (const auto& [row_bytes, rows] :
       {std::pair<std::size_t, std::size_t>{0, 1}, {0, 1 << 20}, {1 << 20, 0}, {0, 0}})
    pool.copy({test::as_bytes(&byte), 1, test::as_bytes(&other), 1, row_bytes, rows,
               stripe::CopyDirection::upload});
  fail_unless_equals_int(byte, 5);
}
GST_END_TEST;

GST_START_TEST(many_rounds) {
  Random random(__i__);
  CopyPool pool = pool_of(__i__);
  for (int round = 0; round < 50; ++round)
    fail_unless_empty(check_copy(pool, random_shape(random, 500000), random));
}
GST_END_TEST;

// Round after round without a pause: a helper that is late must not get a job twice, or none.
GST_START_TEST(rounds_follow_at_once) {
  Random random;
  CopyPool pool = pool_of(__i__);
  constexpr std::size_t size = 300000;
  const Bytes sources[] = {test::random_bytes(random, size), test::random_bytes(random, size)};
  Bytes to(size);
  for (int round = 0; round < 500; ++round) {
    const Bytes& from = sources[round % 2];
    pool.copy(test::whole_copy(
        test::as_bytes(to.data()), test::as_bytes(from.data()), size,
        round % 3 ? stripe::CopyDirection::upload : stripe::CopyDirection::download));
    fail_unless(to == from, "round %d", round);
  }
}
GST_END_TEST;

// Helpers are asleep, about to fall asleep, or still look out for the next round.
GST_START_TEST(rounds_follow_after_pauses) {
  Random random(__i__);
  CopyPool pool = pool_of(__i__);
  constexpr std::size_t size = 262147;
  const Bytes sources[] = {test::random_bytes(random, size), test::random_bytes(random, size)};
  Bytes to(size);
  for (int round = 0; round < 150; ++round) {
    const Bytes& from = sources[round % 2];
    pool.copy(test::whole_copy(test::as_bytes(to.data()), test::as_bytes(from.data()), size,
                               stripe::CopyDirection::download));
    fail_unless(to == from, "round %d", round);
    const int microseconds = random.one_in(3) ? random.between(0, 400) : random.between(0, 30);
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
  }
}
GST_END_TEST;

// One caller at a time, but not always the same one.
GST_START_TEST(callers_take_turns) {
  CopyPool pool = pool_of(__i__);
  std::mutex mutex;
  std::vector<std::thread> threads;
  std::string texts[3];
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      Random random(300 + i);
      for (int round = 0; round < 15 && texts[i].empty(); ++round) {
        const std::lock_guard lock(mutex);
        texts[i] = check_copy(pool, random_shape(random, 700000), random);
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : texts) fail_unless_empty(text);
}
GST_END_TEST;

GST_START_TEST(destroyed_at_any_time) {
  Random random;
  for (int round = 0; round < 40; ++round) {
    CopyPool pool = pool_of(__i__);
    for (int copies = round % 3; copies > 0; --copies)
      fail_unless_empty(check_copy(pool, {100001, 3, 0, 1, false, false}, random));
  }
}
GST_END_TEST;

GST_START_TEST(many_pools_at_once) {
  std::vector<std::thread> threads;
  std::string texts[4];
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&texts, i] {
      Random random(200 + i);
      CopyPool one = pool_of(2 + i), other = pool_of(config_count - 1 - i);
      for (int round = 0; round < 20 && texts[i].empty(); ++round)
        texts[i] = check_copy(round % 2 ? one : other, random_shape(random, 500000), random);
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : texts) fail_unless_empty(text);
}
GST_END_TEST;

GST_START_TEST(helpers_leave_a_core_to_the_caller) {
  const int helpers = CopyPool::useful_helpers();
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  fail_unless(helpers >= 0 && helpers <= most_helpers);
  fail_unless(cores <= 1 ? helpers == 0 : helpers >= 1 && helpers < cores);
}
GST_END_TEST;

static Suite* copy_pool_suite() {
  Suite* suite = suite_create("copy-pool");
  TCase* cases = tcase_create("copy-pool");
  suite_add_tcase(suite, cases);
  tcase_set_timeout(cases, 60);
  tcase_add_loop_test(cases, every_row_arrives_and_nothing_else, 0, config_count);
  tcase_add_loop_test(cases, single_rows_are_cut_anywhere, 0, config_count);
  tcase_add_loop_test(cases, pitch_of_a_single_row_does_not_count, 0, config_count);
  tcase_add_loop_test(cases, large_copies_of_odd_shapes, 0, config_count);
  tcase_add_loop_test(cases, nothing_to_copy_is_nothing, 0, config_count);
  tcase_add_loop_test(cases, many_rounds, 0, config_count);
  tcase_add_loop_test(cases, rounds_follow_at_once, 0, config_count);
  tcase_add_loop_test(cases, rounds_follow_after_pauses, 0, config_count);
  tcase_add_loop_test(cases, callers_take_turns, 0, config_count);
  tcase_add_loop_test(cases, destroyed_at_any_time, 0, config_count);
  tcase_add_test(cases, many_pools_at_once);
  tcase_add_test(cases, helpers_leave_a_core_to_the_caller);
  return suite;
}

LIBRARY_CHECK_MAIN(copy_pool)
