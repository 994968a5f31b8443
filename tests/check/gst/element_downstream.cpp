// SPDX-License-Identifier: LGPL-2.1-or-later
// Where output goes: into pinned memory unless downstream's pool is a special one, with what the
// query asks for.

#include <set>
#include <string>
#include <vector>

#include "gst/downstream.h"
#include "gst/frames.h"
#include "gst/support.h"

namespace {

using namespace test;

void expect_default_strides(GstBuffer* output, const GstVideoInfo& info) {
  const GstVideoMeta* meta = gst_buffer_get_video_meta(output);
  for (unsigned i = 0; meta && i < GST_VIDEO_INFO_N_PLANES(&info); ++i) {
    fail_unless_equals_int(meta->stride[i], info.stride[i]);
    fail_unless_equals_uint64(meta->offset[i], info.offset[i]);
  }
  fail_unless(gst_buffer_get_size(output) >= info.size);
}

GST_START_TEST(no_answer) {
  Downstream silent;
  silent.answers = false;
  InvertingFixture one(silent, formats[__i__].name);
  const Ref<GstBuffer> output = one.process();
  expect_pinned(output.get());
  expect_default_strides(output.get(), one.info());
  fail_unless_equals_uint64(stat_uint64(one.rig.element(), "output-pinned-frames"), 1);
}
GST_END_TEST;

GST_START_TEST(an_answer_with_nothing_in_it) {
  InvertingFixture one(Downstream{}, formats[__i__].name);
  const Ref<GstBuffer> output = one.process();
  expect_pinned(output.get());
  expect_default_strides(output.get(), one.info());
  fail_unless(one.downstream.queries > 0, "downstream was never asked");
}
GST_END_TEST;

GST_START_TEST(video_meta) {
  Downstream answer;
  answer.video_meta = true;
  InvertingFixture one(answer);
  const Ref<GstBuffer> output = one.process();
  expect_pinned(output.get());
  fail_unless(gst_buffer_get_video_meta(output.get()) != nullptr);
}
GST_END_TEST;

/// videoconvert, jpegenc and others offer such pools; frames in them would be staged.
void expect_plain_pool_replaced(GstBufferPool* pool) {
  for (const bool meta : {false, true}) {
    Downstream answer = offering(pool);
    answer.video_meta = meta;
    InvertingFixture one(answer);
    for (int i = 0; i < 3; ++i) {
      const Ref<GstBuffer> output = one.process();
      expect_pinned(output.get());
      fail_unless(output->pool != pool);
      if (!meta) expect_default_strides(output.get(), one.info());
    }
    fail_unless_equals_uint64(stat_uint64(one.rig.element(), "output-pinned-frames"), 3);
  }
}

GST_START_TEST(plain_pool_is_replaced) {
  const Ref<GstBufferPool> pool(gst_buffer_pool_new());
  expect_plain_pool_replaced(pool.get());
}
GST_END_TEST;

GST_START_TEST(plain_video_pool_is_replaced) {
  const Ref<GstBufferPool> pool(gst_video_buffer_pool_new());
  expect_plain_pool_replaced(pool.get());
}
GST_END_TEST;

GST_START_TEST(sizes_without_a_pool) {
  Downstream answer = offering(nullptr);
  answer.min_buffers = 4;
  InvertingFixture one(answer);
  expect_pinned(one.process().get());
}
GST_END_TEST;

// An encoder that reads over the end asks for more than the picture needs.
GST_START_TEST(larger_buffers_wanted) {
  Downstream answer = offering(nullptr);
  InvertingFixture one(answer);
  one.downstream.size_bytes = static_cast<unsigned>(one.info().size) + 777;
  gst_harness_push_upstream_event(one.rig.harness(), gst_event_new_reconfigure());
  const Ref<GstBuffer> output = one.process();
  expect_pinned(output.get());
  fail_unless(gst_buffer_get_size(output.get()) >= one.downstream.size_bytes);
}
GST_END_TEST;

void expect_params(GstBuffer* output, const GstAllocationParams& params, const GstVideoInfo& info) {
  expect_pinned(output);
  gsize offset = 0;
  gsize max_size = 0;
  const gsize size = gst_buffer_get_sizes(output, &offset, &max_size);
  fail_unless(offset >= params.prefix, "prefix %zu", offset);
  fail_unless(max_size >= offset + size + params.padding, "padding %zu", max_size - offset - size);
  const MappedPicture mapped(output, info);
  const auto address = reinterpret_cast<guintptr>(mapped.view().planes[0].data);
  fail_unless((address & params.align) == 0, "%p is not aligned to %zu",
              mapped.view().planes[0].data, params.align + 1);
}

GST_START_TEST(allocation_params) {
  for (const gsize align : {15, 255, 4095}) {
    Downstream answer;
    answer.has_params = true;
    answer.params.align = align;
    // A whole number of alignments, so that the first byte of the picture is aligned as well.
    answer.params.prefix = align + 1;
    answer.params.padding = 100;
    InvertingFixture one(answer);
    // Kept, since GStreamer's pools forget the prefix of a buffer that comes back.
    std::vector<Ref<GstBuffer>> kept;
    for (int i = 0; i < 3; ++i) {
      kept.push_back(one.process());
      expect_params(kept.back().get(), answer.params, one.info());
    }
    kept.clear();
    answer.params.prefix = 0;
    for (int i = 0; i < 3; ++i) expect_params(one.process().get(), answer.params, one.info());
  }
}
GST_END_TEST;

// With an allocator in the answer and no pool, output still is pinned.
GST_START_TEST(another_allocator_is_replaced) {
  const Ref<GstAllocator> system(gst_allocator_find(GST_ALLOCATOR_SYSMEM));
  Downstream answer;
  answer.has_params = true;
  answer.allocator = system.get();
  InvertingFixture one(answer);
  expect_pinned(one.process().get());
}
GST_END_TEST;

GST_START_TEST(special_pool_is_kept) {
  const Ref<GstBufferPool> pool = make_guarded_pool();
  InvertingFixture one(offering(pool.get()), formats[__i__].name);
  std::vector<Ref<GstBuffer>> kept;  // or a memory comes for the second time, and is registered
  for (int i = 0; i < 5; ++i) {
    kept.push_back(one.process());
    GstBuffer* output = kept.back().get();
    fail_unless(output->pool == pool.get());
    fail_unless(guarded_image_of(output) != nullptr);
    fail_unless_empty(guarded_image_of(output)->guard_damage());
  }
  fail_unless_equals_uint64(stat_uint64(one.rig.element(), "output-pinned-frames"), 0);
  fail_unless_equals_uint64(stat_uint64(one.rig.element(), "frames-out"), 5);
}
GST_END_TEST;

// A pool that is active for somebody else's caps can't be configured.
GST_START_TEST(busy_special_pool_is_left_alone) {
  const Ref<GstBufferPool> pool = make_guarded_pool();
  const Ref<GstCaps> others = make_caps("GRAY8", 8, 8);
  GstStructure* config = gst_buffer_pool_get_config(pool.get());
  gst_buffer_pool_config_set_params(config, others.get(), 64, 1, 1);
  fail_unless(gst_buffer_pool_set_config(pool.get(), config));
  fail_unless(gst_buffer_pool_set_active(pool.get(), TRUE));
  GstBuffer* outstanding = nullptr;
  fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool.get(), &outstanding, nullptr),
                         GST_FLOW_OK);
  {
    InvertingFixture one(offering(pool.get()));
    expect_pinned(one.process().get());
    one.rig.expect_quiet();
  }
  gst_buffer_unref(outstanding);
  gst_buffer_pool_set_active(pool.get(), FALSE);
}
GST_END_TEST;

