// SPDX-License-Identifier: LGPL-2.1-or-later
// GstColorBalance: the four properties as the channels that players have sliders for, and a player
// that finds them.

#include <gst/video/colorbalance.h>

#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gst/looks.h"
#include "gst/pipeline.h"
#include "gst/support.h"
#include "gst/timelines.h"
#include "support/backend.h"

namespace {

using namespace test;

/// A channel, its property, and what of it the property is at the channel's ends.
struct Slider {
  const char* label;
  const char* property;
  double least, most;
};

constexpr Slider sliders[] = {{"BRIGHTNESS", "brightness", -1, 1},
                              {"CONTRAST", "contrast", 0, 2},
                              {"HUE", "hue", -1, 1},
                              {"SATURATION", "saturation", 0, 2}};

double number(GstElement* element, const char* property) {
  gdouble value = -100;
  g_object_get(element, property, &value, nullptr);
  return value;
}

GstColorBalanceChannel* find_channel(GstColorBalance* balance, const std::string& label) {
  GstColorBalanceChannel* found = nullptr;
  for (const GList* i = gst_color_balance_list_channels(balance); i; i = i->next) {
    auto* channel = GST_COLOR_BALANCE_CHANNEL(i->data);
    if (label != channel->label) continue;
    fail_unless(found == nullptr, "two channels %s", label.c_str());
    found = channel;
  }
  fail_unless(found != nullptr, "no channel %s", label.c_str());
  return found;
}

GST_START_TEST(channels_are_properties) {
  const Ref<GstElement> element = make_element();
  fail_unless(GST_IS_COLOR_BALANCE(element.get()));
  GstColorBalance* balance = GST_COLOR_BALANCE(element.get());
  fail_unless_equals_int(
      g_list_length(const_cast<GList*>(gst_color_balance_list_channels(balance))), 4);
  for (const Slider& slider : sliders) {
    GstColorBalanceChannel* channel = find_channel(balance, slider.label);
    fail_unless_equals_int(channel->min_value, -1000);
    fail_unless_equals_int(channel->max_value, 1000);
    fail_unless_equals_int(gst_color_balance_get_value(balance, channel), 0);
    for (const int value : {-1000, 1000, -999, -333, 0, 1, 487, 700}) {
      gst_color_balance_set_value(balance, channel, value);
      fail_unless_equals_int(gst_color_balance_get_value(balance, channel), value);
      const double share = (value + 1000) / 2000.0;
      fail_unless_equals_float(
          std::round(1e9 * number(element.get(), slider.property)),
          std::round(1e9 * (slider.least + share * (slider.most - slider.least))));
    }
    g_object_set(element.get(), slider.property, slider.least, nullptr);
    fail_unless_equals_int(gst_color_balance_get_value(balance, channel), -1000);
    gst_color_balance_set_value(balance, channel, 5000);  // a player's mistake
    fail_unless_equals_float(number(element.get(), slider.property), slider.most);
  }
}
GST_END_TEST;

// As gst_color_balance_get_value of videobalance has it for the same settings.
GST_START_TEST(values_are_those_of_videobalance) {
  const Ref<GstElement> element = make_element();
  const Ref<GstElement> theirs(gst_element_factory_make("videobalance", nullptr));
  gst_object_ref_sink(theirs.get());
  for (const Slider& slider : sliders) {
    GstColorBalanceChannel* their = find_channel(GST_COLOR_BALANCE(theirs.get()), slider.label);
    GstColorBalanceChannel* our = find_channel(GST_COLOR_BALANCE(element.get()), slider.label);
    fail_unless_equals_int(our->min_value, their->min_value);
    fail_unless_equals_int(our->max_value, their->max_value);
    for (const int value : {-1000, -250, 0, 125, 1000}) {
      gst_color_balance_set_value(GST_COLOR_BALANCE(theirs.get()), their, value);
      gst_color_balance_set_value(GST_COLOR_BALANCE(element.get()), our, value);
      fail_unless_equals_float(number(element.get(), slider.property),
                               number(theirs.get(), slider.property));
    }
  }
}
GST_END_TEST;

using Changes = std::vector<std::pair<std::string, int>>;

void note_change(GstColorBalance*, GstColorBalanceChannel* channel, gint value, gpointer changes) {
  static_cast<Changes*>(changes)->emplace_back(channel->label, value);
}

// Whoever changes it, and only where it changes.
GST_START_TEST(changes_are_told) {
  const Ref<GstElement> element = make_element();
  GstColorBalance* balance = GST_COLOR_BALANCE(element.get());
  Changes changes;
  g_signal_connect(balance, "value-changed", G_CALLBACK(note_change), &changes);
  g_object_set(balance, "hue", 0.5, "gamma", 2.0, "contrast", 1.0, nullptr);
  gst_color_balance_set_value(balance, find_channel(balance, "SATURATION"), -1000);
  gst_color_balance_set_value(balance, find_channel(balance, "SATURATION"), -1000);
  g_object_set(balance, "brightness", -0.25, nullptr);
  const Changes wanted = {{"HUE", 500}, {"SATURATION", -1000}, {"BRIGHTNESS", -250}};
  fail_unless(changes == wanted);
}
GST_END_TEST;

// Handlers may do to the element what they like: no lock is held.
GST_START_TEST(handlers_may_set_properties) {
  Rig rig;
  const Ref<GstCaps> caps = make_caps("RGB", 16, 16);
  rig.set_caps(caps.get());
  g_signal_connect(
      rig.element(), "value-changed",
      G_CALLBACK(+[](GstColorBalance* balance, GstColorBalanceChannel* channel, gint, gpointer) {
        if (std::string("HUE") == channel->label)
          g_object_set(balance, "saturation", 0.0, "effect", 1, nullptr);
      }),
      nullptr);
  g_object_set(rig.element(), "hue", 0.5, nullptr);
  fail_unless_equals_float(number(rig.element(), "saturation"), 0);
  fail_unless_equals_string(nick_of(rig.element(), "effect"), "invert");
}
GST_END_TEST;

// Players ask before there is a device, and again.
GST_START_TEST(hardware_or_software) {
  const GstColorBalanceType wanted =
      backend_is_cuda() ? GST_COLOR_BALANCE_HARDWARE : GST_COLOR_BALANCE_SOFTWARE;
  Ref<GstElement> element = make_element();
  GstColorBalance* balance = GST_COLOR_BALANCE(element.get());
  fail_unless_equals_int(gst_color_balance_get_balance_type(balance), wanted);
  set_nick(element.get(), "backend", backend_is_cuda() ? "auto" : "host");
  fail_unless_equals_int(gst_color_balance_get_balance_type(balance), wanted);
  g_object_set(element.get(), "cuda-device-id", 4711, "backend", 1, nullptr);
  fail_unless_equals_int(gst_color_balance_get_balance_type(balance), GST_COLOR_BALANCE_SOFTWARE);
  element = make_element();
  Rig rig(std::move(element));
  fail_unless_equals_int(gst_color_balance_get_balance_type(GST_COLOR_BALANCE(rig.element())),
                         wanted);
}
GST_END_TEST;

// --- a player

/// A short video in a folder of its own; none is made where an element for it is missing.
struct Video {
  explicit Video(const std::string& pattern) {
    const TestPipeline pipeline("videotestsrc num-buffers=12 pattern=" + pattern +
                                " ! video/x-raw,format=I420,width=64,height=48,framerate=25/1"
                                " ! jpegenc ! avimux ! filesink location=" +
                                folder.file("video.avi"));
    pipeline.set_state(GST_STATE_PLAYING);
    pipeline.wait_for(GST_MESSAGE_EOS);
  }

