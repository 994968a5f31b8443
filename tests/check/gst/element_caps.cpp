// SPDX-License-Identifier: LGPL-2.1-or-later
// What the element is, the caps it takes, and caps that change in mid-stream.

#include <gst/base/gstbasetransform.h>

#include <set>
#include <string>

#include "gst/frames.h"
#include "gst/support.h"

namespace {

using namespace test;

GST_START_TEST(class_and_plugin) {
  const Ref<GstElement> element = make_element();
  fail_unless(g_type_parent(G_OBJECT_TYPE(element.get())) == GST_TYPE_BASE_TRANSFORM);
  GstElementFactory* factory = gst_element_get_factory(element.get());
  fail_unless_equals_string(gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_KLASS),
                            "Filter/Effect/Video/Hardware");
  fail_unless_equals_int(gst_plugin_feature_get_rank(GST_PLUGIN_FEATURE(factory)), GST_RANK_NONE);
  for (const char* key : {GST_ELEMENT_METADATA_LONGNAME, GST_ELEMENT_METADATA_DESCRIPTION,
                          GST_ELEMENT_METADATA_AUTHOR})
    fail_unless(*gst_element_factory_get_metadata(factory, key) != '\0', "%s", key);
  GstPlugin* plugin = gst_plugin_feature_get_plugin(GST_PLUGIN_FEATURE(factory));
  fail_unless_equals_string(gst_plugin_get_name(plugin), "cudastripe");
  fail_unless_equals_string(gst_plugin_get_license(plugin), "LGPL");
  gst_object_unref(plugin);
}
GST_END_TEST;

void expect_full_range(const GstStructure* structure, const char* field) {
  const GValue* value = gst_structure_get_value(structure, field);
  fail_unless(value != nullptr && GST_VALUE_HOLDS_INT_RANGE(value), "%s is no range", field);
  fail_unless_equals_int(gst_value_get_int_range_min(value), 1);
  fail_unless_equals_int(gst_value_get_int_range_max(value), G_MAXINT);
}

std::set<std::string> formats_in(const GstStructure* structure) {
  const GValue* list = gst_structure_get_value(structure, "format");
  std::set<std::string> names;
  for (guint i = 0; i < gst_value_list_get_size(list); ++i)
    names.insert(g_value_get_string(gst_value_list_get_value(list, i)));
  return names;
}

GST_START_TEST(template_caps) {
  std::set<std::string> wanted;
  for (const Format& format : formats) wanted.insert(format.name);
  fail_unless_equals_int(wanted.size(), 13);
  const Ref<GstElement> element = make_element();
  for (const char* name : {"sink", "src"}) {
    GstPadTemplate* pad = gst_element_get_pad_template(element.get(), name);
    fail_unless(pad != nullptr && GST_PAD_TEMPLATE_PRESENCE(pad) == GST_PAD_ALWAYS);
    const Ref<GstCaps> caps(gst_pad_template_get_caps(pad));
    fail_unless_equals_int(gst_caps_get_size(caps.get()), 1);
    const GstStructure* structure = gst_caps_get_structure(caps.get(), 0);
    fail_unless_equals_string(gst_structure_get_name(structure), "video/x-raw");
    fail_unless(gst_caps_features_is_equal(gst_caps_get_features(caps.get(), 0),
                                           GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY));
    fail_unless(formats_in(structure) == wanted);
    expect_full_range(structure, "width");
    expect_full_range(structure, "height");
  }
}
GST_END_TEST;

GST_START_TEST(other_formats_are_refused) {
  Rig rig;
  for (const char* format : {"NV21", "YV12", "Y444", "RGB16", "GRAY16_LE", "P010_10LE", "YUY2"}) {
    const Ref<GstCaps> caps = make_caps(format, 16, 16);
    fail_unless(!gst_pad_peer_query_accept_caps(rig.harness()->srcpad, caps.get()), "%s", format);
  }
  for (const Format& format : formats) {
    const Ref<GstCaps> caps = make_caps(format.name, 16, 16);
    fail_unless(gst_pad_peer_query_accept_caps(rig.harness()->srcpad, caps.get()), "%s",
                format.name);
  }
}
GST_END_TEST;

GST_START_TEST(same_caps_on_both_pads) {
  Ref<GstCaps> caps = make_caps("I420", 64, 48, "bt601", "interleaved");
  gst_caps_set_simple(caps.get(), "pixel-aspect-ratio", GST_TYPE_FRACTION, 16, 11, "chroma-site",
                      G_TYPE_STRING, "mpeg2", "field-order", G_TYPE_STRING, "top-field-first",
                      "a-field-of-somebody", G_TYPE_INT, 7, nullptr);
  Rig rig;
  rig.set_caps(caps.get());
  const Ref<GstCaps> out(gst_pad_get_current_caps(rig.harness()->sinkpad));
  fail_unless(out != nullptr && gst_caps_is_equal(out.get(), caps.get()));
}
GST_END_TEST;

