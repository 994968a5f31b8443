// SPDX-License-Identifier: LGPL-2.1-or-later
// Properties that GstController animates: each frame has the values of its own stream time.

#include <gst/controller/controller.h>

#include <string>
#include <vector>

#include "gst/looks.h"
#include "gst/support.h"

namespace {

using namespace test;

constexpr unsigned depths[] = {1, 3};
constexpr unsigned frame_count = 26;  // a second, and its end

/// Straight lines through points.
///
/// Owner: holds the source; the element holds its binding.
class Curve {
 public:
  Curve(GstElement* element, const char* property)
      : source_(GST_TIMED_VALUE_CONTROL_SOURCE(gst_interpolation_control_source_new())) {
    g_object_set(source_, "mode", GST_INTERPOLATION_MODE_LINEAR, nullptr);
    fail_unless(gst_object_add_control_binding(
        GST_OBJECT(element), gst_direct_control_binding_new_absolute(GST_OBJECT(element), property,
                                                                     GST_CONTROL_SOURCE(source_))));
  }
  Curve(const Curve&) = delete;
  ~Curve() { gst_object_unref(source_); }

  Curve& at(GstClockTime time, double value) {
    fail_unless(gst_timed_value_control_source_set(source_, time, value));
    return *this;
  }

 private:
  GstTimedValueControlSource* const source_;
};

double number(GstElement* element, const char* property) {
  gdouble value = -100;
  g_object_get(element, property, &value, nullptr);
  return value;
}

GstClockTime time_of(unsigned frame) { return frame * GST_SECOND / 25; }

/// Frames with timestamps, through an element whose properties are animated.
class Animation {
 public:
  Animation(const char* format, unsigned depth)
      : rig_(depth), caps_(make_caps(format, 34, 22)), random_(820) {
    rig_.set_caps(caps_.get());
  }

  GstElement* element() const { return rig_.element(); }
  GstHarness* harness() const { return rig_.harness(); }

  void push(GstClockTime time) {
    inputs_.push_back(make_plain_frame(caps_.get(), random_));
    GST_BUFFER_PTS(inputs_.back().buffer.get()) = time;
    fail_unless_equals_int(rig_.push(inputs_.back().share()), GST_FLOW_OK);
  }

  /// The next frame that comes out is this.
  void expect(const Look& look) {
    const Ref<GstBuffer> output = rig_.pull();
    fail_unless_empty(
        look_mistake(output.get(), caps_.get(), inputs_[pulled_++].image->view(), look));
  }

 private:
  Rig rig_;
  Ref<GstCaps> caps_;
  Random random_;
  std::vector<Frame> inputs_;
  std::size_t pulled_ = 0;
};

GST_START_TEST(saturation_on_a_line) {
  for (const char* format : {"I420", "RGB"}) {
    Animation animation(format, depths[__i__]);
    Curve curve(animation.element(), "saturation");
    curve.at(0, 0).at(GST_SECOND, 2);
    for (unsigned i = 0; i < frame_count; ++i) animation.push(time_of(i));
    for (unsigned i = 0; i < frame_count; ++i) animation.expect({.saturation = 2 * i / 25.0});
    fail_unless_equals_float(number(animation.element(), "saturation"), 2);
  }
}
GST_END_TEST;

// Each frame has both values of its time, never one of the frame before.
GST_START_TEST(all_at_once) {
  Animation animation("NV12", depths[__i__]);
  Curve saturation(animation.element(), "saturation"), hue(animation.element(), "hue");
  Curve brightness(animation.element(), "brightness"), contrast(animation.element(), "contrast");
  Curve gamma(animation.element(), "gamma");
  saturation.at(0, 0).at(GST_SECOND, 2);
  hue.at(0, -1).at(GST_SECOND, 1);
  brightness.at(0, -0.25).at(GST_SECOND, 0.25);
  contrast.at(0, 2).at(GST_SECOND, 0);
  gamma.at(0, 0.75).at(GST_SECOND, 1.5);
  for (unsigned i = 0; i < frame_count; ++i) animation.push(time_of(i));
  for (unsigned i = 0; i < frame_count; ++i) {
    const double share = i / 25.0;
    animation.expect({.brightness = -0.25 + 0.5 * share,
                      .contrast = 2 - 2 * share,
                      .hue = -1 + 2 * share,
                      .saturation = 2 * share,
                      .gamma = 0.75 + 0.75 * share});
  }
}
GST_END_TEST;

// Timestamps are not stream time.
GST_START_TEST(by_stream_time) {
  Animation animation("I420", depths[__i__]);
  Curve curve(animation.element(), "saturation");
  curve.at(0, 0).at(GST_SECOND, 2);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = 10 * GST_SECOND;
  segment.time = GST_SECOND / 5;
  fail_unless(gst_harness_push_event(animation.harness(), gst_event_new_segment(&segment)));
  for (unsigned i = 0; i < 20; ++i) animation.push(10 * GST_SECOND + time_of(i));
  for (unsigned i = 0; i < 20; ++i) animation.expect({.saturation = 2 * (i + 5) / 25.0});
}
GST_END_TEST;

// They stay as they were last.
GST_START_TEST(frames_without_a_time) {
  Animation animation("RGB", depths[__i__]);
  Curve curve(animation.element(), "saturation");
  curve.at(0, 0).at(GST_SECOND, 2);
  animation.push(time_of(5));
  for (int i = 0; i < 3; ++i) animation.push(GST_CLOCK_TIME_NONE);
  for (int i = 0; i < 4; ++i) animation.expect({.saturation = 0.4});
}
GST_END_TEST;

// Without a curve for it any more a property is the user's again.
GST_START_TEST(until_the_binding_goes) {
  Animation animation("RGB", depths[__i__]);
  Curve curve(animation.element(), "hue");
  curve.at(0, 0.25).at(GST_SECOND, 0.25);
  g_object_set(animation.element(), "hue", -0.5, nullptr);
  animation.push(0);
  animation.expect({.hue = 0.25});
  GstControlBinding* binding =
      gst_object_get_control_binding(GST_OBJECT(animation.element()), "hue");
  fail_unless(gst_object_remove_control_binding(GST_OBJECT(animation.element()), binding));
  gst_object_unref(binding);
  g_object_set(animation.element(), "hue", -0.5, nullptr);
  animation.push(time_of(1));
  animation.expect({.hue = -0.5});
}
GST_END_TEST;

Suite* element_controller_suite() {
  Suite* suite = suite_create("element-controller");
  TCase* cases = tcase_create("controller");
  suite_add_tcase(suite, cases);
  tcase_add_loop_test(cases, saturation_on_a_line, 0, G_N_ELEMENTS(depths));
  tcase_add_loop_test(cases, all_at_once, 0, G_N_ELEMENTS(depths));
  tcase_add_loop_test(cases, by_stream_time, 0, G_N_ELEMENTS(depths));
  tcase_add_loop_test(cases, frames_without_a_time, 0, G_N_ELEMENTS(depths));
  tcase_add_loop_test(cases, until_the_binding_goes, 0, G_N_ELEMENTS(depths));
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_controller)