  std::string uri() const { return "uri=file://" + folder.file("video.avi"); }

  TempFolder folder;
};

unsigned count_of(const TestPipeline& pipeline, const std::string& factory) {
  unsigned count = 0;
  GstIterator* iterator = gst_bin_iterate_recurse(GST_BIN(pipeline.element.get()));
  GValue item = G_VALUE_INIT;
  while (gst_iterator_next(iterator, &item) == GST_ITERATOR_OK) {
    GstElementFactory* made = gst_element_get_factory(GST_ELEMENT(g_value_get_object(&item)));
    count += made && factory == GST_OBJECT_NAME(made);
    g_value_reset(&item);
  }
  g_value_unset(&item);
  gst_iterator_free(iterator);
  return count;
}

/// The last picture that came to `out`, with its caps.
struct LastPicture {
  explicit LastPicture(const TestPipeline& pipeline) {
    GstSample* taken = nullptr;
    g_object_get(pipeline.find("out").get(), "last-sample", &taken, nullptr);
    fail_unless(taken != nullptr, "no picture came");
    sample.reset(taken);
    picture.emplace(gst_sample_get_buffer(taken), info_of(gst_sample_get_caps(taken)));
  }

  Ref<GstSample> sample;
  std::optional<MappedPicture> picture;
};

void expect_component(const ConstPicture& picture, int component, int value, int tolerance) {
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x)
      fail_unless(std::abs(picture.sample(component, x, y) - value) <= tolerance,
                  "component %d at %d,%d is %d, not %d", component, x, y,
                  picture.sample(component, x, y), value);
}

