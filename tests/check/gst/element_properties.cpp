// SPDX-License-Identifier: LGPL-2.1-or-later
// Properties as the interface has them: type, range, default, flags, nicks, and when a change is
// taken.

#include <cstring>
#include <string>
#include <vector>

#include "gst/frames.h"
#include "gst/support.h"

namespace {

using namespace test;

/// What gst-inspect must say of a property.
struct Property {
  const char* name;
  const char* type;
  bool writable;
  bool in_playing;  ///< mutable in PLAYING, else in READY only
};

constexpr Property properties[] = {{"backend", "GEnum", true, false},
                                   {"cuda-device-id", "gint", true, false},
                                   {"stream-count", "guint", true, false},
                                   {"stripe-count", "guint", true, true},
                                   {"stripe-layout", "GEnum", true, true},
                                   {"effect", "GEnum", true, true},
                                   {"matrix", "GstValueArray", true, true},
                                   {"brightness", "gdouble", true, true},
                                   {"contrast", "gdouble", true, true},
                                   {"hue", "gdouble", true, true},
                                   {"saturation", "gdouble", true, true},
                                   {"gamma", "gdouble", true, true},
                                   {"threshold", "gdouble", true, true},
                                   {"lut-location", "gchararray", true, true},
                                   {"page-lock", "GEnum", true, false},
                                   {"max-pinned-bytes", "guint64", true, false},
                                   {"async-depth", "guint", true, false},
                                   {"transfer-mode", "GEnum", true, false},
                                   {"timeline-location", "gchararray", true, false},
                                   {"timeline-frames", "guint", true, false},
                                   {"stats-interval", "guint", true, false},
                                   {"stats", "GstStructure", false, false}};

/// An element whose backend was not touched.
Ref<GstElement> untouched_element() {
  GstElement* element = gst_element_factory_make("cudastripetransform", nullptr);
  fail_unless(element != nullptr);
  gst_object_ref_sink(element);
  return Ref<GstElement>(element);
}

GParamSpec* spec_of(GstElement* element, const char* name) {
  GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), name);
  fail_unless(spec != nullptr, "no property %s", name);
  return spec;
}

GST_START_TEST(types_and_flags) {
  const Ref<GstElement> element = untouched_element();
  for (const Property& property : properties) {
    const GParamSpec* spec = spec_of(element.get(), property.name);
    fail_unless(g_type_is_a(spec->value_type, g_type_from_name(property.type)), "%s",
                property.name);
    fail_unless(spec->flags & G_PARAM_READABLE, "%s", property.name);
    fail_unless(!!(spec->flags & G_PARAM_WRITABLE) == property.writable, "%s", property.name);
    fail_unless(!(spec->flags & G_PARAM_CONSTRUCT_ONLY), "%s", property.name);
    if (!property.writable) continue;
    const bool playing = spec->flags & GST_PARAM_MUTABLE_PLAYING;
    const bool ready = spec->flags & GST_PARAM_MUTABLE_READY;
    fail_unless(playing == property.in_playing && ready == !property.in_playing, "%s",
                property.name);
  }
}
GST_END_TEST;

GST_START_TEST(words_for_people) {
  const Ref<GstElement> element = untouched_element();
  for (const Property& property : properties) {
    GParamSpec* spec = spec_of(element.get(), property.name);
    const char* nick = g_param_spec_get_nick(spec);
    const char* blurb = g_param_spec_get_blurb(spec);
    fail_unless(nick && *nick && blurb && std::strlen(blurb) > std::strlen(nick), "%s",
                property.name);
  }
}
GST_END_TEST;

// None is there before it works.
GST_START_TEST(no_other_property) {
  const Ref<GstElement> element = untouched_element();
  guint count = 0;
  GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element.get()), &count);
  unsigned own = 0;
  for (guint i = 0; i < count; ++i) own += specs[i]->owner_type == G_OBJECT_TYPE(element.get());
  g_free(specs);
  fail_unless_equals_int(own, G_N_ELEMENTS(properties));
}
GST_END_TEST;

void expect_uint(GstElement* element, const char* name, guint minimum, guint maximum,
                 guint default_value) {
  const GParamSpecUInt* spec = G_PARAM_SPEC_UINT(spec_of(element, name));
  fail_unless_equals_int(spec->minimum, minimum);
  fail_unless_equals_int(spec->maximum, maximum);
  fail_unless_equals_int(spec->default_value, default_value);
  guint value = 12345;
  g_object_get(element, name, &value, nullptr);
  fail_unless_equals_int(value, default_value);
}

