// SPDX-License-Identifier: LGPL-2.1-or-later
// The colour properties as the interface has them: type, range, default, flags, and the values that
// are not taken.

#include <cmath>
#include <limits>
#include <string>

#include "gst/looks.h"
#include "gst/pipeline.h"
#include "gst/support.h"

namespace {

using namespace test;

using stripe::ColorMatrix;
using stripe::identity_color_matrix;

constexpr ColorMatrix mixing = {{{0.5, 0.25, 0.25, -0.125}, {0, 1, 0, 0}, {1, 0, 0, 0.5}}};

constexpr ColorMatrix diagonal(double factor) {
  return {{{factor, 0, 0, 0}, {0, factor, 0, 0}, {0, 0, factor, 0}}};
}

// Beyond what the arithmetic holds.
constexpr ColorMatrix huge = diagonal(70);

GParamSpec* spec_of(GstElement* element, const char* name) {
  GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), name);
  fail_unless(spec != nullptr, "no property %s", name);
  return spec;
}

double number(GstElement* element, const char* property) {
  gdouble value = std::nan("");
  g_object_get(element, property, &value, nullptr);
  return value;
}

// Ranges and defaults of videobalance are those that it has itself.
GST_START_TEST(numbers) {
  const Ref<GstElement> element = make_element();
  const struct {
    const char* name;
    double minimum, maximum, standard;
  } wanted[] = {{"brightness", -1, 1, 0}, {"contrast", 0, 2, 1},  {"hue", -1, 1, 0},
                {"saturation", 0, 2, 1},  {"gamma", 0.01, 10, 1}, {"threshold", -1, 1, -1}};
  for (const auto& entry : wanted) {
    const GParamSpecDouble* spec = G_PARAM_SPEC_DOUBLE(spec_of(element.get(), entry.name));
    fail_unless_equals_float(spec->minimum, entry.minimum);
    fail_unless_equals_float(spec->maximum, entry.maximum);
    fail_unless_equals_float(spec->default_value, entry.standard);
    fail_unless_equals_float(number(element.get(), entry.name), entry.standard);
    fail_unless(spec->parent_instance.flags & GST_PARAM_CONTROLLABLE);
    for (const double value : {entry.minimum, entry.maximum}) {
      g_object_set(element.get(), entry.name, value, nullptr);
      fail_unless_equals_float(number(element.get(), entry.name), value);
    }
  }
}
GST_END_TEST;

GST_START_TEST(as_videobalance_has_them) {
  const Ref<GstElement> element = make_element();
  const Ref<GstElement> theirs(gst_element_factory_make("videobalance", nullptr));
  fail_unless(theirs != nullptr);
  gst_object_ref_sink(theirs.get());
  for (const char* name : {"brightness", "contrast", "hue", "saturation"}) {
    const GParamSpecDouble* our = G_PARAM_SPEC_DOUBLE(spec_of(element.get(), name));
    const GParamSpecDouble* their = G_PARAM_SPEC_DOUBLE(spec_of(theirs.get(), name));
    fail_unless_equals_float(our->minimum, their->minimum);
    fail_unless_equals_float(our->maximum, their->maximum);
    fail_unless_equals_float(our->default_value, their->default_value);
  }
}
GST_END_TEST;

// GObject's check of a range lets it pass.
GST_START_TEST(nan_is_refused) {
  const Ref<GstElement> element = make_element();
  for (const char* name : {"brightness", "contrast", "hue", "saturation", "gamma", "threshold"}) {
    const double before = number(element.get(), name);
    ASSERT_WARNING(
        g_object_set(element.get(), name, std::numeric_limits<double>::quiet_NaN(), nullptr));
    fail_unless_equals_float(number(element.get(), name), before);
  }
}
GST_END_TEST;

/// Sets what GStreamer reads from a text, whatever its entries are. GStreamer 1.22 writes to it.
void set_array(GstElement* element, std::string text) {
  GValue array = G_VALUE_INIT;
  g_value_init(&array, GST_TYPE_ARRAY);
  fail_unless(gst_value_deserialize(&array, text.data()), "can't read %s", text.c_str());
  g_object_set_property(G_OBJECT(element), "matrix", &array);
  g_value_unset(&array);
}

GST_START_TEST(matrix_of_numbers) {
  const Ref<GstElement> element = make_element();
  fail_unless(get_matrix(element.get()) == identity_color_matrix);
  set_matrix(element.get(), mixing);
  fail_unless(get_matrix(element.get()) == mixing);
  set_array(element.get(), "<1,0,0,0, 0,1,0,0, 0,0,1,0>");
  fail_unless(get_matrix(element.get()) == identity_color_matrix);
  set_array(element.get(),
            "<0.5, 0.25, (float)0.25, -0.125, 0, (uint)1, 0, 0, (gint64)1, (guint64)0, 0, 0.5>");
  fail_unless(get_matrix(element.get()) == mixing);
}
GST_END_TEST;