const char* player_caps = " ! video/x-raw,format=I420 ! fakesink name=out sync=false";

// playbin looks for the interface in its sink: its own sliders move ours, and it has no need of a
// videobalance of its own.
GST_START_TEST(playbin_finds_it_in_its_sink) {
  const Video video("smpte");
  const TestPipeline pipeline("playbin " + video.uri() + " audio-sink=fakesink video-sink=\"" +
                              element_text() + " name=stripes" + player_caps + "\"");
  pipeline.set_state(GST_STATE_PAUSED);
  const Ref<GstElement> element = pipeline.find("stripes");
  GstColorBalance* player = GST_COLOR_BALANCE(pipeline.element.get());
  fail_unless_equals_int(count_of(pipeline, "videobalance"), 0);
  fail_unless_equals_int(
      gst_color_balance_get_balance_type(player),
      backend_is_cuda() ? GST_COLOR_BALANCE_HARDWARE : GST_COLOR_BALANCE_SOFTWARE);
  for (const Slider& slider : sliders) {
    GstColorBalanceChannel* channel = find_channel(player, slider.label);
    gst_color_balance_set_value(player, channel, channel->max_value);
    fail_unless_equals_float(number(element.get(), slider.property), slider.most);
    gst_color_balance_set_value(player, channel, 0);
    fail_unless_equals_float(number(element.get(), slider.property),
                             (slider.least + slider.most) / 2);
    fail_unless_equals_int(gst_color_balance_get_value(player, channel), 0);
  }
  gst_color_balance_set_value(player, find_channel(player, "SATURATION"), -1000);
  pipeline.set_state(GST_STATE_PLAYING);
  pipeline.wait_for(GST_MESSAGE_EOS);
  const LastPicture last(pipeline);
  for (const int component : {1, 2}) expect_component(last.picture->view(), component, 128, 0);
}
GST_END_TEST;

GST_START_TEST(playbin_has_it_as_video_filter) {
  const Video video("white");
  const TestPipeline pipeline("playbin " + video.uri() + " audio-sink=fakesink video-filter=\"" +
                              element_text() + " name=stripes effect=invert\" video-sink=\"" +
                              "videoconvert" + player_caps + "\"");
  pipeline.set_state(GST_STATE_PLAYING);
  pipeline.wait_for(GST_MESSAGE_EOS);
  fail_unless_equals_uint64(stat_uint64(pipeline.find("stripes").get(), "frames-out"), 12);
  fail_unless_equals_int(count_of(pipeline, "videobalance"), 1);
  const LastPicture last(pipeline);
  expect_component(last.picture->view(), 0, 20, 5);  // black, of either range
}
GST_END_TEST;

// A picture, as decodebin gives it, once.
GST_START_TEST(playbin_shows_a_picture) {
  const TempFolder folder;
  {
    const TestPipeline maker(
        "videotestsrc num-buffers=1 pattern=white ! "
        "video/x-raw,format=I420,width=64,height=48 ! jpegenc ! filesink "
        "location=" +
        folder.file("picture.jpg"));
    maker.set_state(GST_STATE_PLAYING);
    maker.wait_for(GST_MESSAGE_EOS);
  }
  const TestPipeline pipeline("playbin uri=file://" + folder.file("picture.jpg") +
                              " audio-sink=fakesink video-filter=\"" + element_text() +
                              " name=stripes effect=invert\" video-sink=\"videoconvert" +
                              player_caps + "\"");
  pipeline.set_state(GST_STATE_PAUSED);
  const LastPicture last(pipeline);
  expect_component(last.picture->view(), 0, 20, 5);  // black, of either range
}
GST_END_TEST;

Suite* element_color_balance_suite() {
  Suite* suite = suite_create("element-color-balance");
  TCase* cases = tcase_create("balance");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, channels_are_properties);
  tcase_add_test(cases, values_are_those_of_videobalance);
  tcase_add_test(cases, changes_are_told);
  tcase_add_test(cases, handlers_may_set_properties);
  tcase_add_test(cases, hardware_or_software);
  tcase_add_test(cases, playbin_finds_it_in_its_sink);
  tcase_add_test(cases, playbin_has_it_as_video_filter);
  tcase_add_test(cases, playbin_shows_a_picture);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_color_balance)
