// SPDX-License-Identifier: LGPL-2.1-or-later
// What the element offers upstream, and which input it uses where it lies.

#include <algorithm>
#include <string>

#include "gst/frames.h"
#include "gst/support.h"

namespace {

using namespace test;

constexpr const char* allocator_name = "CudaStripePinned";

/// What the element answers to an ALLOCATION query.
struct Offer {
  bool answered = false;
  Ref<GstBufferPool> pool = nullptr;
  guint size_bytes = 0;
  guint min_buffers = 0;
  guint max_buffers = 0;
  Ref<GstAllocator> allocator = nullptr;
  GstAllocationParams params = {};
  bool video_meta = false;
};

void read_pool(GstQuery* query, Offer& offer) {
  if (gst_query_get_n_allocation_pools(query) == 0) return;
  GstBufferPool* pool = nullptr;
  gst_query_parse_nth_allocation_pool(query, 0, &pool, &offer.size_bytes, &offer.min_buffers,
                                      &offer.max_buffers);
  offer.pool.reset(pool);
}

void read_allocator(GstQuery* query, Offer& offer) {
  if (gst_query_get_n_allocation_params(query) == 0) return;
  GstAllocator* allocator = nullptr;
  gst_query_parse_nth_allocation_param(query, 0, &allocator, &offer.params);
  offer.allocator.reset(allocator);
}

Offer ask(Rig& rig, GstCaps* caps, bool need_pool) {
  const Ref<GstQuery> query(gst_query_new_allocation(caps, need_pool));
  Offer offer;
  offer.answered = gst_pad_peer_query(rig.harness()->srcpad, query.get());
  if (!offer.answered) return offer;
  read_pool(query.get(), offer);
  read_allocator(query.get(), offer);
  offer.video_meta = gst_query_find_allocation_meta(query.get(), GST_VIDEO_META_API_TYPE, nullptr);
  return offer;
}

/// Configures the pool as upstream elements do, and starts it.
void start_pool(const Offer& offer, GstCaps* caps, const GstVideoAlignment* alignment = nullptr) {
  GstStructure* config = gst_buffer_pool_get_config(offer.pool.get());
  gst_buffer_pool_config_set_params(config, caps, offer.size_bytes, offer.min_buffers,
                                    offer.max_buffers);
  gst_buffer_pool_config_set_allocator(config, offer.allocator.get(), &offer.params);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (alignment) {
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
    gst_buffer_pool_config_set_video_alignment(config, const_cast<GstVideoAlignment*>(alignment));
  }
  fail_unless(gst_buffer_pool_set_config(offer.pool.get(), config));
  fail_unless(gst_buffer_pool_set_active(offer.pool.get(), TRUE));
}

/// A random picture of the caps, in whatever layout `buffer` has.
GuardedImage fill(GstBuffer* buffer, GstCaps* caps, Random& random) {
  const GstVideoInfo info = info_of(caps);
  GuardedImage image(format_named(GST_VIDEO_INFO_NAME(&info)), info.width, info.height, {}, random);
  GstVideoFrame frame;
  fail_unless(gst_video_frame_map(&frame, &info, buffer, GST_MAP_WRITE));
  for (int i = 0; i < image.picture().format->planes; ++i)
    for (int y = 0; y < row_count(*image.picture().format, i, info.height); ++y)
      std::copy_n(image.picture().planes[i].data + y * image.picture().planes[i].stride,
                  row_bytes(*image.picture().format, i, info.width),
                  static_cast<std::uint8_t*>(frame.data[i]) + y * frame.info.stride[i]);
  gst_video_frame_unmap(&frame);
  return image;
}

Ref<GstBuffer> acquire(const Offer& offer) {
  GstBuffer* buffer = nullptr;
  fail_unless_equals_int(gst_buffer_pool_acquire_buffer(offer.pool.get(), &buffer, nullptr),
                         GST_FLOW_OK);
  return Ref<GstBuffer>(buffer);
}

/// An inverting element with caps set.
struct Fixture {
  explicit Fixture(const char* format = "I420", int width = 65, int height = 63)
      : caps(make_caps(format, width, height)), random(30) {
    set_effect(rig.element(), Effect::invert);
    rig.set_caps(caps.get());
  }