GST_START_TEST(matrix_of_rows_or_without_offsets) {
  const Ref<GstElement> element = make_element();
  set_array(element.get(), "<<0.5,0.25,0.25,-0.125>, <0,1,0,0>, <1,0,0,0.5>>");
  fail_unless(get_matrix(element.get()) == mixing);
  ColorMatrix without = mixing;
  for (auto& row : without) row[3] = 0;
  for (const char* text :
       {"<0.5,0.25,0.25, 0,1,0, 1,0,0>", "<<0.5,0.25,0.25>, <0,1,0>, <1,0,0>>"}) {
    set_matrix(element.get(), identity_color_matrix);
    set_array(element.get(), text);
    fail_unless(get_matrix(element.get()) == without, "%s", text);
  }
}
GST_END_TEST;

// As users write it.
GST_START_TEST(matrix_on_a_command_line) {
  const TestPipeline pipeline("videotestsrc ! " + element_text() +
                              " name=stripes matrix=\"<0.5,0.25,0.25,-0.125, 0,1,0,0, 1,0,0,0.5>\""
                              " ! fakesink");
  fail_unless(get_matrix(pipeline.find("stripes").get()) == mixing);
}
GST_END_TEST;

GST_START_TEST(what_is_no_matrix) {
  const Ref<GstElement> element = make_element();
  set_matrix(element.get(), mixing);
  for (const char* text :
       {"<>", "<1>", "<1,0,0,0, 0,1,0,0, 0,0,1>", "<1,0,0,0, 0,1,0,0, 0,0,1,0,0>",
        "<1,0,0,0, 0,1,0,0, 0,0,1,red>", "<1,0,0,0, 0,1,0,0, 0,0,1,1/2>",
        "<1,0,0,0, 0,1,0,0, 0,0,1,true>", "<1,0,0,0, 0,1,0,0, 0,0,1,(string)1>",
        "<<1,0,0,0>, <0,1,0,0>>", "<<1,0,0,0>, <0,1,0,0>, 1>", "<<1,0>, <0,1>, <0,0>>",
        "<<1,0,0,0>, <0,1,0>, <0,0,1,0>>", "<<1,0,0>, <0,1,0>, <0,0,1,0>>",
        "<<1,0,0,0>, <0,1,0,0>, <0,0,1,red>>", "<<<1,0,0,0>>, <0,1,0,0>, <0,0,1,0>>"}) {
    ASSERT_WARNING(set_array(element.get(), text));
    fail_unless(get_matrix(element.get()) == mixing, "%s", text);
  }
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    ColorMatrix matrix = identity_color_matrix;
    matrix[1][3] = bad;
    ASSERT_WARNING(set_matrix(element.get(), matrix));
  }
  fail_unless(get_matrix(element.get()) == mixing);
}
GST_END_TEST;

// The setter says no once it can know, and frames go on as they were.
GST_START_TEST(beyond_the_bound_while_playing) {
  Random random(760);
  Rig rig;
  const Ref<GstCaps> caps = make_caps(formats[__i__].name, 33, 31);
  rig.set_caps(caps.get());
  set_matrix(rig.element(), mixing);
  for (const double factor : {70.0, -70.0, 1e9, 1e300}) {
    ASSERT_WARNING(set_matrix(rig.element(), diagonal(factor)));
    fail_unless(get_matrix(rig.element()) == mixing);
  }
  const Frame input = make_plain_frame(caps.get(), random);
  const Ref<GstBuffer> output = rig.process(input.share());
  const Look look{.matrix = mixing};
  fail_unless_empty(look_mistake(output.get(), caps.get(), input.image->view(), look));
  rig.expect_quiet();
}
GST_END_TEST;

GST_START_TEST(beyond_the_bound_before_caps) {
  Rig rig;
  set_matrix(rig.element(), huge);
  fail_unless(get_matrix(rig.element()) == huge);
  const Ref<GstCaps> caps = make_caps("RGB", 33, 31);
  rig.set_caps(caps.get());
  const Report error = expect_one_error(rig.bus(), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS);
  fail_unless(error.text.find("matrix") != std::string::npos, "%s", error.text.c_str());
  fail_unless(error.debug.find("matrix") != std::string::npos, "%s", error.debug.c_str());
}
GST_END_TEST;

// Two properties that are too much together: the one that comes second is refused.
GST_START_TEST(beyond_the_bound_together) {
  Rig rig;
  const Ref<GstCaps> caps = make_caps("RGB", 33, 31);
  rig.set_caps(caps.get());
  set_matrix(rig.element(), diagonal(40));
  ASSERT_WARNING(g_object_set(rig.element(), "contrast", 2.0, nullptr));
  fail_unless_equals_float(number(rig.element(), "contrast"), 1);
  g_object_set(rig.element(), "contrast", 1.25, nullptr);
  fail_unless_equals_float(number(rig.element(), "contrast"), 1.25);
}
GST_END_TEST;

Suite* element_color_values_suite() {
  Suite* suite = suite_create("element-color-values");
  TCase* cases = tcase_create("values");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, numbers);
  tcase_add_test(cases, as_videobalance_has_them);
  tcase_add_test(cases, nan_is_refused);
  tcase_add_test(cases, matrix_of_numbers);
  tcase_add_test(cases, matrix_of_rows_or_without_offsets);
  tcase_add_test(cases, matrix_on_a_command_line);
  tcase_add_test(cases, what_is_no_matrix);
  tcase_add_loop_test(cases, beyond_the_bound_while_playing, 0, format_count);
  tcase_add_test(cases, beyond_the_bound_before_caps);
  tcase_add_test(cases, beyond_the_bound_together);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_color_values)
