// SPDX-License-Identifier: LGPL-2.1-or-later
// Special memory downstream: kept wherever it can be had, and where it can't, frames go on without.

#include "gst/downstream.h"
#include "gst/frames.h"
#include "gst/special.h"
#include "gst/support.h"

namespace {

using namespace test;

/// Frames through, all in memory of that allocator alone; that it can't be page-locked is said once.
void expect_memory_of(InvertingFixture& one, GstAllocator* allocator) {
  for (int i = 0; i < 5; ++i) {
    const Ref<GstBuffer> output = one.process();
    fail_unless_equals_int(gst_buffer_n_memory(output.get()), 1);
    fail_unless(gst_buffer_peek_memory(output.get(), 0)->allocator == allocator);
  }
  fail_unless_equals_uint64(stat_uint64(one.rig.element(), "output-pinned-frames"), 0);
  one.rig.expect_one_memory_warning("TestSpecial");
}

GST_START_TEST(special_allocator_is_used) {
  const Ref<GstAllocator> allocator = make_special_allocator();
  Downstream answer;
  answer.video_meta = true;
  answer.has_params = true;
  answer.allocator = allocator.get();
  InvertingFixture one(answer, formats[__i__].name);
  expect_memory_of(one, allocator.get());
}
GST_END_TEST;

// With it all alone, and beside a pool that would be replaced anyway.
GST_START_TEST(allocator_that_only_wraps_is_passed_over) {
  const Ref<GstAllocator> allocator = make_wrapping_allocator();
  const Ref<GstBufferPool> plain(gst_video_buffer_pool_new());
  for (GstBufferPool* pool : {static_cast<GstBufferPool*>(nullptr), plain.get()}) {
    Downstream answer = offering(pool);
    answer.has_pool = pool != nullptr;
    answer.has_params = true;
    answer.allocator = allocator.get();
    answer.params.align = 127;
    InvertingFixture one(answer);
    for (int i = 0; i < 3; ++i) {
      const Ref<GstBuffer> output = one.process();
      expect_pinned(output.get());
      const MappedPicture mapped(output.get(), one.info());
      const auto address = reinterpret_cast<guintptr>(mapped.view().planes[0].data);
      fail_unless_equals_uint64(address & answer.params.align, 0);
    }
    fail_unless_equals_uint64(stat_uint64(one.rig.element(), "output-pinned-frames"), 3);
    one.rig.expect_quiet();
  }
}
GST_END_TEST;

void set_allocator(GstBufferPool* pool, GstCaps* caps, GstAllocator* allocator) {
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(info_of(caps).size), 2, 0);
  gst_buffer_pool_config_set_allocator(config, allocator, nullptr);
  fail_unless(gst_buffer_pool_set_config(pool, config));
}

// The pool is of a standard type: that it is special can be seen in its configuration alone.
void expect_pool_kept(GstBufferPool* pool, const Downstream& answer) {
  const Ref<GstAllocator> allocator = make_special_allocator();
  const Ref<GstCaps> caps = make_caps("I420", 65, 63);
  set_allocator(pool, caps.get(), allocator.get());
  InvertingFixture one(answer, "I420", 65, 63);
  fail_unless(one.process()->pool == pool);
  expect_memory_of(one, allocator.get());
}

GST_START_TEST(plain_pool_of_special_memory_is_kept) {
  for (const bool meta : {false, true}) {
    const Ref<GstBufferPool> pool(gst_video_buffer_pool_new());
    Downstream answer = offering(pool.get());
    answer.video_meta = meta;
    expect_pool_kept(pool.get(), answer);
  }
  const Ref<GstBufferPool> pool(gst_buffer_pool_new());
  expect_pool_kept(pool.get(), offering(pool.get()));
}
GST_END_TEST;

// Params without an allocator, or with one for who makes buffers of his own, don't speak of the
// pool.
GST_START_TEST(params_beside_a_pool_of_special_memory) {
  const Ref<GstAllocator> system(gst_allocator_find(GST_ALLOCATOR_SYSMEM));
  for (GstAllocator* allocator : {static_cast<GstAllocator*>(nullptr), system.get()}) {
    const Ref<GstBufferPool> pool(gst_video_buffer_pool_new());
    Downstream answer = offering(pool.get());
    answer.has_params = true;
    answer.allocator = allocator;
    answer.params.align = 15;
    expect_pool_kept(pool.get(), answer);
  }
}
GST_END_TEST;

GST_START_TEST(pool_that_wants_more_is_kept) {
  for (const PoolAnswer answer : {PoolAnswer::larger, PoolAnswer::more_buffers}) {
    const Ref<GstBufferPool> pool = make_adjusting_pool(answer);
    InvertingFixture one(offering(pool.get()), formats[__i__].name);
    const auto picture_bytes = static_cast<unsigned>(one.info().size);
    for (int i = 0; i < 5; ++i) {
      const Ref<GstBuffer> output = one.process();
      fail_unless(output->pool == pool.get());
      fail_unless_equals_uint64(gst_buffer_get_size(output.get()), answer == PoolAnswer::larger
                                                                       ? larger_size(picture_bytes)
                                                                       : picture_bytes);
    }
    one.rig.expect_quiet();
  }
}
GST_END_TEST;

GST_START_TEST(pool_that_does_not_fit_is_replaced) {
  for (const PoolAnswer answer : {PoolAnswer::smaller, PoolAnswer::refused}) {
    const Ref<GstBufferPool> pool = make_adjusting_pool(answer);
    InvertingFixture one(offering(pool.get()), formats[__i__].name);
    for (int i = 0; i < 3; ++i) expect_pinned(one.process().get());
    one.rig.expect_quiet();
  }
}
GST_END_TEST;

Suite* element_special_suite() {
  Suite* suite = suite_create("element-special");
  TCase* cases = tcase_create("special");
  suite_add_tcase(suite, cases);
  tcase_add_loop_test(cases, special_allocator_is_used, 0, format_count);
  tcase_add_test(cases, allocator_that_only_wraps_is_passed_over);
  tcase_add_test(cases, plain_pool_of_special_memory_is_kept);
  tcase_add_test(cases, params_beside_a_pool_of_special_memory);
  tcase_add_loop_test(cases, pool_that_wants_more_is_kept, 0, format_count);
  tcase_add_loop_test(cases, pool_that_does_not_fit_is_replaced, 0, format_count);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_special)