void expect_no_bound(GstElement* element) {
  const GParamSpecUInt64* spec = G_PARAM_SPEC_UINT64(spec_of(element, "max-pinned-bytes"));
  fail_unless_equals_uint64(spec->minimum, 0);
  fail_unless_equals_uint64(spec->maximum, G_MAXUINT64);
  fail_unless_equals_uint64(spec->default_value, 0);
  guint64 value = 12345;
  g_object_get(element, "max-pinned-bytes", &value, nullptr);
  fail_unless_equals_uint64(value, 0);
}

GST_START_TEST(ranges_and_defaults) {
  const Ref<GstElement> element = untouched_element();
  expect_uint(element.get(), "stream-count", 0, 32, 0);
  expect_uint(element.get(), "stripe-count", 0, 256, 0);
  expect_uint(element.get(), "async-depth", 1, 16, 3);
  expect_uint(element.get(), "timeline-frames", 1, 1000, 12);
  expect_uint(element.get(), "stats-interval", 0, G_MAXUINT, 64);
  expect_no_bound(element.get());
  const GParamSpecInt* spec = G_PARAM_SPEC_INT(spec_of(element.get(), "cuda-device-id"));
  fail_unless_equals_int(spec->minimum, -1);
  fail_unless_equals_int(spec->maximum, G_MAXINT);
  fail_unless_equals_int(spec->default_value, -1);
  gint id = 12345;
  g_object_get(element.get(), "cuda-device-id", &id, nullptr);
  fail_unless_equals_int(id, -1);
}
GST_END_TEST;

void expect_nicks(GstElement* element, const char* name, const std::string& wanted) {
  const GParamSpecEnum* spec = G_PARAM_SPEC_ENUM(spec_of(element, name));
  std::string nicks;
  for (guint i = 0; i < spec->enum_class->n_values; ++i)
    nicks += std::string(spec->enum_class->values[i].value_nick) + " ";
  fail_unless_equals_string(nicks.c_str(), wanted.c_str());
  const std::string standard = wanted.substr(0, wanted.find(' '));
  fail_unless_equals_string(g_enum_get_value(spec->enum_class, spec->default_value)->value_nick,
                            standard.c_str());
  fail_unless_equals_string(nick_of(element, name), standard.c_str());
}

GST_START_TEST(enums_and_defaults) {
  const Ref<GstElement> element = untouched_element();
  expect_nicks(element.get(), "backend", "auto cuda host ");
  expect_nicks(element.get(), "stripe-layout", "rows columns tiles ");
  expect_nicks(element.get(), "effect", "none invert gray sepia swap-rb ");
  expect_nicks(element.get(), "page-lock", "auto register stage off ");
  expect_nicks(element.get(), "transfer-mode", "auto copy mapped ");
}
GST_END_TEST;

GST_START_TEST(set_and_get_enums) {
  const Ref<GstElement> element = untouched_element();
  const struct {
    const char* name;
    std::vector<const char*> nicks;
  } enums[] = {{"backend", {"cuda", "host", "auto"}},
               {"stripe-layout", {"columns", "tiles", "rows"}},
               {"effect", {"invert", "gray", "sepia", "swap-rb", "none"}},
               {"page-lock", {"register", "stage", "off", "auto"}},
               {"transfer-mode", {"copy", "mapped", "auto"}}};
  for (const auto& entry : enums) {
    for (const char* nick : entry.nicks) {
      set_nick(element.get(), entry.name, nick);
      fail_unless_equals_string(nick_of(element.get(), entry.name), nick);
    }
  }
}
GST_END_TEST;

GST_START_TEST(set_and_get_numbers) {
  const Ref<GstElement> element = untouched_element();
  g_object_set(element.get(), "cuda-device-id", 7, "stream-count", 32, "stripe-count", 256,
               "async-depth", 16, "max-pinned-bytes", G_MAXUINT64, nullptr);
  gint id = 0;
  guint streams = 0;
  guint stripes = 0;
  guint depth = 0;
  guint64 bound = 0;
  g_object_get(element.get(), "cuda-device-id", &id, "stream-count", &streams, "stripe-count",
               &stripes, "async-depth", &depth, "max-pinned-bytes", &bound, nullptr);
  fail_unless_equals_int(depth, 16);
  fail_unless_equals_uint64(bound, G_MAXUINT64);
  fail_unless_equals_int(id, 7);
  fail_unless_equals_int(streams, 32);
  fail_unless_equals_int(stripes, 256);
}
GST_END_TEST;

/// A frame through and its pixels right, which shows that the element still does what it did.
void check_frame(Rig& rig, GstCaps* caps, Effect effect, Random& random) {
  const Frame input = make_plain_frame(caps, random);
  const Ref<GstBuffer> output = rig.process(input.share());
  fail_unless_empty(mistake(output.get(), caps, input.image->view(), effect));
}