// Every failure is one error, whoever finds it first.
GST_START_TEST(special_pool_that_fails) {
  for (const PoolFault fault : {PoolFault::cannot_start, PoolFault::cannot_allocate}) {
    const Ref<GstBufferPool> pool = make_guarded_pool(fault);
    InvertingFixture one(offering(pool.get()));
    const GstFlowReturn flow = one.rig.push(make_plain_frame(one.caps.get(), one.random).share());
    fail_unless_equals_int(flow, GST_FLOW_ERROR);
    fail_unless_equals_int(take_reports(one.rig.bus(), GST_MESSAGE_ERROR).size(), 1);
  }
}
GST_END_TEST;

// Downstream that keeps frames, a display or an encoder, must not stop the element, whatever number
// of buffers its plain pool was meant to have.
GST_START_TEST(downstream_that_keeps_frames) {
  const Ref<GstBufferPool> pool(gst_video_buffer_pool_new());
  Downstream answer = offering(pool.get());
  answer.min_buffers = 1;
  answer.max_buffers = 2;
  InvertingFixture one(answer);
  std::vector<Ref<GstBuffer>> kept;
  std::set<GstMemory*> memories;
  for (int i = 0; i < 20; ++i) {
    kept.push_back(one.process());
    memories.insert(gst_buffer_peek_memory(kept.back().get(), 0));
  }
  fail_unless_equals_int(memories.size(), 20);
}
GST_END_TEST;

