// SPDX-License-Identifier: LGPL-2.1-or-later

// What every device promises: memory, order, events. One body for all of them.

#include "cuda/device.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "support/device_bytes.h"
#include "support/library_main.h"
#include "support/sanitizer.h"

using stripe::CopyDirection;
using test::as_bytes;
using test::Bytes;

namespace {

bool is_out_of_memory(stripe::Device& device, bool pinned) {
  try {
    if (pinned) device.allocate_pinned(SIZE_MAX - 100);
    if (!pinned) device.allocate(SIZE_MAX / 2 - 4096);
  } catch (const stripe::DeviceError& error) {
    return error.kind() == (pinned ? stripe::DeviceErrorKind::out_of_pinned_memory
                                   : stripe::DeviceErrorKind::out_of_device_memory);
  }
  return false;
}

/// Upload, inversion and download of bytes in memory and a queue of its own.
class Line {
 public:
  static constexpr int width = 1000, height = 60;
  static constexpr std::size_t size = width * height;

  explicit Line(stripe::Device& device)
      : queue(device.create_queue()),
        in_(device.allocate(size)),
        out_(device.allocate(size)),
        source(device.allocate_pinned(size)),
        result(device.allocate_pinned(size)) {}

  void start(std::uint8_t value) {
    std::memset(source.data(), value, size);
    std::memset(result.data(), value, size);
    queue->copy(test::whole_copy(in_->data(), source.data(), size, CopyDirection::upload));
    queue->launch(test::inversion(), test::gray_job(*in_, *out_, width, height));
    queue->copy(test::whole_copy(result.data(), out_->data(), size, CopyDirection::download));
  }

  bool is_done(std::uint8_t value) const {
    const auto inverted = static_cast<std::byte>(255 - value);
    return std::all_of(result.data(), result.data() + size,
                       [inverted](std::byte b) { return b == inverted; });
  }

  std::unique_ptr<stripe::Queue> queue;

 private:
  std::unique_ptr<stripe::DeviceMemory> in_, out_;

 public:
  stripe::PinnedBlock source, result;
};

/// Rounds on a line of its own; how many were wrong.
int run_line(stripe::Device& device, int seed) {
  Line line(device);
  const auto event = device.create_event();
  int wrong = 0;
  for (int round = 0; round < 50; ++round) {
    const auto value = static_cast<std::uint8_t>(seed * 50 + round);
    line.start(value);
    line.queue->record(*event);
    event->wait();
    wrong += line.is_done(value) ? 0 : 1;
  }
  return wrong;
}

}  // namespace

GST_START_TEST(says_what_it_is) {
  const auto device = test::open_test_device();
  fail_unless_equals_string(device->info().backend.c_str(), test::backend_name());
  fail_if(device->info().name.empty());
}
GST_END_TEST;

GST_START_TEST(memory_is_aligned) {
  const auto device = test::open_test_device();
  std::vector<std::unique_ptr<stripe::DeviceMemory>> all;
  for (const std::size_t size : {1, 3, 255, 256, 257, 1000000}) {
    all.push_back(device->allocate(size));
    fail_unless_equals_uint64(reinterpret_cast<std::uintptr_t>(all.back()->data()) % 256, 0);
  }
}
GST_END_TEST;

GST_START_TEST(out_of_memory_is_an_error_of_its_kind) {
  const auto device = test::open_test_device();
  fail_unless(is_out_of_memory(*device, true));
  if (test::backend_is_cuda() || !test::with_sanitizer)
    fail_unless(is_out_of_memory(*device, false));
  Line line(*device);  // and the device still works
  line.start(1);
  line.queue->synchronize();
  fail_unless(line.is_done(1));
}
GST_END_TEST;

GST_START_TEST(queue_keeps_the_order) {
  const auto device = test::open_test_device();
  Line line(*device);
  for (int round = 0; round < 100; ++round) {
    line.start(static_cast<std::uint8_t>(round));
    line.queue->synchronize();
    fail_unless(line.is_done(static_cast<std::uint8_t>(round)), "round %d", round);
  }
}
GST_END_TEST;