  void check(Ref<GstBuffer> buffer) {
    const GuardedImage image = fill(buffer.get(), caps.get(), random);
    const Ref<GstBuffer> output = rig.process(std::move(buffer));
    fail_unless_empty(mistake(output.get(), caps.get(), image.view(), Effect::invert));
  }

  void expect_counts(unsigned pinned, unsigned staged) {
    fail_unless_equals_uint64(stat_uint64(rig.element(), "input-pinned-frames"), pinned);
    fail_unless_equals_uint64(stat_uint64(rig.element(), "staged-frames"), staged);
    fail_unless_equals_uint64(stat_uint64(rig.element(), "frames-in"), pinned + staged);
  }

  Ref<GstCaps> caps;
  Random random;
  Rig rig;
};

GST_START_TEST(a_standard_pool_on_the_pinned_allocator) {
  Fixture one(formats[__i__].name);
  const Offer offer = ask(one.rig, one.caps.get(), true);
  fail_unless(offer.answered && offer.pool != nullptr);
  fail_unless(GST_IS_VIDEO_BUFFER_POOL(offer.pool.get()));
  fail_unless(offer.size_bytes >= info_of(one.caps.get()).size);
  fail_unless(offer.min_buffers >= 3, "%u buffers", offer.min_buffers);
  fail_unless(offer.max_buffers == 0 || offer.max_buffers >= offer.min_buffers);
  fail_unless(offer.video_meta);
  fail_unless(offer.allocator != nullptr);
  fail_unless_equals_string(offer.allocator->mem_type, allocator_name);
  fail_unless(gst_buffer_pool_has_option(offer.pool.get(), GST_BUFFER_POOL_OPTION_VIDEO_META));
  fail_unless(gst_buffer_pool_has_option(offer.pool.get(), GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT));
}
GST_END_TEST;

// An upstream with a pool of its own wants no pool of ours, but may take the allocator.
GST_START_TEST(the_allocator_without_a_pool) {
  Fixture one;
  const Offer offer = ask(one.rig, one.caps.get(), false);
  fail_unless(offer.answered);
  fail_unless(offer.pool == nullptr);
  fail_unless(offer.video_meta);
  fail_unless(offer.allocator != nullptr);
  fail_unless_equals_string(offer.allocator->mem_type, allocator_name);
}
GST_END_TEST;

GST_START_TEST(pool_buffers_are_used_as_they_are) {
  Fixture one(formats[__i__].name);
  const Offer offer = ask(one.rig, one.caps.get(), true);
  start_pool(offer, one.caps.get());
  for (int i = 0; i < 7; ++i) {
    Ref<GstBuffer> buffer = acquire(offer);
    fail_unless(gst_memory_is_type(gst_buffer_peek_memory(buffer.get(), 0), allocator_name));
    one.check(std::move(buffer));
  }
  one.expect_counts(7, 0);
  fail_unless(stat_boolean(one.rig.element(), "upstream-uses-pool"));
  gst_buffer_pool_set_active(offer.pool.get(), FALSE);
}
GST_END_TEST;

GST_START_TEST(foreign_buffers_are_staged) {
  Fixture one(formats[__i__].name);
  for (int i = 0; i < 3; ++i) {
    const Frame input = make_plain_frame(one.caps.get(), one.random);
    const Ref<GstBuffer> output = one.rig.process(input.share());
    fail_unless_empty(mistake(output.get(), one.caps.get(), input.image->view(), Effect::invert));
  }
  one.expect_counts(0, 3);
  fail_unless(!stat_boolean(one.rig.element(), "upstream-uses-pool"));
}
GST_END_TEST;

GST_START_TEST(memory_of_the_allocator_without_the_pool) {
  Fixture one;
  const Ref<GstAllocator> allocator(gst_allocator_find(allocator_name));
  fail_unless(allocator != nullptr);
  const gsize size = info_of(one.caps.get()).size;
  one.check(Ref<GstBuffer>(gst_buffer_new_allocate(allocator.get(), size, nullptr)));
  one.expect_counts(1, 0);
  fail_unless(!stat_boolean(one.rig.element(), "upstream-uses-pool"));
}
GST_END_TEST;

// A share is a GstMemory of its own whose root is pinned.
GST_START_TEST(a_share_of_pinned_memory) {
  Fixture one;
  const Ref<GstAllocator> allocator(gst_allocator_find(allocator_name));
  const gsize size = info_of(one.caps.get()).size;
  Ref<GstBuffer> filled(gst_buffer_new_allocate(nullptr, size, nullptr));
  const GuardedImage image = fill(filled.get(), one.caps.get(), one.random);
  Ref<GstMemory> whole(gst_allocator_alloc(allocator.get(), size + 1000, nullptr));
  GstMapInfo map;
  fail_unless(gst_memory_map(whole.get(), &map, GST_MAP_WRITE));
  gst_buffer_extract(filled.get(), 0, map.data + 333, size);
  gst_memory_unmap(whole.get(), &map);
  Ref<GstBuffer> buffer(gst_buffer_new());
  gst_buffer_append_memory(buffer.get(), gst_memory_share(whole.get(), 333, size));
  whole.reset();
  const Ref<GstBuffer> output = one.rig.process(std::move(buffer));
  fail_unless_empty(mistake(output.get(), one.caps.get(), image.view(), Effect::invert));
  one.expect_counts(1, 0);
}
GST_END_TEST;

// Half pinned is not pinned.
GST_START_TEST(one_plane_in_ordinary_memory) {
  Fixture one("I420", 64, 64);
  const Ref<GstAllocator> allocator(gst_allocator_find(allocator_name));
  Ref<GstBuffer> buffer(gst_buffer_new());
  gst_buffer_append_memory(buffer.get(), gst_allocator_alloc(allocator.get(), 64 * 64, nullptr));
  gst_buffer_append_memory(buffer.get(), gst_allocator_alloc(nullptr, 32 * 32, nullptr));
  gst_buffer_append_memory(buffer.get(), gst_allocator_alloc(allocator.get(), 32 * 32, nullptr));
  gsize offsets[GST_VIDEO_MAX_PLANES] = {0, 64 * 64, 64 * 64 + 32 * 32};
  gint strides[GST_VIDEO_MAX_PLANES] = {64, 32, 32};
  gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, 64,
                                 64, 3, offsets, strides);
  one.check(std::move(buffer));
  one.expect_counts(0, 1);
}
GST_END_TEST;

