// SPDX-License-Identifier: LGPL-2.1-or-later
// Where a picture may lie: odd strides and offsets, several memories, bottom up.

#include <algorithm>
#include <string>
#include <utility>

#include "gst/downstream.h"
#include "gst/frames.h"
#include "gst/support.h"

namespace {

using namespace test;

/// A rig with guarded output for one format and size; the effect is invert, which tells rows apart.
struct Door {
  explicit Door(const std::string& format, int width = 65, int height = 63, std::uint64_t salt = 10)
      : caps(make_caps(format, width, height)),
        random(salt),
        pool(make_guarded_pool()),
        downstream(offering(pool.get())) {
    install(rig, downstream);
    set_effect(rig.element(), Effect::invert);
    rig.set_caps(caps.get());
  }

  void check(const Frame& input) { check(input, input.image->view()); }

  /// `picture`: what the buffer means, where that isn't the guarded image's own view.
  void check(const Frame& input, const ConstPicture& picture) {
    check_bytes(input, picture);
    rig.expect_quiet();
  }

  void check_bytes(const Frame& input, const ConstPicture& picture) {
    const Ref<GstBuffer> output = rig.process(input.share());
    fail_unless_empty(mistake(output.get(), caps.get(), picture, Effect::invert));
    fail_unless_empty(input.damage());
    fail_unless(guarded_image_of(output.get()) != nullptr);
    fail_unless_empty(guarded_image_of(output.get())->guard_damage());
  }

  GstVideoInfo info() const { return info_of(caps.get()); }