GST_START_TEST(too_late_is_a_warning_and_no_change) {
  Ref<GstElement> element = make_element();
  g_object_set(element.get(), "stream-count", 2, nullptr);
  const std::string backend = nick_of(element.get(), "backend");
  const std::string other = backend == "host" ? "cuda" : "host";
  Rig rig(std::move(element));
  for (const GstState state : {GST_STATE_PLAYING, GST_STATE_PAUSED}) {
    fail_unless_equals_int(gst_element_set_state(rig.element(), state), GST_STATE_CHANGE_SUCCESS);
    ASSERT_WARNING(g_object_set(rig.element(), "stream-count", 5, nullptr));
    ASSERT_WARNING(g_object_set(rig.element(), "cuda-device-id", 3, nullptr));
    ASSERT_WARNING(set_nick(rig.element(), "backend", other.c_str()));
    ASSERT_WARNING(set_nick(rig.element(), "page-lock", "off"));
    ASSERT_WARNING(set_nick(rig.element(), "transfer-mode", "auto"));
    ASSERT_WARNING(
        g_object_set(rig.element(), "max-pinned-bytes", static_cast<guint64>(1), nullptr));
    ASSERT_WARNING(g_object_set(rig.element(), "async-depth", 1, nullptr));
    ASSERT_WARNING(g_object_set(rig.element(), "timeline-location", "/tmp/late.json", nullptr));
    ASSERT_WARNING(g_object_set(rig.element(), "timeline-frames", 1, nullptr));
    ASSERT_WARNING(g_object_set(rig.element(), "stats-interval", 1, nullptr));
    guint streams = 0;
    guint depth = 0;
    guint64 bound = 99;
    gint id = 0;
    g_object_get(rig.element(), "stream-count", &streams, "cuda-device-id", &id, "async-depth",
                 &depth, "max-pinned-bytes", &bound, nullptr);
    fail_unless_equals_int(depth, 3);
    fail_unless_equals_uint64(bound, 0);
    fail_unless_equals_string(nick_of(rig.element(), "page-lock"), "auto");
    fail_unless_equals_string(nick_of(rig.element(), "transfer-mode"), transfer_name());
    fail_unless_equals_int(streams, 2);
    fail_unless_equals_int(id, -1);
    fail_unless_equals_string(nick_of(rig.element(), "backend"), backend.c_str());
  }
  Random random(80);
  const Ref<GstCaps> caps = make_caps("RGB", 33, 31);
  rig.set_caps(caps.get());
  check_frame(rig, caps.get(), Effect::none, random);
  fail_unless_equals_int(stat_uint(rig.element(), "streams"), 2);
}
GST_END_TEST;

guint stream_count(GstElement* element) {
  guint count = 0;
  g_object_get(element, "stream-count", &count, nullptr);
  return count;
}

/// The element's own function of its sink pad, which starts the element.
GstPadActivateModeFunction activate_sink = nullptr;

/// Sets `stream-count` just before the element starts, which is early enough, and just after, which
/// is not, though the element's state is READY both times.
gboolean set_around_start(GstPad* pad, GstObject* parent, GstPadMode mode, gboolean active) {
  if (!active) return activate_sink(pad, parent, mode, active);
  GstElement* element = GST_ELEMENT(parent);
  g_object_set(element, "stream-count", 2, nullptr);
  fail_unless_equals_int(stream_count(element), 2);
  const gboolean started = activate_sink(pad, parent, mode, active);
  fail_unless_equals_int(GST_STATE(element), GST_STATE_READY);
  ASSERT_WARNING(g_object_set(element, "stream-count", 5, nullptr));
  fail_unless_equals_int(stream_count(element), 2);
  return started;
}

GST_START_TEST(too_late_from_the_start_on) {
  const Ref<GstElement> element = make_element();
  const Ref<GstPad> sink(gst_element_get_static_pad(element.get(), "sink"));
  activate_sink = GST_PAD_ACTIVATEMODEFUNC(sink.get());
  gst_pad_set_activatemode_function(sink.get(), set_around_start);
  for (int i = 0; i < 2; ++i) {
    fail_unless_equals_int(gst_element_set_state(element.get(), GST_STATE_PAUSED),
                           GST_STATE_CHANGE_SUCCESS);
    fail_unless_equals_int(stat_uint(element.get(), "streams"), 2);
    fail_unless_equals_int(gst_element_set_state(element.get(), GST_STATE_READY),
                           GST_STATE_CHANGE_SUCCESS);
    g_object_set(element.get(), "stream-count", 7, nullptr);
    fail_unless_equals_int(stream_count(element.get()), 7);
  }
  gst_element_set_state(element.get(), GST_STATE_NULL);
}
GST_END_TEST;

