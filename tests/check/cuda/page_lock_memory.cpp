// SPDX-License-Identifier: LGPL-2.1-or-later

// Page-locked memory of others on a real device: the bytes that a copy takes are those that are
// there now.

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "cuda/engine.h"
#include "cuda/page_lock.h"
#include "support/decorated_device.h"
#include "support/device_bytes.h"
#include "support/layouts.h"
#include "support/library_main.h"
#include "support/mapping.h"

using stripe::CopyDirection;
using stripe::HostRange;
using stripe::LockAnswer;
using stripe::LockState;
using stripe::LockWhen;
using test::as_bytes;
using test::Bytes;
using test::FileMapping;
using test::Mapping;
using test::Random;

namespace {

using Budget = std::shared_ptr<stripe::LockBudget>;

constexpr std::size_t size = 300 * 1000 + 5;

Budget make_budget(std::uint64_t bound_bytes = 0) {
  return std::make_shared<stripe::LockBudget>(bound_bytes);
}

/// Device memory and a queue to reach it.
class Line {
 public:
  explicit Line(stripe::Device& device)
      : memory_(device.allocate(size)), queue_(device.create_queue()) {}

  /// What the device gets when `count` bytes are copied up from there.
  Bytes upload(const std::byte* from, std::size_t count) {
    queue_->copy(test::whole_copy(memory_->data(), from, count, CopyDirection::upload));
    return test::download(*queue_, *memory_, count);
  }

  /// Copies `bytes` down to there, by way of the device.
  void download(std::byte* to, const Bytes& bytes) {
    test::upload(*queue_, *memory_, bytes);
    queue_->copy(test::whole_copy(to, memory_->data(), bytes.size(), CopyDirection::download));
    queue_->synchronize();
  }

 private:
  std::unique_ptr<stripe::DeviceMemory> memory_;
  std::unique_ptr<stripe::Queue> queue_;
};

LockAnswer lock_now(HostRange& range, stripe::Device& device, const Budget& budget) {
  return range.use(device, budget, LockWhen::first_sight);
}

/// A frame of one byte a pixel in memory that belongs to it alone.
struct GrayFrame {
  static constexpr int width = 500, height = 600;
  static_assert(width * height <= size);

  static stripe::FrameShape shape() {
    return {test::layout_of(test::format_named("GRAY8")), width, height};
  }

  static stripe::FrameJob job(const Mapping& input, const Mapping& output) {
    stripe::FrameJob job{};
    job.input.planes[0] = {input.bytes(), width};
    job.output.planes[0] = {output.bytes(), width};
    return job;  // both accesses direct
  }
};

}  // namespace

GST_START_TEST(locked_memory_is_copied_both_ways) {
  Random random;
  const auto device = test::open_test_device();
  const Budget budget = make_budget();
  Line line(*device);
  const Bytes bytes = test::random_bytes(random, size), other = test::random_bytes(random, size);
  Mapping memory(bytes);
  {
    HostRange range(memory.bytes(), size, false);
    const LockAnswer answer = lock_now(range, *device, budget);
    fail_unless(answer.state == LockState::locked, "%s", answer.reason.c_str());
    if (test::backend_is_cuda()) fail_unless(device->is_page_locked(memory.bytes(), size));
    fail_unless(line.upload(memory.bytes(), size) == bytes);
    line.download(memory.bytes(), other);
    fail_unless(memory.now() == other);
  }
  fail_if(device->is_page_locked(memory.bytes(), size));
  fail_unless_equals_uint64(budget->used_bytes(), 0);
}
GST_END_TEST;