  Ref<GstCaps> caps;
  Random random;
  Ref<GstBufferPool> pool;
  Downstream downstream;
  Rig rig;
};

constexpr const char* planar_formats[] = {"NV12", "I420"};

GST_START_TEST(odd_strides_and_offsets) {
  Door door(formats[__i__].name, 65, 63, 11 + __i__);
  for (const char* layout : {"rows", "columns", "tiles"}) {
    set_nick(door.rig.element(), "stripe-layout", layout);
    for (int i = 0; i < 20; ++i)
      door.check(make_frame(door.caps.get(), random_geometry(door.random, true), door.random));
  }
}
GST_END_TEST;

GST_START_TEST(bottom_up) {
  for (const auto& [width, height] : {std::pair{65, 63}, std::pair{3, 5}, std::pair{17, 1}}) {
    Door door(formats[__i__].name, width, height);
    Geometry geometry;
    for (PlaneGeometry& plane : geometry.planes) plane = {5, 3, 7, true};
    door.check(make_frame(door.caps.get(), geometry, door.random));
  }
}
GST_END_TEST;

GST_START_TEST(default_layout_without_meta) {
  for (const auto& [width, height] : {std::pair{65, 63}, std::pair{1, 1}, std::pair{3, 5}}) {
    Door door(formats[__i__].name, width, height);
    door.check(make_plain_frame(door.caps.get(), door.random));
  }
}
GST_END_TEST;

GST_START_TEST(planes_in_separate_memories_with_meta) {
  for (const char* format : planar_formats) {
    Door door(format);
    for (int i = 0; i < 10; ++i) {
      const GstVideoInfo info = door.info();
      auto image = std::make_shared<GuardedImage>(format_named(format), info.width, info.height,
                                                  random_geometry(door.random, true), door.random);
      door.check(wrap(image, {.cuts = plane_cuts(*image)}));
    }
  }
}
GST_END_TEST;

GST_START_TEST(planes_in_separate_memories_without_meta) {
  for (const char* format : planar_formats) {
    Door door(format);
    const GstVideoInfo info = door.info();
    std::vector<int> cuts;
    for (unsigned i = 1; i < GST_VIDEO_INFO_N_PLANES(&info); ++i)
      cuts.push_back(static_cast<int>(info.offset[i]));
    door.check(make_frame(door.caps.get(), default_geometry(info), door.random,
                          {.meta = false, .cuts = cuts}));
  }
}
GST_END_TEST;

// Cuts within a row, at the first and last byte, twice at the same place (an empty memory), and
// into as many memories as a buffer can have. That such planes can't be page-locked is said once,
// where it matters.
GST_START_TEST(planes_across_memories) {
  Door door(formats[__i__].name);
  const GstVideoInfo info = door.info();
  const Geometry geometry = default_geometry(info);
  const int size = static_cast<int>(info.size);
  std::vector<int> slices;
  for (int i = 1; i < 15; ++i) slices.push_back(size * i / 15 + 1);
  for (const bool meta : {true, false})
    for (const auto& cuts :
         {std::vector{size / 3 + 1}, std::vector{1}, std::vector{size - 1},
          std::vector{size / 2, size / 2}, std::vector{100, 101, size - 100}, slices}) {
      const Frame input =
          make_frame(door.caps.get(), geometry, door.random, {.meta = meta, .cuts = cuts});
      door.check_bytes(input, input.image->view());
    }
  if (any_memory_will_do())
    door.rig.expect_quiet();
  else
    door.rig.expect_one_memory_warning("memories");
}
GST_END_TEST;

GST_START_TEST(upside_down_across_memories) {
  Door door(formats[__i__].name);
  Geometry geometry;
  for (PlaneGeometry& plane : geometry.planes) plane = {1, 2, 3, true};
  door.check(make_frame(door.caps.get(), geometry, door.random, {.cuts = {1000, 2001}}));
}
GST_END_TEST;

GST_START_TEST(more_memory_than_needed) {
  Door door(formats[__i__].name);
  Geometry geometry = default_geometry(door.info());
  geometry.planes[format_named(formats[__i__].name).planes - 1].after += 1000;
  door.check(make_frame(door.caps.get(), geometry, door.random, {.meta = false}));
}
GST_END_TEST;

// The picture begins behind the memory's own offset.
GST_START_TEST(part_of_a_larger_memory) {
  for (const bool meta : {true, false}) {
    Door door(formats[__i__].name);
    const Frame inner = make_plain_frame(door.caps.get(), door.random);
    const gsize size = inner.image->size_bytes();
    Ref<GstMemory> outer(gst_allocator_alloc(nullptr, size + 300, nullptr));
    GstMapInfo map;
    fail_unless(gst_memory_map(outer.get(), &map, GST_MAP_WRITE));
    std::copy_n(inner.image->memory(), size, map.data + 77);
    gst_memory_unmap(outer.get(), &map);
    Ref<GstBuffer> buffer(gst_buffer_new());
    gst_buffer_append_memory(buffer.get(), gst_memory_share(outer.get(), 77, size));
    if (meta) add_meta(buffer.get(), *inner.image);
    door.check({inner.image, std::move(buffer)});
  }
}
GST_END_TEST;

// As decoders to YV12-like memory do it: the meta says that V comes before U.
GST_START_TEST(planes_in_another_order) {
  Door door("I420");
  Frame input = make_plain_frame(door.caps.get(), door.random);
  ConstPicture picture = input.image->view();
  std::swap(picture.planes[1], picture.planes[2]);
  add_meta(input.buffer.get(), *input.image);
  GstVideoMeta* meta = gst_buffer_get_video_meta(input.buffer.get());
  std::swap(meta->offset[1], meta->offset[2]);
  door.check(input, picture);
}
GST_END_TEST;

/// Without GstVideoMeta downstream, nothing but the default layout may come out.
GST_START_TEST(odd_input_to_default_output) {
  const Ref<GstCaps> caps = make_caps(formats[__i__].name, 65, 63);
  const GstVideoInfo info = info_of(caps.get());
  Random random(12);
  Rig rig;
  rig.set_caps(caps.get());
  const Frame input = make_frame(caps.get(), random_geometry(random, true), random);
  const Ref<GstBuffer> output = rig.process(input.share());
  fail_unless_equals_uint64(gst_buffer_get_size(output.get()), info.size);
  if (const GstVideoMeta* meta = gst_buffer_get_video_meta(output.get())) {
    for (unsigned i = 0; i < GST_VIDEO_INFO_N_PLANES(&info); ++i) {
      fail_unless_equals_int(meta->stride[i], info.stride[i]);
      fail_unless_equals_uint64(meta->offset[i], info.offset[i]);
    }
  }
  fail_unless_empty(mistake(output.get(), caps.get(), input.image->view(), Effect::none));
}
GST_END_TEST;

Suite* element_memory_suite() {
  Suite* suite = suite_create("element-memory");
  TCase* cases = tcase_create("memory");
  tcase_set_timeout(cases, 60);
  suite_add_tcase(suite, cases);
  tcase_add_loop_test(cases, odd_strides_and_offsets, 0, format_count);
  tcase_add_loop_test(cases, bottom_up, 0, format_count);
  tcase_add_loop_test(cases, default_layout_without_meta, 0, format_count);
  tcase_add_test(cases, planes_in_separate_memories_with_meta);
  tcase_add_test(cases, planes_in_separate_memories_without_meta);
  tcase_add_loop_test(cases, planes_across_memories, 0, format_count);
  tcase_add_loop_test(cases, upside_down_across_memories, 0, format_count);
  tcase_add_loop_test(cases, more_memory_than_needed, 0, format_count);
  tcase_add_loop_test(cases, part_of_a_larger_memory, 0, format_count);
  tcase_add_test(cases, planes_in_another_order);
  tcase_add_loop_test(cases, odd_input_to_default_output, 0, format_count);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_memory)