GST_START_TEST(in_ready_again_is_early_enough) {
  Rig rig;
  fail_unless_equals_int(gst_element_set_state(rig.element(), GST_STATE_READY),
                         GST_STATE_CHANGE_SUCCESS);
  g_object_set(rig.element(), "stream-count", 4, "cuda-device-id", -1, nullptr);
  fail_unless_equals_int(gst_element_set_state(rig.element(), GST_STATE_PLAYING),
                         GST_STATE_CHANGE_SUCCESS);
  fail_unless_equals_int(stat_uint(rig.element(), "streams"), 4);
}
GST_END_TEST;

GST_START_TEST(effect_while_playing) {
  const Ref<GstCaps> caps = make_caps(formats[__i__].name, 65, 63);
  Random random(81);
  Rig rig;
  rig.set_caps(caps.get());
  for (const Effect effect :
       {Effect::none, Effect::gray, Effect::invert, Effect::none, Effect::invert, Effect::gray}) {
    set_effect(rig.element(), effect);
    check_frame(rig, caps.get(), effect, random);
    check_frame(rig, caps.get(), effect, random);
  }
}
GST_END_TEST;

// Chosen: enough stripes for one frame to overlap itself, where it has no others to overlap with.
GST_START_TEST(stripes_while_playing) {
  const guint depth = __i__;
  const guint chosen = depth == 1 ? 3 : 1;
  const Ref<GstCaps> caps = make_caps("RGB", 65, 63);
  Random random(82);
  Rig rig(depth);
  set_effect(rig.element(), Effect::invert);
  rig.set_caps(caps.get());
  const struct {
    const char* layout;
    guint count;
    guint expected;
  } changes[] = {{"rows", 1, 1},      {"rows", 5, 5},  {"columns", 5, 5},   {"columns", 256, 65},
                 {"rows", 256, 63},   {"rows", 2, 2},  {"rows", 0, chosen}, {"columns", 0, chosen},
                 {"columns", 64, 64}, {"tiles", 7, 7}, {"tiles", 256, 256}, {"tiles", 0, chosen}};
  for (const auto& change : changes) {
    set_nick(rig.element(), "stripe-layout", change.layout);
    g_object_set(rig.element(), "stripe-count", change.count, nullptr);
    check_frame(rig, caps.get(), Effect::invert, random);
    fail_unless_equals_int(stat_uint(rig.element(), "stripes-per-frame"), change.expected);
  }
}
GST_END_TEST;

// A setter in another thread while frames run: no crash, and every frame is one effect or the
// other.
GST_START_TEST(changes_from_another_thread) {
  const Ref<GstCaps> caps = make_caps("I420", 65, 63);
  Random random(83);
  Rig rig;
  rig.set_caps(caps.get());
  struct Setter {
    GstElement* element;
    gint stop;
  } setter{rig.element(), 0};
  GThread* thread = g_thread_new(
      "setter",
      [](gpointer data) -> gpointer {
        auto* self = static_cast<Setter*>(data);
        for (guint i = 0; !g_atomic_int_get(&self->stop); ++i) {
          set_nick(self->element, "effect", i % 2 ? "invert" : "none");
          set_nick(self->element, "stripe-layout", i % 3 ? "rows" : i % 2 ? "columns" : "tiles");
          g_object_set(self->element, "stripe-count", i % 9, nullptr);
        }
        return nullptr;
      },
      &setter);
  for (int i = 0; i < 300; ++i) {
    const Frame input = make_plain_frame(caps.get(), random);
    const Ref<GstBuffer> output = rig.process(input.share());
    const ConstPicture picture = input.image->view();
    const bool either = mistake(output.get(), caps.get(), picture, Effect::none).empty() ||
                        mistake(output.get(), caps.get(), picture, Effect::invert).empty();
    fail_unless(either, "frame %d is a mixture", i);
  }
  g_atomic_int_set(&setter.stop, 1);
  g_thread_join(thread);
}
GST_END_TEST;

Suite* element_properties_suite() {
  Suite* suite = suite_create("element-properties");
  TCase* cases = tcase_create("properties");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, types_and_flags);
  tcase_add_test(cases, words_for_people);
  tcase_add_test(cases, no_other_property);
  tcase_add_test(cases, ranges_and_defaults);
  tcase_add_test(cases, enums_and_defaults);
  tcase_add_test(cases, set_and_get_enums);
  tcase_add_test(cases, set_and_get_numbers);
  tcase_add_test(cases, too_late_is_a_warning_and_no_change);
  tcase_add_test(cases, too_late_from_the_start_on);
  tcase_add_test(cases, in_ready_again_is_early_enough);
  tcase_add_loop_test(cases, effect_while_playing, 0, format_count);
  tcase_add_loop_test(cases, stripes_while_playing, 1, 4);
  tcase_add_test(cases, changes_from_another_thread);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_properties)