// Pinned or not, devices copy rows that go down in memory only.
GST_START_TEST(bottom_up_in_pinned_memory) {
  Fixture one(formats[__i__].name);
  Geometry geometry;
  for (PlaneGeometry& plane : geometry.planes) plane = {3, 5, 7, true};
  const Frame picture = make_frame(one.caps.get(), geometry, one.random);
  const gsize size = picture.image->size_bytes();
  const Ref<GstAllocator> allocator(gst_allocator_find(allocator_name));
  Ref<GstBuffer> buffer(gst_buffer_new_allocate(allocator.get(), size, nullptr));
  gst_buffer_fill(buffer.get(), 0, picture.image->memory(), size);
  add_meta(buffer.get(), *picture.image);
  const Ref<GstBuffer> output = one.rig.process(std::move(buffer));
  fail_unless_empty(mistake(output.get(), one.caps.get(), picture.image->view(), Effect::invert));
  one.expect_counts(0, 1);
}
GST_END_TEST;

// As decoders with direct rendering ask for it.
GST_START_TEST(video_alignment) {
  Fixture one(formats[__i__].name);
  GstVideoAlignment alignment;
  gst_video_alignment_reset(&alignment);
  alignment.padding_left = alignment.padding_top = 16;
  alignment.padding_right = 15;
  alignment.padding_bottom = 17;
  for (guint& align : alignment.stride_align) align = 31;
  const Offer offer = ask(one.rig, one.caps.get(), true);
  start_pool(offer, one.caps.get(), &alignment);
  for (int i = 0; i < 4; ++i) {
    Ref<GstBuffer> buffer = acquire(offer);
    const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer.get());
    fail_unless(meta != nullptr && meta->offset[0] > 0 && meta->stride[0] % 32 == 0);
    one.check(std::move(buffer));
  }
  one.expect_counts(4, 0);
  gst_buffer_pool_set_active(offer.pool.get(), FALSE);
}
GST_END_TEST;