// Later copies overwrite earlier ones only if nothing overtakes.
GST_START_TEST(later_work_does_not_overtake) {
  const auto device = test::open_test_device();
  const auto queue = device->create_queue();
  constexpr std::size_t size = 100000;
  const auto memory = device->allocate(size);
  std::vector<stripe::PinnedBlock> sources, results;
  for (int i = 0; i < 20; ++i) {
    sources.push_back(device->allocate_pinned(size));
    results.push_back(device->allocate_pinned(size));
    std::memset(sources[i].data(), i + 1, size);
  }
  for (int i = 0; i < 20; ++i) {
    queue->copy(test::whole_copy(memory->data(), sources[i].data(), size, CopyDirection::upload));
    queue->copy(test::whole_copy(results[i].data(), memory->data(), size, CopyDirection::download));
  }
  queue->synchronize();
  for (int i = 0; i < 20; ++i)
    fail_unless(std::memcmp(results[i].data(), sources[i].data(), size) == 0);
}
GST_END_TEST;

GST_START_TEST(queues_run_beside_each_other) {
  const auto device = test::open_test_device();
  std::vector<std::unique_ptr<Line>> lines;
  for (int i = 0; i < 8; ++i) lines.push_back(std::make_unique<Line>(*device));
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 8; ++i) lines[i]->start(static_cast<std::uint8_t>(round * 8 + i));
    for (int i = 7; i >= 0; --i) {
      lines[i]->queue->synchronize();
      fail_unless(lines[i]->is_done(static_cast<std::uint8_t>(round * 8 + i)), "queue %d", i);
    }
  }
}
GST_END_TEST;

GST_START_TEST(event_without_record_does_not_wait) {
  const auto device = test::open_test_device();
  const auto event = device->create_event();
  event->wait();
  event->wait();
}
GST_END_TEST;

GST_START_TEST(event_waits_for_what_was_queued_before) {
  const auto device = test::open_test_device();
  Line line(*device);
  const auto event = device->create_event();
  for (int round = 0; round < 30; ++round) {
    line.start(static_cast<std::uint8_t>(round));
    line.queue->record(*event);
    event->wait();
    fail_unless(line.is_done(static_cast<std::uint8_t>(round)), "round %d", round);
    event->wait();  // and again at once
  }
}
GST_END_TEST;

GST_START_TEST(last_record_counts) {
  const auto device = test::open_test_device();
  Line first(*device), second(*device);
  const auto event = device->create_event();
  first.queue->record(*event);
  first.start(10);
  first.queue->record(*event);
  event->wait();
  fail_unless(first.is_done(10));
  first.queue->record(*event);
  second.start(20);
  second.queue->record(*event);  // in another queue
  event->wait();
  fail_unless(second.is_done(20));
}
GST_END_TEST;

GST_START_TEST(many_threads_wait_for_one_event) {
  const auto device = test::open_test_device();
  Line line(*device);
  const auto event = device->create_event();
  line.start(77);
  line.queue->record(*event);
  std::atomic<int> satisfied{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      event->wait();
      satisfied += line.is_done(77) ? 1 : 0;
    });
  for (std::thread& thread : threads) thread.join();
  fail_unless_equals_int(satisfied, 4);
}
GST_END_TEST;

GST_START_TEST(synchronize_of_an_empty_queue_returns) {
  const auto device = test::open_test_device();
  const auto queue = device->create_queue();
  queue->synchronize();
  queue->synchronize();
}
GST_END_TEST;

// Work that left the list of what is queued is not done yet.
GST_START_TEST(synchronize_waits_for_work_that_has_begun) {
  const auto device = test::open_test_device();
  const auto queue = device->create_queue();
  constexpr std::size_t size = std::size_t{32} << 20;
  const auto memory = device->allocate(size);
  const stripe::PinnedBlock block = device->allocate_pinned(size);
  for (int round = 1; round <= 4; ++round) {
    std::memset(block.data(), round, size);
    queue->copy(test::whole_copy(memory->data(), block.data(), size, CopyDirection::upload));
    queue->synchronize();
    std::memset(block.data(), 0, size);
    queue->copy(test::whole_copy(block.data(), memory->data(), size, CopyDirection::download));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    queue->synchronize();
    fail_unless_equals_int(static_cast<int>(block.data()[size - 1]), round);
  }
}
GST_END_TEST;

GST_START_TEST(destroyed_queue_finishes_its_work) {
  const auto device = test::open_test_device();
  for (int round = 0; round < 20; ++round) {
    Line line(*device);
    for (int i = 0; i < 5; ++i) line.start(static_cast<std::uint8_t>(round));
    line.queue.reset();
    fail_unless(line.is_done(static_cast<std::uint8_t>(round)), "round %d", round);
  }
}
GST_END_TEST;

