// SPDX-License-Identifier: LGPL-2.1-or-later
// What the colour properties do to frames: in every format, at a frame's border, over new caps; and
// that they do nothing where they are neutral.

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "gst/looks.h"
#include "gst/support.h"

namespace {

using namespace test;

constexpr unsigned depths[] = {1, 3};

/// One after the other, each with one property that does something.
std::vector<Look> single_looks() {
  return {{.effect = stripe::Effect::sepia},
          {.effect = stripe::Effect::swap_rb},
          {.effect = stripe::Effect::invert},
          {.effect = stripe::Effect::gray},
          {.matrix = {{{0.2, 0.5, 0.3, 0}, {0, 1, 0, 0.125}, {0.25, 0, -0.5, 0.75}}}},
          {.brightness = -0.25},
          {.brightness = 1},
          {.contrast = 0},
          {.contrast = 2},
          {.hue = 0.3},
          {.hue = -1},
          {.saturation = 0},
          {.saturation = 2},
          {.gamma = 0.5},
          {.gamma = 1.5},
          {.threshold = 0.5},
          {.threshold = 0.1},
          {}};
}

void expect_look(Rig& rig, const GstCaps* caps, const Look& look, Random& random) {
  const Frame input = make_plain_frame(caps, random);
  const Ref<GstBuffer> output = rig.process(input.share());
  fail_unless_empty(look_mistake(output.get(), caps, input.image->view(), look));
}

GST_START_TEST(each_property_in_each_format) {
  Random random(700 + __i__);
  const Ref<GstCaps> caps = make_caps(formats[__i__].name, 35, 21);
  Rig rig;
  rig.set_caps(caps.get());
  for (const Look& look : single_looks()) {
    set_look(rig.element(), look);
    expect_look(rig, caps.get(), look, random);
  }
  rig.expect_quiet();
}
GST_END_TEST;

GST_START_TEST(all_together) {
  Random random(720 + __i__);
  const Ref<GstCaps> caps = make_caps(formats[__i__].name, 34, 23);
  Rig rig;
  rig.set_caps(caps.get());
  for (int i = 0; i < 20; ++i) {
    const Look look = random_look(random);
    set_look(rig.element(), look);
    expect_look(rig, caps.get(), look, random);
  }
}
GST_END_TEST;

GST_START_TEST(colorimetry_of_the_caps) {
  Random random(740);
  for (const char* colorimetry : {"bt601", "bt709", "bt2020", "1:4:0:0", "1:3:5:1"}) {
    const Ref<GstCaps> caps = make_caps("I420", 34, 23, colorimetry);
    Rig rig;
    rig.set_caps(caps.get());
    for (int i = 0; i < 10; ++i) {
      const Look look = random_look(random);
      set_look(rig.element(), look);
      expect_look(rig, caps.get(), look, random);
    }
  }
}
GST_END_TEST;

// Set before the caps are known, and kept over others.
GST_START_TEST(kept_over_new_caps) {
  Random random(741);
  for (int round = 0; round < 5; ++round) {
    Rig rig;
    const Look look = random_look(random);
    set_look(rig.element(), look);
    for (const char* format : {"RGB", "I420", "GRAY8", "BGRx", "NV12", "NV12"}) {
      const Ref<GstCaps> caps = make_caps(format, 2 * random.between(1, 40), random.between(1, 30));
      rig.set_caps(caps.get());
      expect_look(rig, caps.get(), look, random);
    }
  }
}
GST_END_TEST;

GST_START_TEST(kept_over_states) {
  Random random(742);
  const Look look{.effect = stripe::Effect::sepia, .saturation = 0.5, .gamma = 1.25};
  Ref<GstElement> element = make_element();
  set_look(element.get(), look);
  for (int round = 0; round < 3; ++round) {
    Rig rig(std::move(element));
    const Ref<GstCaps> caps = make_caps(round == 1 ? "RGBA" : "NV12", 33, 17);
    rig.set_caps(caps.get());
    expect_look(rig, caps.get(), look, random);
    element = rig.release();
  }
}
GST_END_TEST;

// Frames that are in flight already stay what they were to be.
GST_START_TEST(at_a_frames_border) {
  Random random(743);
  Rig rig(depths[__i__]);
  for (const char* format : {"I420", "RGB"}) {
    const Ref<GstCaps> caps = make_caps(format, 64, 48);
    rig.set_caps(caps.get());
    std::vector<Look> looks;
    std::vector<Frame> inputs;
    for (int i = 0; i < 40; ++i) {
      looks.push_back(random_look(random));
      inputs.push_back(make_plain_frame(caps.get(), random));
      set_look(rig.element(), looks.back());
      fail_unless_equals_int(rig.push(inputs.back().share()), GST_FLOW_OK);
    }
    for (int i = 0; i < 40; ++i) {
      const Ref<GstBuffer> output = rig.pull();
      fail_unless_empty(look_mistake(output.get(), caps.get(), inputs[i].image->view(), looks[i]));
    }
  }
}
GST_END_TEST;

// Pictures with every value and no two pixels alike.
GST_START_TEST(neutral_values_copy) {
  const Format& format = formats[__i__];
  Random random(744);
  const Ref<GstCaps> caps = make_caps(format.name, 65, 63);
  Rig rig;
  set_look(rig.element(), {});
  rig.set_caps(caps.get());
  const std::vector<Look> before = {
      {}, {.effect = stripe::Effect::invert, .hue = 0.5}, {.gamma = 2}};
  for (const Look& look : before) {
    set_look(rig.element(), look);
    set_look(rig.element(), {});
    const Frame input = make_plain_frame(caps.get(), random);
    const Ref<GstBuffer> output = rig.process(input.share());
    fail_unless_empty(mistake(output.get(), caps.get(), input.image->view(), Effect::none));
  }
}
GST_END_TEST;

// The law of equality, with everything on.
GST_START_TEST(the_same_for_all_ways_to_cut) {
  Random random(745);
  const Look look{.effect = stripe::Effect::sepia, .hue = 0.2, .saturation = 1.5, .gamma = 0.7};
  const Ref<GstCaps> caps = make_caps(formats[__i__].name, 67, 45);
  const Frame input = make_plain_frame(caps.get(), random);
  Ref<GstBuffer> first;
  for (const char* layout : {"rows", "columns", "tiles"}) {
    for (const guint stripes : {1, 2, 5, 13}) {
      Rig rig(static_cast<unsigned>(random.between(1, 4)));
      set_look(rig.element(), look);
      set_nick(rig.element(), "stripe-layout", layout);
      g_object_set(rig.element(), "stripe-count", stripes, nullptr);
      rig.set_caps(caps.get());
      const Ref<GstBuffer> output = rig.process(input.share());
      if (!first) first.reset(gst_buffer_ref(output.get()));
      const MappedPicture one(first.get(), info_of(caps.get()));
      const MappedPicture another(output.get(), info_of(caps.get()));
      fail_unless_empty(difference(one.view(), another.view()));
    }
  }
}
GST_END_TEST;

// Every frame is one of the two looks that the setter's thread alternates between.
GST_START_TEST(changes_from_another_thread) {
  Random random(746);
  Rig rig(depths[__i__]);
  const Ref<GstCaps> caps = make_caps("I420", 64, 48);
  rig.set_caps(caps.get());
  std::atomic<bool> stop = false;
  std::thread setter([&] {
    for (int i = 0; !stop; ++i) g_object_set(rig.element(), "gamma", i % 2 ? 1.5 : 1.0, nullptr);
  });
  std::string text;
  for (int i = 0; i < 200 && text.empty(); ++i) {
    const Frame input = make_plain_frame(caps.get(), random);
    const Ref<GstBuffer> output = rig.process(input.share());
    text = look_mistake(output.get(), caps.get(), input.image->view(), {});
    if (!text.empty())
      text = look_mistake(output.get(), caps.get(), input.image->view(), {.gamma = 1.5});
  }
  stop = true;
  setter.join();
  fail_unless_empty(text);
}
GST_END_TEST;

// Two threads that change different properties lose none of each other's.
GST_START_TEST(setters_side_by_side) {
  Random random(747);
  Rig rig;
  const Ref<GstCaps> caps = make_caps("RGB", 64, 48);
  rig.set_caps(caps.get());
  const auto turn = [&](const char* property, double last) {
    for (int i = 0; i < 500; ++i) g_object_set(rig.element(), property, i / 600.0, nullptr);
    g_object_set(rig.element(), property, last, nullptr);
  };
  std::thread one([&] { turn("saturation", 0.25); });
  std::thread other([&] { turn("hue", 0.75); });
  turn("brightness", 0.125);
  one.join();
  other.join();
  const Look look{.brightness = 0.125, .hue = 0.75, .saturation = 0.25};
  expect_look(rig, caps.get(), look, random);
}
GST_END_TEST;

Suite* element_color_suite() {
  Suite* suite = suite_create("element-color");
  TCase* cases = tcase_create("color");
  suite_add_tcase(suite, cases);
  tcase_add_loop_test(cases, each_property_in_each_format, 0, format_count);
  tcase_add_loop_test(cases, all_together, 0, format_count);
  tcase_add_test(cases, colorimetry_of_the_caps);
  tcase_add_test(cases, kept_over_new_caps);
  tcase_add_test(cases, kept_over_states);
  tcase_add_loop_test(cases, at_a_frames_border, 0, G_N_ELEMENTS(depths));
  tcase_add_loop_test(cases, neutral_values_copy, 0, format_count);
  tcase_add_loop_test(cases, the_same_for_all_ways_to_cut, 0, format_count);
  tcase_add_loop_test(cases, changes_from_another_thread, 0, G_N_ELEMENTS(depths));
  tcase_add_test(cases, setters_side_by_side);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_color)