// A registration that outlives its memory makes copies succeed with the old memory's bytes.
GST_START_TEST(same_address_new_bytes) {
  Random random;
  const auto device = test::open_test_device();
  const Budget budget = make_budget();
  Line line(*device);
  Mapping memory(test::random_bytes(random, size));
  for (int round = 0; round < 6; ++round) {
    const Bytes bytes = test::random_bytes(random, size), other = test::random_bytes(random, size);
    memory.map_again(bytes);
    HostRange range(memory.bytes(), size, false);
    const bool registers = round % 3 != 2;  // else the memory is what it is: pageable
    const LockAnswer answer =
        range.use(*device, budget, registers ? LockWhen::first_sight : LockWhen::second_sight);
    fail_unless(answer.state == (registers ? LockState::locked : LockState::unseen), "round %d: %s",
                round, answer.reason.c_str());
    fail_unless(line.upload(memory.bytes(), size) == bytes, "round %d", round);
    line.download(memory.bytes(), other);
    fail_unless(memory.now() == other, "round %d", round);
  }
  fail_unless_equals_uint64(budget->registrations(), 4);
}
GST_END_TEST;

GST_START_TEST(same_address_new_bytes_in_an_engine) {
  Random random;
  const auto device = test::open_test_device();
  const Budget budget = make_budget();
  stripe::Engine engine(device, GrayFrame::shape(), {3, 2});
  constexpr std::size_t pixels = GrayFrame::width * GrayFrame::height;
  Mapping input(test::random_bytes(random, pixels)), output(test::random_bytes(random, pixels));
  for (int round = 0; round < 6; ++round) {
    const Bytes bytes = test::random_bytes(random, pixels);
    input.map_again(bytes);
    output.map_again(test::random_bytes(random, pixels));
    HostRange from(input.bytes(), pixels, false), to(output.bytes(), pixels, false);
    const LockAnswer answers[] = {lock_now(from, *device, budget), lock_now(to, *device, budget)};
    for (const LockAnswer& answer : answers)
      fail_unless(answer.state == LockState::locked, "%s", answer.reason.c_str());
    engine.wait(engine.submit(GrayFrame::job(input, output), {stripe::StripeLayout::rows, 3, {}}));
    fail_unless(output.now() == bytes, "round %d", round);
  }
}
GST_END_TEST;

// Let go for another one's sake and registered again: still the memory of now.
GST_START_TEST(let_go_and_registered_again) {
  Random random;
  const auto device = test::open_test_device();
  const Budget budget = make_budget(2 * size);
  Line line(*device);
  std::vector<std::unique_ptr<Mapping>> memories;
  std::vector<std::unique_ptr<HostRange>> ranges;
  for (int i = 0; i < 3; ++i) {
    memories.push_back(std::make_unique<Mapping>(test::random_bytes(random, size)));
    ranges.push_back(std::make_unique<HostRange>(memories[i]->bytes(), size, false));
  }
  for (int round = 0; round < 4; ++round) {
    const int wanted = 1 + round % 2;
    for (int i = 0; i < 65; ++i) lock_now(*ranges[0], *device, budget);
    const Bytes bytes = test::random_bytes(random, size);
    memories[wanted]->fill(bytes);
    const LockAnswer answer = lock_now(*ranges[wanted], *device, budget);
    fail_unless(answer.state == LockState::locked, "%s", answer.reason.c_str());
    if (test::backend_is_cuda()) {
      fail_unless(device->is_page_locked(memories[wanted]->bytes(), size));
      fail_if(device->is_page_locked(memories[3 - wanted]->bytes(), size));
    }
    fail_unless(line.upload(memories[wanted]->bytes(), size) == bytes);
    fail_unless(line.upload(memories[3 - wanted]->bytes(), size) == memories[3 - wanted]->now());
  }
  fail_unless_equals_uint64(budget->evictions(), 3);
}
GST_END_TEST;