GST_START_TEST(larger_buffers_than_needed) {
  Fixture one;
  Offer offer = ask(one.rig, one.caps.get(), true);
  offer.size_bytes += 12345;
  start_pool(offer, one.caps.get());
  one.check(acquire(offer));
  one.expect_counts(1, 0);
  gst_buffer_pool_set_active(offer.pool.get(), FALSE);
}
GST_END_TEST;

// Decoders may ask again for each frame: what was taken before stays good.
GST_START_TEST(asked_again_and_again) {
  Fixture one;
  const Offer first = ask(one.rig, one.caps.get(), true);
  start_pool(first, one.caps.get());
  for (int i = 0; i < 10; ++i) {
    const Offer again = ask(one.rig, one.caps.get(), true);
    fail_unless(again.pool != nullptr);
    one.check(acquire(first));
  }
  one.expect_counts(10, 0);
  fail_unless(stat_boolean(one.rig.element(), "upstream-uses-pool"));
  gst_buffer_pool_set_active(first.pool.get(), FALSE);
}
GST_END_TEST;

GST_START_TEST(after_a_caps_change) {
  Fixture one;
  const Offer small = ask(one.rig, one.caps.get(), true);
  one.caps = make_caps("RGBA", 200, 100);
  one.rig.set_caps(one.caps.get());
  const Offer large = ask(one.rig, one.caps.get(), true);
  fail_unless(large.pool != nullptr && large.size_bytes >= 200 * 100 * 4);
  start_pool(large, one.caps.get());
  one.check(acquire(large));
  one.expect_counts(1, 0);
  gst_buffer_pool_set_active(large.pool.get(), FALSE);
}
GST_END_TEST;

GST_START_TEST(queries_that_make_no_sense) {
  Rig rig;
  ask(rig, nullptr, true);
  const Ref<GstCaps> caps = make_caps("RGB", 16, 16);
  ask(rig, caps.get(), true);
  rig.set_caps(caps.get());
  fail_unless(ask(rig, nullptr, true).pool == nullptr);
  rig.expect_quiet();
}
GST_END_TEST;

GST_START_TEST(pool_outlives_the_element) {
  Ref<GstBuffer> held;
  Offer offer;
  {
    Fixture one;
    offer = ask(one.rig, one.caps.get(), true);
    start_pool(offer, one.caps.get());
    held = acquire(offer);
    one.check(acquire(offer));
  }
  gst_buffer_memset(held.get(), 0, 1, gst_buffer_get_size(held.get()));
  gst_buffer_memset(acquire(offer).get(), 0, 2, offer.size_bytes);
  guint8 byte = 0;
  gst_buffer_extract(held.get(), offer.size_bytes - 1, &byte, 1);
  fail_unless_equals_int(byte, 1);
  held.reset();
  gst_buffer_pool_set_active(offer.pool.get(), FALSE);
}
GST_END_TEST;

Suite* element_upstream_suite() {
  Suite* suite = suite_create("element-upstream");
  TCase* cases = tcase_create("allocation");
  suite_add_tcase(suite, cases);
  tcase_add_loop_test(cases, a_standard_pool_on_the_pinned_allocator, 0, format_count);
  tcase_add_test(cases, the_allocator_without_a_pool);
  tcase_add_loop_test(cases, pool_buffers_are_used_as_they_are, 0, format_count);
  tcase_add_loop_test(cases, foreign_buffers_are_staged, 0, format_count);
  tcase_add_test(cases, memory_of_the_allocator_without_the_pool);
  tcase_add_test(cases, a_share_of_pinned_memory);
  tcase_add_test(cases, one_plane_in_ordinary_memory);
  tcase_add_loop_test(cases, bottom_up_in_pinned_memory, 0, format_count);
  tcase_add_loop_test(cases, video_alignment, 0, format_count);
  tcase_add_test(cases, larger_buffers_than_needed);
  tcase_add_test(cases, asked_again_and_again);
  tcase_add_test(cases, after_a_caps_change);
  tcase_add_test(cases, queries_that_make_no_sense);
  tcase_add_test(cases, pool_outlives_the_element);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_upstream)