GST_START_TEST(frames_given_back_are_used_again) {
  InvertingFixture one(Downstream{});
  std::set<const void*> addresses;
  for (int i = 0; i < 20; ++i) {
    const Ref<GstBuffer> output = one.process();
    const MappedPicture mapped(output.get(), one.info());
    addresses.insert(mapped.view().planes[0].data);
  }
  fail_unless(addresses.size() <= 4, "%zu different buffers", addresses.size());
}
GST_END_TEST;

// Downstream changes its mind: a special pool comes and goes.
GST_START_TEST(reconfigure) {
  const Ref<GstBufferPool> pool = make_guarded_pool();
  InvertingFixture one(Downstream{});
  expect_pinned(one.process().get());
  for (int i = 0; i < 3; ++i) {
    const unsigned asked = one.downstream.queries;
    one.downstream = i % 2 == 0 ? offering(pool.get()) : Downstream{};
    one.downstream.queries = asked;
    gst_harness_push_upstream_event(one.rig.harness(), gst_event_new_reconfigure());
    const Ref<GstBuffer> output = one.process();
    fail_unless(one.downstream.queries > asked, "not asked again");
    if (i % 2 == 0)
      fail_unless(guarded_image_of(output.get()) != nullptr);
    else
      expect_pinned(output.get());
  }
}
GST_END_TEST;

GST_START_TEST(frames_outlive_the_element) {
  std::vector<Ref<GstBuffer>> kept;
  std::vector<Frame> inputs;
  Ref<GstCaps> caps;
  {
    InvertingFixture one(Downstream{});
    caps = make_caps("I420", 65, 63);
    for (int i = 0; i < 4; ++i) {
      inputs.push_back(make_plain_frame(caps.get(), one.random));
      kept.push_back(one.rig.process(inputs.back().share()));
    }
  }
  for (int i = 0; i < 4; ++i)
    fail_unless_empty(mistake(kept[i].get(), caps.get(), inputs[i].image->view(), Effect::invert));
}
GST_END_TEST;

Suite* element_downstream_suite() {
  Suite* suite = suite_create("element-downstream");
  TCase* cases = tcase_create("allocation");
  suite_add_tcase(suite, cases);
  tcase_add_loop_test(cases, no_answer, 0, format_count);
  tcase_add_loop_test(cases, an_answer_with_nothing_in_it, 0, format_count);
  tcase_add_test(cases, video_meta);
  tcase_add_test(cases, plain_pool_is_replaced);
  tcase_add_test(cases, plain_video_pool_is_replaced);
  tcase_add_test(cases, sizes_without_a_pool);
  tcase_add_test(cases, larger_buffers_wanted);
  tcase_add_test(cases, allocation_params);
  tcase_add_test(cases, another_allocator_is_replaced);
  tcase_add_loop_test(cases, special_pool_is_kept, 0, format_count);
  tcase_add_test(cases, busy_special_pool_is_left_alone);
  tcase_add_test(cases, special_pool_that_fails);
  tcase_add_test(cases, downstream_that_keeps_frames);
  tcase_add_test(cases, frames_given_back_are_used_again);
  tcase_add_test(cases, reconfigure);
  tcase_add_test(cases, frames_outlive_the_element);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_downstream)
