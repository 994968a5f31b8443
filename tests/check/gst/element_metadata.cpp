// SPDX-License-Identifier: LGPL-2.1-or-later
// What travels with a frame: times, flags, metas; and frames that come too late.

#include <gst/base/gstbasetransform.h>

#include <string>
#include <vector>

#include "gst/frames.h"
#include "gst/support.h"

namespace {

using namespace test;

constexpr int width = 16;
constexpr int height = 16;

/// A rig for small GRAY8 frames, whose pixels do not matter here.
struct Fixture {
  Fixture() : caps(make_caps("GRAY8", width, height)) { rig.set_caps(caps.get()); }

  Ref<GstBuffer> input() const {
    Ref<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, width * height, nullptr));
    gst_buffer_memset(buffer.get(), 0, 77, width * height);
    return buffer;
  }

  Ref<GstCaps> caps;
  Rig rig;
};

GST_START_TEST(times_and_offsets) {
  Fixture one;
  for (int i = 0; i < 3; ++i) {
    Ref<GstBuffer> input = one.input();
    GST_BUFFER_PTS(input.get()) = (i + 3) * GST_SECOND;
    GST_BUFFER_DTS(input.get()) = (i + 2) * GST_SECOND;
    GST_BUFFER_DURATION(input.get()) = GST_SECOND + i;
    GST_BUFFER_OFFSET(input.get()) = 100 + i;
    GST_BUFFER_OFFSET_END(input.get()) = 200 + i;
    const Ref<GstBuffer> output = one.rig.process(std::move(input));
    fail_unless_equals_uint64(GST_BUFFER_PTS(output.get()), (i + 3) * GST_SECOND);
    fail_unless_equals_uint64(GST_BUFFER_DTS(output.get()), (i + 2) * GST_SECOND);
    fail_unless_equals_uint64(GST_BUFFER_DURATION(output.get()), GST_SECOND + i);
    fail_unless_equals_uint64(GST_BUFFER_OFFSET(output.get()), 100 + i);
    fail_unless_equals_uint64(GST_BUFFER_OFFSET_END(output.get()), 200 + i);
  }
}
GST_END_TEST;

GST_START_TEST(times_that_are_not_known) {
  Fixture one;
  const Ref<GstBuffer> output = one.rig.process(one.input());
  fail_unless(!GST_BUFFER_PTS_IS_VALID(output.get()));
  fail_unless(!GST_BUFFER_DURATION_IS_VALID(output.get()));
}
GST_END_TEST;

// Output buffers come from a pool: what one frame had must not stick to the next.
GST_START_TEST(flags) {
  Fixture one;
  for (const guint flag :
       {static_cast<guint>(GST_BUFFER_FLAG_DISCONT), static_cast<guint>(GST_BUFFER_FLAG_CORRUPTED),
        static_cast<guint>(GST_BUFFER_FLAG_DELTA_UNIT), static_cast<guint>(GST_BUFFER_FLAG_MARKER),
        static_cast<guint>(GST_VIDEO_BUFFER_FLAG_INTERLACED),
        static_cast<guint>(GST_VIDEO_BUFFER_FLAG_TFF),
        static_cast<guint>(GST_VIDEO_BUFFER_FLAG_RFF)}) {
    Ref<GstBuffer> marked = one.input();
    GST_BUFFER_FLAG_SET(marked.get(), flag);
    const Ref<GstBuffer> with = one.rig.process(std::move(marked));
    fail_unless(GST_BUFFER_FLAG_IS_SET(with.get(), flag), "flag 0x%x is lost", flag);
    const Ref<GstBuffer> without = one.rig.process(one.input());
    fail_unless(!GST_BUFFER_FLAG_IS_SET(without.get(), flag), "flag 0x%x sticks", flag);
  }
}
GST_END_TEST;

/// A meta that says nothing but its tags.
struct CustomMeta {
  const char* name;
  std::vector<const char*> tags;
  bool copied;
};

const std::vector<CustomMeta>& custom_metas() {
  static const std::vector<CustomMeta> metas = {
      {"test-none", {}, true},
      {"test-video", {GST_META_TAG_VIDEO_STR}, true},
      {"test-orientation", {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_ORIENTATION_STR}, true},
      {"test-size", {GST_META_TAG_VIDEO_SIZE_STR}, true},
      {"test-colorspace", {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_COLORSPACE_STR}, true},
      {"test-all",
       {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_ORIENTATION_STR, GST_META_TAG_VIDEO_SIZE_STR,
        GST_META_TAG_VIDEO_COLORSPACE_STR},
       true},
      {"test-own-tag", {"of-the-application"}, true},
      {"test-video-and-more", {GST_META_TAG_VIDEO_STR, "something-else"}, true},
      {"test-memory", {GST_META_TAG_VIDEO_STR, "memory"}, false},
  };
  return metas;
}

