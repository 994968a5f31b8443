// SPDX-License-Identifier: LGPL-2.1-or-later
// Buffers that are smaller than they say: refused at the door, with one error, before a byte is
// read. Memories are heap blocks of exactly their size, so that ASan sees a read beyond.

#include <string>

#include "gst/frames.h"
#include "gst/support.h"

namespace {

using namespace test;

constexpr const char* lied_about[] = {"RGB", "GRAY8", "NV12", "I420"};
constexpr int lied_about_count = G_N_ELEMENTS(lied_about);
constexpr int width = 33;
constexpr int height = 31;

Ref<GstCaps> honest_caps(int i) { return make_caps(lied_about[i], width, height); }

/// The element must refuse `buffer`, and work again after NULL.
void expect_refused(const GstCaps* caps, Ref<GstBuffer> buffer) {
  Rig rig;
  rig.set_caps(const_cast<GstCaps*>(caps));
  const GstFlowReturn flow = rig.push(std::move(buffer));
  fail_unless(flow == GST_FLOW_ERROR, "flow is %s", gst_flow_get_name(flow));
  fail_unless_equals_int(gst_harness_buffers_received(rig.harness()), 0);
  expect_one_error(rig.bus(), GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT);

  Rig again(rig.release());
  again.set_caps(const_cast<GstCaps*>(caps));
  Random random(20);
  const Frame input = make_plain_frame(caps, random);
  const Ref<GstBuffer> output = again.process(input.share());
  fail_unless_empty(mistake(output.get(), caps, input.image->view(), Effect::none));
  again.expect_quiet();
}

/// A tight picture whose meta `change` has turned into a lie.
template <typename Change>
void expect_meta_refused(int i, Change change) {
  const Ref<GstCaps> caps = honest_caps(i);
  Random random(21);
  Frame frame = make_frame(caps.get(), Geometry{}, random);
  change(*gst_buffer_get_video_meta(frame.buffer.get()));
  expect_refused(caps.get(), std::move(frame.buffer));
}

int last_plane(const GstVideoMeta& meta) { return static_cast<int>(meta.n_planes) - 1; }

GST_START_TEST(one_byte_too_small_without_meta) {
  const Ref<GstCaps> caps = honest_caps(__i__);
  const GstVideoInfo info = info_of(caps.get());
  // The padding behind the last row may be missing, but not a sample.
  const Geometry geometry = default_geometry(info);
  const PlaneGeometry& last = geometry.planes[format_named(lied_about[__i__]).planes - 1];
  const gsize size = info.size - last.after - 1;
  expect_refused(caps.get(), Ref<GstBuffer>(gst_buffer_new_allocate(nullptr, size, nullptr)));
}
GST_END_TEST;

GST_START_TEST(one_byte_without_meta) {
  const Ref<GstCaps> caps = honest_caps(__i__);
  expect_refused(caps.get(), Ref<GstBuffer>(gst_buffer_new_allocate(nullptr, 1, nullptr)));
}
GST_END_TEST;

GST_START_TEST(no_memory_at_all) {
  const Ref<GstCaps> caps = honest_caps(__i__);
  expect_refused(caps.get(), Ref<GstBuffer>(gst_buffer_new()));
}
GST_END_TEST;

GST_START_TEST(meta_and_no_memory_at_all) {
  const Ref<GstCaps> caps = honest_caps(__i__);
  Random random(22);
  const Frame frame = make_frame(caps.get(), Geometry{}, random);
  Ref<GstBuffer> empty(gst_buffer_new());
  add_meta(empty.get(), *frame.image);
  expect_refused(caps.get(), std::move(empty));
}
GST_END_TEST;

// The last byte of a tight picture is cut off, in one memory and in the last of several.
GST_START_TEST(last_byte_missing_with_meta) {
  const Ref<GstCaps> caps = honest_caps(__i__);
  Random random(23);
  for (const bool several : {false, true}) {
    const Frame whole = make_frame(caps.get(), Geometry{}, random);
    Frame frame =
        wrap(whole.image, {.cuts = several ? plane_cuts(*whole.image) : std::vector<int>{}});
    GstBuffer* buffer = frame.buffer.get();
    gst_buffer_set_size(buffer, static_cast<gssize>(gst_buffer_get_size(buffer)) - 1);
    expect_refused(caps.get(), std::move(frame.buffer));
  }
}
GST_END_TEST;

GST_START_TEST(offset_one_too_far) {
  expect_meta_refused(__i__, [](GstVideoMeta& meta) { meta.offset[last_plane(meta)] += 1; });
}
GST_END_TEST;

GST_START_TEST(offset_at_the_end) {
  expect_meta_refused(__i__, [](GstVideoMeta& meta) {
    meta.offset[last_plane(meta)] = gst_buffer_get_size(meta.buffer);
  });
}
GST_END_TEST;

// offset + size would wrap around.
GST_START_TEST(offset_that_overflows) {
  for (const gsize offset : {G_MAXSIZE, G_MAXSIZE - 100, static_cast<gsize>(G_MAXSSIZE),
                             static_cast<gsize>(G_MAXUINT32) + 1})
    expect_meta_refused(__i__, [&](GstVideoMeta& meta) { meta.offset[0] = offset; });
}
GST_END_TEST;

GST_START_TEST(stride_that_goes_beyond) {
  for (const int more : {1, 1000})
    expect_meta_refused(__i__, [&](GstVideoMeta& meta) { meta.stride[last_plane(meta)] += more; });
}
GST_END_TEST;

GST_START_TEST(stride_that_overflows) {
  for (const int stride : {G_MAXINT, G_MININT, G_MININT + 1})
    expect_meta_refused(__i__, [&](GstVideoMeta& meta) { meta.stride[0] = stride; });
}
GST_END_TEST;

GST_START_TEST(stride_below_a_row) {
  for (const int sign : {1, -1})
    expect_meta_refused(__i__, [&](GstVideoMeta& meta) {
      const int stride = meta.stride[0];
      if (sign < 0) meta.offset[0] = stride * (height - 1);
      meta.stride[0] = sign * (stride - 1);
    });
}
GST_END_TEST;

GST_START_TEST(stride_of_zero) {
  expect_meta_refused(__i__, [](GstVideoMeta& meta) { meta.stride[0] = 0; });
  expect_meta_refused(__i__, [](GstVideoMeta& meta) { meta.stride[last_plane(meta)] = 0; });
}
GST_END_TEST;

// Rows that go up in memory, from where there is nothing above.
GST_START_TEST(negative_stride_before_the_start) {
  expect_meta_refused(__i__, [](GstVideoMeta& meta) { meta.stride[0] = -meta.stride[0]; });
  expect_meta_refused(__i__, [](GstVideoMeta& meta) {
    meta.offset[0] = meta.stride[0] * (height - 1) - 1;
    meta.stride[0] = -meta.stride[0];
  });
}
GST_END_TEST;

GST_START_TEST(meta_of_another_format) {
  expect_meta_refused(__i__, [](GstVideoMeta& meta) { meta.format = GST_VIDEO_FORMAT_RGBA; });
  expect_meta_refused(__i__, [](GstVideoMeta& meta) { meta.format = GST_VIDEO_FORMAT_UNKNOWN; });
}
GST_END_TEST;

GST_START_TEST(meta_with_too_few_planes) {
  expect_meta_refused(__i__, [](GstVideoMeta& meta) { meta.n_planes = 0; });
  if (format_named(lied_about[__i__]).planes > 1)
    expect_meta_refused(__i__, [](GstVideoMeta& meta) { meta.n_planes -= 1; });
}
GST_END_TEST;

// Whether the size in the meta counts is not promised: a frame or the one error, and no read
// beyond.
GST_START_TEST(meta_of_another_size) {
  for (const int size : {1, 10000}) {
    const Ref<GstCaps> caps = honest_caps(__i__);
    Random random(24);
    Frame frame = make_frame(caps.get(), Geometry{}, random);
    GstVideoMeta* meta = gst_buffer_get_video_meta(frame.buffer.get());
    meta->width = meta->height = size;
    Rig rig;
    rig.set_caps(caps.get());
    if (rig.push(frame.share()) == GST_FLOW_OK)
      fail_unless_empty(mistake(rig.pull().get(), caps.get(), frame.image->view(), Effect::none));
    else
      expect_one_error(rig.bus(), GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT);
  }
}
GST_END_TEST;

// Sizes whose strides or bytes no int holds: refused as caps, so that no frame is ever asked for.
GST_START_TEST(caps_of_giant_pictures) {
  const struct {
    const char* format;
    int width;
    int height;
  } giants[] = {{"GRAY8", G_MAXINT, 1},        {"RGB", G_MAXINT, 1},   {"RGBA", G_MAXINT, G_MAXINT},
                {"I420", G_MAXINT, G_MAXINT},  {"RGBA", 40000, 40000}, {"NV12", 1, G_MAXINT},
                {"GRAY8", G_MAXINT, G_MAXINT}, {"RGBA", 65536, 16385}};
  for (const auto& giant : giants) {
    const Ref<GstCaps> caps = make_caps(giant.format, giant.width, giant.height);
    Rig rig;
    // The pad takes the event all the same, and gives it to the element again with the first
    // buffer.
    gst_pad_push_event(rig.harness()->srcpad, gst_event_new_caps(caps.get()));
    expect_one_error(rig.bus(), GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT);
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_pad_push_event(rig.harness()->srcpad, gst_event_new_segment(&segment));
    const GstFlowReturn flow =
        rig.push(Ref<GstBuffer>(gst_buffer_new_allocate(nullptr, 9, nullptr)));
    fail_unless(flow == GST_FLOW_NOT_NEGOTIATED, "%s %dx%d: flow is %s", giant.format, giant.width,
                giant.height, gst_flow_get_name(flow));
  }
}
GST_END_TEST;

/// Caps and three frames, and the flow of each. The pad offers caps that were refused again with
/// every frame.
void push_refused(Rig& rig, GstCaps* caps) {
  gst_pad_push_event(rig.harness()->srcpad, gst_event_new_caps(caps));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_push_event(rig.harness()->srcpad, gst_event_new_segment(&segment));
  for (int i = 0; i < 3; ++i) {
    const GstFlowReturn flow =
        rig.push(Ref<GstBuffer>(gst_buffer_new_allocate(nullptr, 9, nullptr)));
    fail_unless(flow == GST_FLOW_NOT_NEGOTIATED, "flow is %s", gst_flow_get_name(flow));
  }
}

void expect_one_error_about_caps(Rig& rig, GstCaps* caps) {
  push_refused(rig, caps);
  expect_one_error(rig.bus(), GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT);
}

/// Too many bytes, and rows too long to be counted.
constexpr const char* refused[] = {
    "video/x-raw, format=GRAY8, width=65535, height=40000, framerate=25/1",
    "video/x-raw, format=RGBA, width=1073741825, height=1, framerate=25/1",
    "video/x-raw, format=I420, width=2147483647, height=2147483647, framerate=25/1"};

GST_START_TEST(refused_caps_are_one_error) {
  for (const char* text : refused) {
    const Ref<GstCaps> caps(gst_caps_from_string(text));
    Rig rig;
    expect_one_error_about_caps(rig, caps.get());
    push_refused(rig, caps.get());
    fail_unless_equals_int(take_reports(rig.bus(), GST_MESSAGE_ERROR).size(), 0);
  }
}
GST_END_TEST;

GST_START_TEST(other_refused_caps_are_another_error) {
  Rig rig;
  for (const char* text : refused)
    expect_one_error_about_caps(rig, Ref<GstCaps>(gst_caps_from_string(text)).get());
}
GST_END_TEST;

GST_START_TEST(start_anew_tells_of_refused_caps_again) {
  const Ref<GstCaps> caps(gst_caps_from_string(refused[0]));
  Rig rig;
  for (int i = 0; i < 3; ++i) {
    expect_one_error_about_caps(rig, caps.get());
    gst_element_set_state(rig.element(), GST_STATE_READY);
    gst_element_set_state(rig.element(), GST_STATE_PLAYING);
  }
}
GST_END_TEST;

// Caps that can be used end the matter: the element works, and the next refusal is a new one.
GST_START_TEST(good_caps_between_refused_ones) {
  const Ref<GstCaps> caps(gst_caps_from_string(refused[0]));
  const Ref<GstCaps> good = honest_caps(0);
  Random random(25);
  Rig rig;
  for (int i = 0; i < 2; ++i) {
    expect_one_error_about_caps(rig, caps.get());
    rig.set_caps(good.get());
    const Frame input = make_plain_frame(good.get(), random);
    const Ref<GstBuffer> output = rig.process(input.share());
    fail_unless_empty(mistake(output.get(), good.get(), input.image->view(), Effect::none));
    rig.expect_quiet();
  }
}
GST_END_TEST;

Suite* element_lies_suite() {
  Suite* suite = suite_create("element-lies");
  TCase* cases = tcase_create("lies");
  suite_add_tcase(suite, cases);
  tcase_add_loop_test(cases, one_byte_too_small_without_meta, 0, lied_about_count);
  tcase_add_loop_test(cases, one_byte_without_meta, 0, lied_about_count);
  tcase_add_loop_test(cases, no_memory_at_all, 0, lied_about_count);
  tcase_add_loop_test(cases, meta_and_no_memory_at_all, 0, lied_about_count);
  tcase_add_loop_test(cases, last_byte_missing_with_meta, 0, lied_about_count);
  tcase_add_loop_test(cases, offset_one_too_far, 0, lied_about_count);
  tcase_add_loop_test(cases, offset_at_the_end, 0, lied_about_count);
  tcase_add_loop_test(cases, offset_that_overflows, 0, lied_about_count);
  tcase_add_loop_test(cases, stride_that_goes_beyond, 0, lied_about_count);
  tcase_add_loop_test(cases, stride_that_overflows, 0, lied_about_count);
  tcase_add_loop_test(cases, stride_below_a_row, 0, lied_about_count);
  tcase_add_loop_test(cases, stride_of_zero, 0, lied_about_count);
  tcase_add_loop_test(cases, negative_stride_before_the_start, 0, lied_about_count);
  tcase_add_loop_test(cases, meta_of_another_format, 0, lied_about_count);
  tcase_add_loop_test(cases, meta_with_too_few_planes, 0, lied_about_count);
  tcase_add_loop_test(cases, meta_of_another_size, 0, lied_about_count);
  tcase_add_test(cases, caps_of_giant_pictures);
  tcase_add_test(cases, refused_caps_are_one_error);
  tcase_add_test(cases, other_refused_caps_are_another_error);
  tcase_add_test(cases, start_anew_tells_of_refused_caps_again);
  tcase_add_test(cases, good_caps_between_refused_ones);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_lies)