// Drivers differ in what they take; whatever they say, the file's bytes arrive.
GST_START_TEST(read_only_files) {
  Random random;
  const auto device = test::open_test_device();
  Line line(*device);
  const Bytes bytes = test::random_bytes(random, size);
  for (const int flags : {MAP_PRIVATE, MAP_SHARED})
    for (const bool told : {true, false}) {
      const FileMapping file(bytes, flags);
      HostRange range(file.bytes(), size, told);
      const LockAnswer answer = lock_now(range, *device, make_budget());
      fail_unless(answer.state == LockState::locked || answer.state == LockState::refused);
      fail_unless(answer.reason.empty() == (answer.state == LockState::locked));
      fail_unless(line.upload(file.bytes(), size) == bytes);
    }
  Mapping other(bytes);  // and a refusal leaves nothing behind
  HostRange range(other.bytes(), size, false);
  fail_unless(lock_now(range, *device, make_budget()).state == LockState::locked);
  fail_unless(line.upload(other.bytes(), size) == bytes);
}
GST_END_TEST;

GST_START_TEST(memory_of_the_device_is_locked_already) {
  const auto device = test::open_test_device();
  const Budget budget = make_budget(1);
  const stripe::PinnedBlock block = device->allocate_pinned(size);
  HostRange range(block.data(), size, false), inside(block.data() + 77, 1000, false);
  const LockState expected = test::backend_is_cuda() ? LockState::locked : LockState::unseen;
  for (HostRange* each : {&range, &inside})
    fail_unless(each->use(*device, budget, LockWhen::second_sight).state == expected);
  fail_unless_equals_uint64(budget->peak_bytes(), 0);
}
GST_END_TEST;

GST_START_TEST(registered_by_somebody_else) {
  Random random;
  const auto device = test::open_test_device();
  const Budget budget = make_budget();
  Line line(*device);
  const Bytes bytes = test::random_bytes(random, size);
  Mapping memory(bytes);
  auto theirs = device->page_lock(memory.bytes(), size, false);
  HostRange range(memory.bytes(), size, false);
  fail_unless(lock_now(range, *device, budget).state == LockState::locked);
  fail_unless(line.upload(memory.bytes(), size) == bytes);
  if (test::backend_is_cuda()) fail_unless_equals_uint64(budget->registrations(), 0);
  theirs.reset();  // what somebody else does with his own
  fail_unless(line.upload(memory.bytes(), size) == bytes);
}
GST_END_TEST;

// A copy from memory that is locked in part is an error of CUDA's: such memory is not used so.
GST_START_TEST(registered_in_part_by_somebody_else) {
  Random random;
  const auto device = test::open_test_device();
  Line line(*device);
  const Bytes bytes = test::random_bytes(random, size);
  Mapping memory(bytes);
  auto part = device->page_lock(memory.bytes(), size / 2, false);
  const Budget budget = make_budget();
  HostRange whole(memory.bytes(), size, false);
  const LockAnswer answer = lock_now(whole, *device, budget);
  if (test::backend_is_cuda()) {
    fail_unless(answer.state == LockState::refused && !answer.reason.empty());
    fail_unless_equals_uint64(budget->used_bytes(), 0);
  }
  part.reset();
  HostRange again(memory.bytes(), size, false);
  if (test::backend_is_cuda())
    fail_unless(lock_now(again, *device, budget).state == LockState::locked);
  fail_unless(line.upload(memory.bytes(), size) == bytes);
}
GST_END_TEST;

// Heap memory begins and ends anywhere in a page, and another one's registration in the same.
GST_START_TEST(neighbours_on_a_page) {
  Random random;
  const auto device = test::open_test_device();
  Line line(*device);
  const Bytes bytes = test::random_bytes(random, 30001);
  const std::byte* const begin = as_bytes(bytes.data());
  const Budget budget = make_budget();
  auto left = std::make_unique<HostRange>(begin + 1, 9000, false);
  HostRange right(begin + 9001, 21000, false);
  for (HostRange* each : {left.get(), &right}) {
    const LockAnswer answer = lock_now(*each, *device, budget);
    fail_unless(answer.state == LockState::locked, "%s", answer.reason.c_str());
  }
  fail_unless(line.upload(begin + 1, 9000) == Bytes(bytes.begin() + 1, bytes.begin() + 9001));
  left.reset();
  fail_unless(line.upload(begin + 9001, 21000) == Bytes(bytes.begin() + 9001, bytes.end()));
  if (test::backend_is_cuda()) fail_unless(device->is_page_locked(begin + 9001, 21000));
}
GST_END_TEST;