/// Once a process, also where the cases do not fork.
void register_custom_metas() {
  if (gst_meta_get_info("test-none")) return;
  for (const CustomMeta& meta : custom_metas()) {
    std::vector<const gchar*> tags(meta.tags.begin(), meta.tags.end());
    tags.push_back(nullptr);
    fail_unless(gst_meta_register_custom(meta.name, tags.data(), nullptr, nullptr, nullptr) !=
                nullptr);
  }
}

GST_START_TEST(metas_by_tag) {
  register_custom_metas();
  Fixture one;
  Ref<GstBuffer> input = one.input();
  for (const CustomMeta& meta : custom_metas()) {
    GstCustomMeta* added = gst_buffer_add_custom_meta(input.get(), meta.name);
    gst_structure_set(gst_custom_meta_get_structure(added), "value", G_TYPE_INT, 42, nullptr);
  }
  const Ref<GstBuffer> output = one.rig.process(std::move(input));
  for (const CustomMeta& meta : custom_metas()) {
    GstCustomMeta* found = gst_buffer_get_custom_meta(output.get(), meta.name);
    fail_unless((found != nullptr) == meta.copied, "%s is %scopied", meta.name,
                found ? "" : "not ");
    gint value = 0;
    if (found) gst_structure_get_int(gst_custom_meta_get_structure(found), "value", &value);
    fail_unless_equals_int(value, found ? 42 : 0);
  }
  const Ref<GstBuffer> next = one.rig.process(one.input());
  for (const CustomMeta& meta : custom_metas())
    fail_unless(!gst_buffer_get_custom_meta(next.get(), meta.name), "%s sticks", meta.name);
}
GST_END_TEST;

GST_START_TEST(known_metas) {
  Fixture one;
  Ref<GstBuffer> input = one.input();
  gst_buffer_add_video_region_of_interest_meta(input.get(), "face", 1, 2, 3, 4);
  gst_buffer_add_video_crop_meta(input.get())->width = 5;
  const Ref<GstBuffer> output = one.rig.process(std::move(input));
  const auto* region = reinterpret_cast<GstVideoRegionOfInterestMeta*>(
      gst_buffer_get_meta(output.get(), GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE));
  fail_unless(region != nullptr && region->x == 1 && region->h == 4);
  const auto* crop = gst_buffer_get_video_crop_meta(output.get());
  fail_unless(crop != nullptr && crop->width == 5);
}
GST_END_TEST;

// The input's GstVideoMeta describes the input's memory: the output has its own, and one at most.
GST_START_TEST(layout_is_not_copied) {
  Fixture one;
  Random random(70);
  Geometry geometry;
  geometry.planes[0] = {13, 7, 5, false};
  const Frame input = make_frame(one.caps.get(), geometry, random);
  const Ref<GstBuffer> output = one.rig.process(input.share());
  fail_unless(gst_buffer_get_n_meta(output.get(), GST_VIDEO_META_API_TYPE) <= 1);
  const GstVideoMeta* meta = gst_buffer_get_video_meta(output.get());
  if (meta) fail_unless(meta->buffer == output.get() && meta->offset[0] != 13);
}
GST_END_TEST;

// Downstream says that it is a second behind: frames of before are dropped, not processed.
GST_START_TEST(late_frames_are_dropped) {
  Fixture one;
  const auto at = [&](int seconds) {
    Ref<GstBuffer> buffer = one.input();
    GST_BUFFER_PTS(buffer.get()) = seconds * GST_SECOND;
    GST_BUFFER_DURATION(buffer.get()) = GST_SECOND;
    return buffer;
  };
  fail_unless(gst_base_transform_is_qos_enabled(GST_BASE_TRANSFORM(one.rig.element())));
  one.rig.process(at(0));
  gst_harness_push_upstream_event(
      one.rig.harness(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1.5, GST_SECOND, GST_SECOND));
  fail_unless_equals_int(one.rig.push(at(1)), GST_FLOW_OK);
  fail_unless(gst_harness_try_pull(one.rig.harness()) == nullptr, "a late frame came out");
  const Ref<GstBuffer> output = one.rig.process(at(10));
  fail_unless_equals_uint64(GST_BUFFER_PTS(output.get()), 10 * GST_SECOND);
  fail_unless(GST_BUFFER_FLAG_IS_SET(output.get(), GST_BUFFER_FLAG_DISCONT));
  fail_unless_equals_uint64(stat_uint64(one.rig.element(), "frames-out"), 2);
}
GST_END_TEST;

Suite* element_metadata_suite() {
  Suite* suite = suite_create("element-metadata");
  TCase* cases = tcase_create("metadata");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, times_and_offsets);
  tcase_add_test(cases, times_that_are_not_known);
  tcase_add_test(cases, flags);
  tcase_add_test(cases, metas_by_tag);
  tcase_add_test(cases, known_metas);
  tcase_add_test(cases, layout_is_not_copied);
  tcase_add_test(cases, late_frames_are_dropped);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_metadata)