// What downstream cannot take is not offered upstream either.
GST_START_TEST(downstream_restricts) {
  Rig rig;
  gst_harness_set_sink_caps_str(rig.harness(),
                                "video/x-raw, format={ NV12, Y444 }, width=[ 1, 100 ]");
  const Ref<GstCaps> caps(gst_pad_peer_query_caps(rig.harness()->srcpad, nullptr));
  const Ref<GstCaps> wanted(gst_caps_from_string(
      "video/x-raw, format=NV12, width=[ 1, 100 ], height=" GST_VIDEO_SIZE_RANGE
      ", framerate=" GST_VIDEO_FPS_RANGE));
  fail_unless(wanted != nullptr && !gst_caps_is_empty(caps.get()));
  fail_unless(gst_caps_is_subset(caps.get(), wanted.get()));
  const Ref<GstCaps> fits = make_caps("NV12", 100, 17);
  fail_unless(gst_caps_can_intersect(caps.get(), fits.get()));
}
GST_END_TEST;

// effect=none runs the copy kernel all the same.
GST_START_TEST(never_passthrough) {
  const Ref<GstCaps> caps = make_caps("RGB", 33, 31);
  Random random(60);
  Rig rig;
  rig.set_caps(caps.get());
  for (const Effect effect : {Effect::none, Effect::invert, Effect::none}) {
    set_effect(rig.element(), effect);
    const Frame input = make_plain_frame(caps.get(), random);
    const Ref<GstBuffer> output = rig.process(input.share());
    fail_unless(output.get() != input.buffer.get());
    fail_unless(gst_buffer_peek_memory(output.get(), 0) !=
                gst_buffer_peek_memory(input.buffer.get(), 0));
    fail_unless(!gst_base_transform_is_passthrough(GST_BASE_TRANSFORM(rig.element())));
    fail_unless(!gst_base_transform_is_in_place(GST_BASE_TRANSFORM(rig.element())));
  }
}
GST_END_TEST;

// Also when nobody else holds the buffer, where an in-place transform would take it.
GST_START_TEST(never_in_place) {
  const Ref<GstCaps> caps = make_caps("GRAY8", 16, 16);
  Rig rig;
  rig.set_caps(caps.get());
  Ref<GstBuffer> input(gst_buffer_new_allocate(nullptr, 256, nullptr));
  gst_buffer_memset(input.get(), 0, 1, 256);
  const Ref<GstMemory> memory(gst_buffer_get_memory(input.get(), 0));
  const Ref<GstBuffer> output = rig.process(std::move(input));
  fail_unless(gst_buffer_peek_memory(output.get(), 0) != memory.get());
}
GST_END_TEST;

void check_frames(Rig& rig, GstCaps* caps, Effect effect, Random& random, int count = 2) {
  set_effect(rig.element(), effect);
  for (int i = 0; i < count; ++i) {
    const Frame input = make_plain_frame(caps, random);
    const Ref<GstBuffer> output = rig.process(input.share());
    fail_unless_empty(mistake(output.get(), caps, input.image->view(), effect));
  }
}

GST_START_TEST(caps_change_in_mid_stream) {
  const struct {
    const char* format;
    int width;
    int height;
    const char* colorimetry;
  } changes[] = {{"I420", 65, 63, "bt601"}, {"I420", 64, 64, "bt601"},  {"I420", 64, 64, "1:4:0:0"},
                 {"RGB", 64, 64, "sRGB"},   {"RGB", 64, 64, "1:1:7:7"}, {"GRAY8", 1, 1, "1:4:0:0"},
                 {"NV12", 385, 3, "bt709"}, {"NV12", 3, 385, "bt709"},  {"BGRA", 17, 1, "sRGB"},
                 {"I420", 65, 63, "bt601"}};
  Random random(61);
  Rig rig;
  for (const auto& change : changes) {
    const Ref<GstCaps> caps =
        make_caps(change.format, change.width, change.height, change.colorimetry);
    rig.set_caps(caps.get());
    for (const Effect effect : effects) check_frames(rig, caps.get(), effect, random);
  }
  rig.expect_quiet();
}
GST_END_TEST;

// Caps that only another element cares about change nothing.
GST_START_TEST(framerate_change) {
  Random random(62);
  Rig rig;
  const Ref<GstCaps> caps = make_caps("I420", 33, 31);
  for (const int rate : {25, 50, 0}) {
    gst_caps_set_simple(caps.get(), "framerate", GST_TYPE_FRACTION, rate, 1, nullptr);
    const Ref<GstCaps> now(gst_caps_copy(caps.get()));
    rig.set_caps(now.get());
    check_frames(rig, now.get(), Effect::invert, random);
  }
}
GST_END_TEST;

GST_START_TEST(no_caps_no_frame) {
  Rig rig;
  Ref<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, 256, nullptr));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_push_event(rig.harness()->srcpad, gst_event_new_segment(&segment));
  fail_unless_equals_int(rig.push(std::move(buffer)), GST_FLOW_NOT_NEGOTIATED);
}
GST_END_TEST;

Suite* element_caps_suite() {
  Suite* suite = suite_create("element-caps");
  TCase* cases = tcase_create("caps");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, class_and_plugin);
  tcase_add_test(cases, template_caps);
  tcase_add_test(cases, other_formats_are_refused);
  tcase_add_test(cases, same_caps_on_both_pads);
  tcase_add_test(cases, downstream_restricts);
  tcase_add_test(cases, never_passthrough);
  tcase_add_test(cases, never_in_place);
  tcase_add_test(cases, caps_change_in_mid_stream);
  tcase_add_test(cases, framerate_change);
  tcase_add_test(cases, no_caps_no_frame);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_caps)