GST_START_TEST(what_it_made_outlives_the_device) {
  auto device = test::open_test_device();
  Line line(*device);
  const auto event = device->create_event();
  device.reset();
  line.start(33);
  line.queue->record(*event);
  event->wait();
  fail_unless(line.is_done(33));
}
GST_END_TEST;

GST_START_TEST(page_locked_memory_is_told_from_other) {
  const auto device = test::open_test_device();
  const Bytes ordinary(100000);
  fail_if(device->is_page_locked(as_bytes(ordinary.data()), ordinary.size()));
  const stripe::PinnedBlock block = device->allocate_pinned(100000);
  std::memset(block.data(), 1, block.size_bytes());
  if (!test::backend_is_cuda()) return;  // on the CPU it makes no difference
  fail_unless(device->is_page_locked(block.data(), 100000));
  fail_unless(device->is_page_locked(block.data() + 5001, 17));
  fail_if(device->is_page_locked(block.data(), std::size_t{1} << 40));
}
GST_END_TEST;

GST_START_TEST(operations_can_be_prepared) {
  const auto device = test::open_test_device();
  for (stripe::Operation operation : {stripe::Operation{}, test::inversion()})
    device->prepare(operation);
}
GST_END_TEST;

// The CPU finds tables where they lie.
GST_START_TEST(operations_get_their_tables) {
  const auto device = test::open_test_device();
  const stripe::ColorSettings settings{.gamma = 2};
  stripe::Operation operation = stripe::prepare_operation(
      settings, {stripe::ColorModel::gray, 1, 1, false, {{0, 0, 1, 0, 0}}}, {});
  const auto& copy = operation.tables.gamma.on_device;
  device->prepare(operation);
  fail_unless((copy != nullptr) == test::backend_is_cuda());
  const auto* const before = copy.get();
  device->prepare(operation);
  fail_unless(copy.get() == before);
  test::open_test_device()->prepare(operation);  // another device's copy is none
  fail_unless(!copy || copy.get() != before);
}
GST_END_TEST;

// Refused before anything is queued.
GST_START_TEST(tables_must_have_been_prepared) {
  if (!test::backend_is_cuda()) return;
  const auto device = test::open_test_device();
  const auto memory = device->allocate(512);
  const stripe::KernelJob job = test::gray_job(*memory, *memory, 16, 16);
  const stripe::Operation operation = stripe::prepare_operation({.gamma = 2}, job.layout, {});
  try {
    device->create_queue()->launch(operation, job);
  } catch (const std::logic_error&) {
    return;
  }
  fail_unless(false, "an operation without its tables was launched");
}
GST_END_TEST;

GST_START_TEST(threads_have_queues_of_their_own) {
  const auto device = test::open_test_device();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) threads.emplace_back([&, i] { wrong += run_line(*device, i); });
  for (std::thread& thread : threads) thread.join();
  fail_unless_equals_int(wrong, 0);
}
GST_END_TEST;

static Suite* device_suite() {
  Suite* suite = suite_create("device");
  TCase* cases = tcase_create(test::backend_name());
  suite_add_tcase(suite, cases);
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, says_what_it_is);
  tcase_add_test(cases, memory_is_aligned);
  tcase_add_test(cases, out_of_memory_is_an_error_of_its_kind);
  tcase_add_test(cases, queue_keeps_the_order);
  tcase_add_test(cases, later_work_does_not_overtake);
  tcase_add_test(cases, queues_run_beside_each_other);
  tcase_add_test(cases, event_without_record_does_not_wait);
  tcase_add_test(cases, event_waits_for_what_was_queued_before);
  tcase_add_test(cases, last_record_counts);
  tcase_add_test(cases, many_threads_wait_for_one_event);
  tcase_add_test(cases, synchronize_of_an_empty_queue_returns);
  tcase_add_test(cases, synchronize_waits_for_work_that_has_begun);
  tcase_add_test(cases, destroyed_queue_finishes_its_work);
  tcase_add_test(cases, what_it_made_outlives_the_device);
  tcase_add_test(cases, page_locked_memory_is_told_from_other);
  tcase_add_test(cases, operations_can_be_prepared);
  tcase_add_test(cases, operations_get_their_tables);
  tcase_add_test(cases, tables_must_have_been_prepared);
  tcase_add_test(cases, threads_have_queues_of_their_own);
  return suite;
}

LIBRARY_CHECK_MAIN(device)