GST_START_TEST(device_that_fails_is_a_refusal) {
  const auto script = std::make_shared<test::Script>();
  const auto device = test::decorate(test::open_test_device(), script);
  const Budget budget = make_budget();
  script->fail_at = 2;
  script->fail_kind = test::Call::page_lock;
  script->fail_this_kind = true;
  const Bytes bytes(3 * 4096);
  std::vector<std::unique_ptr<HostRange>> ranges;
  for (int i = 0; i < 3; ++i)
    ranges.push_back(std::make_unique<HostRange>(as_bytes(bytes.data()) + i * 4096, 4096, false));
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < 3; ++i) {
      const LockAnswer answer = lock_now(*ranges[i], *device, budget);
      fail_unless(answer.state == (i == 1 ? LockState::refused : LockState::locked));
      fail_unless_equals_string(answer.reason.c_str(),
                                i == 1 && round == 0 ? test::injected_error : "");
    }
  fail_unless_equals_int(script->count(test::Call::page_lock), 3);
  fail_unless_equals_uint64(budget->used_bytes(), 2 * 4096);
  fail_unless_equals_uint64(budget->refusals(), 1);
}
GST_END_TEST;

GST_START_TEST(empty_memory_is_refused) {
  const auto device = test::open_test_device();
  const std::byte byte{};
  HostRange range(&byte, 0, false);
  fail_unless(lock_now(range, *device, make_budget()).state != LockState::locked ||
              !test::backend_is_cuda());
}
GST_END_TEST;

namespace {

/// Maps, locks, copies and frees memory again and again; how often bytes were wrong.
int come_and_go(stripe::Device& device, const Budget& budget, int salt) {
  Random random(salt);
  Line line(device);
  int wrong = 0;
  Mapping memory(test::random_bytes(random, 50000));
  for (int round = 0; round < 60; ++round) {
    const Bytes bytes = test::random_bytes(random, memory.size());
    memory.map_again(bytes);
    HostRange range(memory.bytes(), memory.size(), false);
    for (int frame = 0; frame < 3; ++frame) {
      const LockAnswer answer = range.use(device, budget, LockWhen::second_sight);
      wrong += line.upload(memory.bytes(), memory.size()) == bytes ? 0 : 1;
    }
  }
  return wrong;
}

}  // namespace

GST_START_TEST(memory_comes_and_goes_in_many_threads) {
  const auto device = test::open_test_device();
  const Budget budget = make_budget(3 * 50000);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] { wrong += come_and_go(*device, budget, 300 + i); });
  for (std::thread& thread : threads) thread.join();
  fail_unless_equals_int(wrong, 0);
  fail_unless_equals_uint64(budget->used_bytes(), 0);
  fail_unless(budget->registrations() > 0);
}
GST_END_TEST;

static Suite* page_lock_memory_suite() {
  Suite* suite = suite_create("page-lock-memory");
  TCase* cases = tcase_create(test::backend_name());
  suite_add_tcase(suite, cases);
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, locked_memory_is_copied_both_ways);
  tcase_add_test(cases, same_address_new_bytes);
  tcase_add_test(cases, same_address_new_bytes_in_an_engine);
  tcase_add_test(cases, let_go_and_registered_again);
  tcase_add_test(cases, read_only_files);
  tcase_add_test(cases, memory_of_the_device_is_locked_already);
  tcase_add_test(cases, registered_by_somebody_else);
  tcase_add_test(cases, registered_in_part_by_somebody_else);
  tcase_add_test(cases, neighbours_on_a_page);
  tcase_add_test(cases, device_that_fails_is_a_refusal);
  tcase_add_test(cases, empty_memory_is_refused);
  tcase_add_test(cases, memory_comes_and_goes_in_many_threads);
  return suite;
}

LIBRARY_CHECK_MAIN(page_lock_memory)
