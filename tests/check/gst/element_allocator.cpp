// SPDX-License-Identifier: LGPL-2.1-or-later
// The allocator CudaStripePinned as anybody may use it, without an element.

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "gst/support.h"
#include "support/random.h"

namespace {

using namespace test;

constexpr const char* allocator_name = "CudaStripePinned";

/// Allocators are registered when their plugin is loaded, and nothing else loads it here.
Ref<GstAllocator> find_allocator() {
  GstPlugin* plugin = gst_plugin_load_by_name("cudastripe");
  fail_unless(plugin != nullptr);
  gst_object_unref(plugin);
  Ref<GstAllocator> allocator(gst_allocator_find(allocator_name));
  fail_unless(allocator != nullptr);
  return allocator;
}

/// GstMemory mapped for as long as this lives.
class Mapped {
 public:
  Mapped(GstMemory* memory, GstMapFlags flags) : memory_(memory) {
    fail_unless(gst_memory_map(memory, &info_, flags));
  }
  Mapped(const Mapped&) = delete;
  ~Mapped() { gst_memory_unmap(memory_, &info_); }
  guint8* data() const { return info_.data; }
  gsize size() const { return info_.size; }

 private:
  GstMemory* memory_;
  GstMapInfo info_;
};

void fill_counting(GstMemory* memory) {
  const Mapped map(memory, GST_MAP_WRITE);
  for (gsize i = 0; i < map.size(); ++i) map.data()[i] = static_cast<guint8>(i * 7);
}

/// Whether the memory holds the bytes `first`, `first` + 1 ... of what fill_counting writes.
bool counts_from(GstMemory* memory, gsize first) {
  const Mapped map(memory, GST_MAP_READ);
  for (gsize i = 0; i < map.size(); ++i)
    if (map.data()[i] != static_cast<guint8>((first + i) * 7)) return false;
  return true;
}

GST_START_TEST(name_and_type) {
  const Ref<GstAllocator> allocator = find_allocator();
  fail_unless_equals_string(allocator->mem_type, allocator_name);
  const Ref<GstMemory> memory(gst_allocator_alloc(allocator.get(), 100, nullptr));
  fail_unless(gst_memory_is_type(memory.get(), allocator_name));
  fail_unless(memory->allocator == allocator.get());
  const Ref<GstAllocator> again(gst_allocator_find(allocator_name));
  fail_unless(again.get() == allocator.get(), "one allocator a process");
}
GST_END_TEST;

GST_START_TEST(sizes) {
  const Ref<GstAllocator> allocator = find_allocator();
  for (const gsize size : {1, 3, 100, 4095, 4096, 4097, 65535, (1 << 20) + 1, 25000000}) {
    const Ref<GstMemory> memory(gst_allocator_alloc(allocator.get(), size, nullptr));
    fail_unless(memory != nullptr);
    gsize offset = 0;
    gsize max_size = 0;
    fail_unless_equals_uint64(gst_memory_get_sizes(memory.get(), &offset, &max_size), size);
    fail_unless_equals_uint64(offset, 0);
    fail_unless(max_size >= size);
    fill_counting(memory.get());
    fail_unless(counts_from(memory.get(), 0));
  }
}
GST_END_TEST;

GST_START_TEST(nothing_at_all) {
  const Ref<GstAllocator> allocator = find_allocator();
  const Ref<GstMemory> memory(gst_allocator_alloc(allocator.get(), 0, nullptr));
  if (memory) fail_unless_equals_uint64(gst_memory_get_sizes(memory.get(), nullptr, nullptr), 0);
}
GST_END_TEST;

// Each number of bits, and sizes that do not fit it.
GST_START_TEST(alignments) {
  const Ref<GstAllocator> allocator = find_allocator();
  for (gsize align = 0; align <= 65535; align = align * 2 + 1) {
    for (const gsize size : {1, 17, 5000}) {
      GstAllocationParams params;
      gst_allocation_params_init(&params);
      params.align = align;
      const Ref<GstMemory> memory(gst_allocator_alloc(allocator.get(), size, &params));
      fail_unless(memory != nullptr && memory->align >= align);
      fill_counting(memory.get());
      const Mapped map(memory.get(), GST_MAP_READ);
      fail_unless_equals_uint64(map.size(), size);
      fail_unless((reinterpret_cast<guintptr>(map.data()) & align) == 0, "align %zu", align);
    }
  }
}
GST_END_TEST;

/// All of a memory, also what is before and behind its part in use.
Ref<GstMemory> make_aligned(GstAllocator* allocator, gsize align, gsize size) {
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = align;
  params.padding = 3;
  Ref<GstMemory> memory(gst_allocator_alloc(allocator, size, &params));
  fail_unless(memory != nullptr && memory->maxsize >= size + params.padding);
  gst_memory_resize(memory.get(), 0, static_cast<gssize>(memory->maxsize));
  return memory;
}

// Blocks begin at pages, whatever the alignment moves: beyond a block's end another one begins.
GST_START_TEST(large_alignments_side_by_side) {
  constexpr gsize aligns[] = {511, 1023, 4095, 8191};
  const gsize align = aligns[__i__];
  const Ref<GstAllocator> allocator = find_allocator();
  std::vector<Ref<GstMemory>> held;
  for (const gsize size : {1, 511, 1021, 4093, 4095, 4097, 8189, 8191, 8193, 12287, 65537})
    for (int i = 0; i < 4; ++i) {
      held.push_back(make_aligned(allocator.get(), align, size));
      const Mapped map(held.back().get(), GST_MAP_WRITE);
      fail_unless((reinterpret_cast<guintptr>(map.data()) & align) == 0, "%zu bytes at %p", size,
                  map.data());
      std::memset(map.data(), static_cast<int>(held.size()), map.size());
    }
  for (gsize i = 0; i < held.size(); ++i) {
    const Mapped map(held[i].get(), GST_MAP_READ);
    for (gsize k = 0; k < map.size(); ++k) fail_unless_equals_int(map.data()[k], i + 1);
  }
}
GST_END_TEST;

GST_START_TEST(prefix_and_padding) {
  const Ref<GstAllocator> allocator = find_allocator();
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = 127;
  params.prefix = 33;
  params.padding = 77;
  const Ref<GstMemory> memory(gst_allocator_alloc(allocator.get(), 1001, &params));
  gsize offset = 0;
  gsize max_size = 0;
  fail_unless_equals_uint64(gst_memory_get_sizes(memory.get(), &offset, &max_size), 1001);
  fail_unless_equals_uint64(offset, 33);
  fail_unless(max_size >= 33 + 1001 + 77);
  // All of it can be had and written.
  gst_memory_resize(memory.get(), -33, 33 + 1001 + 77);
  fill_counting(memory.get());
  fail_unless(counts_from(memory.get(), 0));
}
GST_END_TEST;

GST_START_TEST(zeroed_prefix_and_padding) {
  const Ref<GstAllocator> allocator = find_allocator();
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.flags =
      static_cast<GstMemoryFlags>(GST_MEMORY_FLAG_ZERO_PREFIXED | GST_MEMORY_FLAG_ZERO_PADDED);
  params.prefix = 100;
  params.padding = 200;
  // A block that the cache hands out again is dirty.
  for (int i = 0; i < 3; ++i) {
    const Ref<GstMemory> memory(gst_allocator_alloc(allocator.get(), 1000, &params));
    gst_memory_resize(memory.get(), -100, 1300);
    {
      const Mapped map(memory.get(), GST_MAP_READ);
      for (int k = 0; k < 100; ++k) fail_unless_equals_int(map.data()[k], 0);
      for (int k = 0; k < 200; ++k) fail_unless_equals_int(map.data()[1100 + k], 0);
    }
    fill_counting(memory.get());
  }
}
GST_END_TEST;

GST_START_TEST(share) {
  const Ref<GstAllocator> allocator = find_allocator();
  Ref<GstMemory> whole(gst_allocator_alloc(allocator.get(), 1000, nullptr));
  fill_counting(whole.get());
  const Ref<GstMemory> part(gst_memory_share(whole.get(), 100, 500));
  const Ref<GstMemory> rest(gst_memory_share(whole.get(), 600, -1));
  Ref<GstMemory> part_of_part(gst_memory_share(part.get(), 11, 22));
  fail_unless_equals_uint64(gst_memory_get_sizes(rest.get(), nullptr, nullptr), 400);
  fail_unless(part->parent == whole.get());
  fail_unless(part_of_part->parent == whole.get(), "parents are roots");
  // Saying so is optional; where it is said, it must be right.
  gsize offset = 100;
  gst_memory_is_span(part.get(), rest.get(), &offset);
  fail_unless_equals_uint64(offset, 100);
  fail_unless(!gst_memory_is_span(rest.get(), part.get(), nullptr));
  // The parts keep the whole alive.
  whole.reset();
  fail_unless(counts_from(part.get(), 100));
  fail_unless(counts_from(rest.get(), 600));
  fail_unless(counts_from(part_of_part.get(), 111));
}
GST_END_TEST;

GST_START_TEST(copy) {
  const Ref<GstAllocator> allocator = find_allocator();
  Ref<GstMemory> whole(gst_allocator_alloc(allocator.get(), 1000, nullptr));
  fill_counting(whole.get());
  const Ref<GstMemory> all(gst_memory_copy(whole.get(), 0, -1));
  const Ref<GstMemory> some(gst_memory_copy(whole.get(), 250, 500));
  fail_unless(all->parent == nullptr && some->parent == nullptr);
  {
    const Mapped map(whole.get(), GST_MAP_WRITE);
    std::memset(map.data(), 0, map.size());
  }
  whole.reset();
  fail_unless_equals_uint64(gst_memory_get_sizes(all.get(), nullptr, nullptr), 1000);
  fail_unless_equals_uint64(gst_memory_get_sizes(some.get(), nullptr, nullptr), 500);
  fail_unless(counts_from(all.get(), 0));
  fail_unless(counts_from(some.get(), 250));
}
GST_END_TEST;

GST_START_TEST(resize) {
  const Ref<GstAllocator> allocator = find_allocator();
  const Ref<GstMemory> memory(gst_allocator_alloc(allocator.get(), 1000, nullptr));
  fill_counting(memory.get());
  gst_memory_resize(memory.get(), 100, 800);
  fail_unless(counts_from(memory.get(), 100));
  gst_memory_resize(memory.get(), 50, 10);
  fail_unless(counts_from(memory.get(), 150));
  const Ref<GstMemory> copy(gst_memory_copy(memory.get(), 1, -1));
  fail_unless_equals_uint64(gst_memory_get_sizes(copy.get(), nullptr, nullptr), 9);
  fail_unless(counts_from(copy.get(), 151));
}
GST_END_TEST;

GST_START_TEST(in_buffers) {
  const Ref<GstAllocator> allocator = find_allocator();
  Ref<GstBuffer> buffer(gst_buffer_new_allocate(allocator.get(), 3000, nullptr));
  fill_counting(gst_buffer_peek_memory(buffer.get(), 0));
  const Ref<GstBuffer> region(
      gst_buffer_copy_region(buffer.get(), GST_BUFFER_COPY_MEMORY, 1000, 1000));
  const Ref<GstBuffer> deep(gst_buffer_copy_deep(buffer.get()));
  buffer.reset();
  fail_unless(counts_from(gst_buffer_peek_memory(region.get(), 0), 1000));
  fail_unless(counts_from(gst_buffer_peek_memory(deep.get(), 0), 0));
}
GST_END_TEST;

// Blocks come back from a cache: nobody's bytes may change while somebody holds them.
GST_START_TEST(many_at_once) {
  const Ref<GstAllocator> allocator = find_allocator();
  Random random(50);
  std::vector<Ref<GstMemory>> held;
  for (int i = 0; i < 2000; ++i) {
    if (held.size() > 20) {
      const int victim = random.between(0, static_cast<int>(held.size()) - 1);
      fail_unless(counts_from(held[victim].get(), 0));
      held.erase(held.begin() + victim);
    }
    held.emplace_back(
        gst_allocator_alloc(allocator.get(), random.between(1, 3) * 4096 - 1, nullptr));
    fill_counting(held.back().get());
  }
}
GST_END_TEST;

GST_START_TEST(from_many_threads) {
  const Ref<GstAllocator> allocator = find_allocator();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        const Ref<GstMemory> memory(
            gst_allocator_alloc(allocator.get(), 5000 + i % 3 * 4096, nullptr));
        fill_counting(memory.get());
        if (!counts_from(memory.get(), 0)) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  fail_unless_equals_int(wrong, 0);
}
GST_END_TEST;

// What cannot be had is NULL, as with every allocator, and no abort.
GST_START_TEST(more_than_there_is) {
  const Ref<GstAllocator> allocator = find_allocator();
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.prefix = 4096;
  params.padding = 4096;
  params.align = 4095;
  for (const gsize below : {0, 1, 4095, 4096, 10000, 20000})
    fail_unless(gst_allocator_alloc(allocator.get(), G_MAXSIZE - below, &params) == nullptr);
  for (const gsize below : {0, 1, 4095})
    fail_unless(gst_allocator_alloc(allocator.get(), G_MAXSIZE - below, nullptr) == nullptr);
}
GST_END_TEST;

Suite* element_allocator_suite() {
  Suite* suite = suite_create("element-allocator");
  TCase* cases = tcase_create("allocator");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, name_and_type);
  tcase_add_test(cases, sizes);
  tcase_add_test(cases, nothing_at_all);
  tcase_add_test(cases, alignments);
  tcase_add_loop_test(cases, large_alignments_side_by_side, 0, 4);
  tcase_add_test(cases, prefix_and_padding);
  tcase_add_test(cases, zeroed_prefix_and_padding);
  tcase_add_test(cases, share);
  tcase_add_test(cases, copy);
  tcase_add_test(cases, resize);
  tcase_add_test(cases, in_buffers);
  tcase_add_test(cases, many_at_once);
  tcase_add_test(cases, from_many_threads);
  tcase_add_test(cases, more_than_there_is);
  return suite;
}

}  // namespace

// more_than_there_is asks for what ASan would stop the program for.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

ELEMENT_CHECK_MAIN(element_allocator)
