// SPDX-License-Identifier: LGPL-2.1-or-later
// The four properties of videobalance against videobalance: the same frames through both elements.

#include <array>
#include <string>

#include "gst/frames.h"
#include "gst/support.h"

namespace {

using namespace test;

struct Balance {
  double brightness, contrast, hue, saturation;
};

std::string in_words(const Balance& balance) {
  return "brightness=" + std::to_string(balance.brightness) +
         " contrast=" + std::to_string(balance.contrast) + " hue=" + std::to_string(balance.hue) +
         " saturation=" + std::to_string(balance.saturation) + ": ";
}

void set_balance(GstElement* element, const Balance& balance) {
  g_object_set(element, "brightness", balance.brightness, "contrast", balance.contrast, "hue",
               balance.hue, "saturation", balance.saturation, nullptr);
}

Ref<GstElement> make_videobalance() {
  GstElement* element = gst_element_factory_make("videobalance", nullptr);
  fail_unless(element != nullptr, "no videobalance");
  gst_object_ref_sink(element);
  return Ref<GstElement>(element);
}

/// Both elements, with caps.
struct Pair {
  explicit Pair(const GstCaps* caps) : caps(gst_caps_copy(caps)), theirs(make_videobalance()) {
    ours.set_caps(this->caps.get());
    theirs.set_caps(this->caps.get());
  }

  /// How the two differ by more than 1 on a random frame, in words; empty if they do not. At the
  /// settings where it has nothing to do videobalance hands its input through.
  std::string mistake(const Balance& balance, Random& random) {
    set_balance(ours.element(), balance);
    set_balance(theirs.element(), balance);
    const Frame input = make_plain_frame(caps.get(), random);
    const Ref<GstBuffer> our = ours.process(input.share());
    const Ref<GstBuffer> their = theirs.process(input.share());
    const GstVideoInfo info = info_of(caps.get());
    const MappedPicture our_picture(our.get(), info);
    const MappedPicture their_picture(their.get(), info);
    const std::string text = difference(their_picture.view(), our_picture.view(), 1);
    return text.empty() ? "" : in_words(balance) + text;
  }

  Ref<GstCaps> caps;
  Rig ours;
  Rig theirs;
};

constexpr std::array formats_to_compare = {"NV12", "I420"};
constexpr std::array colorimetries = {"bt601", "bt709", "1:4:0:0"};

Ref<GstCaps> caps_to_compare(int number) {
  return make_caps(formats_to_compare[static_cast<std::size_t>(number) % 2], 65, 63,
                   colorimetries[static_cast<std::size_t>(number) / 2]);
}

GST_START_TEST(random_settings) {
  Random random(780 + __i__);
  Pair pair(caps_to_compare(__i__).get());
  for (int i = 0; i < 100; ++i) {
    const Balance balance{random.between(-100, 100) / 100.0, random.between(0, 200) / 100.0,
                          random.between(-100, 100) / 100.0, random.between(0, 200) / 100.0};
    fail_unless_empty(pair.mistake(balance, random));
  }
}
GST_END_TEST;

GST_START_TEST(extremes) {
  Random random(790 + __i__);
  Pair pair(caps_to_compare(__i__).get());
  for (const double brightness : {-1.0, 0.0, 1.0})
    for (const double contrast : {0.0, 1.0, 2.0})
      for (const double hue : {-1.0, -0.5, 0.0, 0.5, 1.0})
        for (const double saturation : {0.0, 1.0, 2.0})
          fail_unless_empty(pair.mistake({brightness, contrast, hue, saturation}, random));
}
GST_END_TEST;

Suite* element_videobalance_suite() {
  Suite* suite = suite_create("element-videobalance");
  TCase* cases = tcase_create("videobalance");
  suite_add_tcase(suite, cases);
  tcase_add_loop_test(cases, random_settings, 0, 6);
  tcase_add_loop_test(cases, extremes, 0, 6);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_videobalance)
