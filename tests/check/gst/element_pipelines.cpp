// SPDX-License-Identifier: LGPL-2.1-or-later
// The element among real ones. Frames are copied by probes as they enter and as they leave, and
// compared with the oracles.

#include <string>
#include <vector>

#include "gst/frames.h"
#include "gst/recorder.h"
#include "gst/support.h"

namespace {

using namespace test;

/// element_text() with a name and an effect.
std::string stripes(const std::string& name, Effect effect) {
  return element_text() + " name=" + name + " effect=" + effect_name(effect);
}

struct Pipeline {
  explicit Pipeline(const std::string& line) {
    GError* error = nullptr;
    element.reset(gst_parse_launch(line.c_str(), &error));
    fail_unless(error == nullptr, "%s: %s", line.c_str(), error ? error->message : "");
    gst_object_ref_sink(element.get());
  }
  ~Pipeline() { gst_element_set_state(element.get(), GST_STATE_NULL); }

  Ref<GstElement> find(const char* name) {
    return Ref<GstElement>(gst_bin_get_by_name(GST_BIN(element.get()), name));
  }

  /// Plays to the end; fails on an error and after 15 seconds.
  void run() {
    gst_element_set_state(element.get(), GST_STATE_PLAYING);
    const Ref<GstBus> bus(gst_element_get_bus(element.get()));
    const auto ends = static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    const Ref<GstMessage> message(gst_bus_timed_pop_filtered(bus.get(), 15 * GST_SECOND, ends));
    fail_unless(message != nullptr, "no end in sight");
    if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_EOS) return;
    GError* error = nullptr;
    gst_message_parse_error(message.get(), &error, nullptr);
    ck_abort_msg("%s", error->message);
  }

  Ref<GstElement> element;
};

void expect_effect(const Recorder& in, const Recorder& out, Effect effect, unsigned frames) {
  fail_unless_equals_int(in.frames.size(), frames);
  fail_unless_equals_int(out.frames.size(), frames);
  for (unsigned i = 0; i < frames; ++i) {
    fail_unless(gst_caps_is_equal(in.caps[i].get(), out.caps[i].get()));
    const MappedPicture input(in.frames[i].get(), info_of(in.caps[i].get()));
    fail_unless_empty(mistake(out.frames[i].get(), out.caps[i].get(), input.view(), effect));
    fail_unless_equals_uint64(GST_BUFFER_PTS(in.frames[i].get()),
                              GST_BUFFER_PTS(out.frames[i].get()));
  }
}

/// `upstream ! element ! fakesink`, every pixel checked; upstream must take our pool.
void check_upstream(const std::string& upstream, Effect effect, unsigned frames) {
  Pipeline pipeline(upstream + " ! " + stripes("stripes", effect) + " ! fakesink sync=false");
  const Ref<GstElement> element = pipeline.find("stripes");
  const Recorder in(element.get(), "sink");
  const Recorder out(element.get(), "src");
  pipeline.run();
  expect_effect(in, out, effect, frames);
  fail_unless_equals_uint64(stat_uint64(element.get(), "frames-out"), frames);
  fail_unless(stat_boolean(element.get(), "upstream-uses-pool"), "%s", upstream.c_str());
  fail_unless_equals_uint64(stat_uint64(element.get(), "staged-frames"), 0);
}

/// A few moving frames of these caps.
std::string source(const std::string& caps, int frames) {
  return "videotestsrc pattern=ball num-buffers=" + std::to_string(frames) + " ! video/x-raw," +
         caps;
}

GST_START_TEST(from_videotestsrc) {
  const std::string format = formats[__i__].name;
  check_upstream(source("format=" + format + ",width=161,height=121", 4), Effect::invert, 4);
  check_upstream(source("format=" + format + ",width=161,height=121", 2), Effect::gray, 2);
}
GST_END_TEST;

GST_START_TEST(from_jpegdec) {
  for (const Effect effect : effects)
    check_upstream(source("format=I420,width=321,height=241", 5) + " ! jpegenc ! jpegdec", effect,
                   5);
}
GST_END_TEST;

GST_START_TEST(from_pngdec) {
  for (const Effect effect : effects)
    check_upstream(source("format=RGB,width=97,height=61", 5) + " ! pngenc ! pngdec", effect, 5);
}
GST_END_TEST;

GST_START_TEST(from_converters) {
  check_upstream(
      source("format=RGBA,width=160,height=120", 4) + " ! videoconvert ! video/x-raw,format=NV12",
      Effect::invert, 4);
  check_upstream(source("format=I420,width=160,height=120", 4) +
                     " ! videoscale ! video/x-raw,width=83,height=59",
                 Effect::gray, 4);
}
GST_END_TEST;

// videotestsrc finds the pool through these.
GST_START_TEST(through_queue_and_identity) {
  check_upstream(source("format=I420,width=160,height=120", 20) + " ! queue ! identity",
                 Effect::invert, 20);
}
GST_END_TEST;

GST_START_TEST(interlaced_source) {
  check_upstream(source("format=I420,width=161,height=121,interlace-mode=interleaved", 3),
                 Effect::invert, 3);
}
GST_END_TEST;

// Both see the same buffers; tee forwards no pool.
GST_START_TEST(tee) {
  Pipeline pipeline(source("format=I420,width=161,height=121", 10) +
                    " ! tee name=t  t. ! queue ! " + stripes("one", Effect::invert) +
                    " ! fakesink sync=false  t. ! queue ! " + stripes("two", Effect::gray) +
                    " ! fakesink sync=false");
  const Ref<GstElement> one = pipeline.find("one");
  const Ref<GstElement> two = pipeline.find("two");
  const Recorder in_one(one.get(), "sink");
  const Recorder out_one(one.get(), "src");
  const Recorder in_two(two.get(), "sink");
  const Recorder out_two(two.get(), "src");
  pipeline.run();
  expect_effect(in_one, out_one, Effect::invert, 10);
  expect_effect(in_two, out_two, Effect::gray, 10);
}
GST_END_TEST;

// The second one takes the first one's output where it lies.
GST_START_TEST(two_in_a_row) {
  for (const char* format : {"RGBA", "GRAY8"}) {
    Pipeline pipeline(source(std::string("format=") + format + ",width=161,height=121", 6) + " ! " +
                      stripes("one", Effect::invert) + " ! " + stripes("two", Effect::invert) +
                      " ! fakesink sync=false");
    const Ref<GstElement> one = pipeline.find("one");
    const Ref<GstElement> two = pipeline.find("two");
    const Recorder in(one.get(), "sink");
    const Recorder between(one.get(), "src");
    const Recorder out(two.get(), "src");
    pipeline.run();
    expect_effect(in, between, Effect::invert, 6);
    // Twice inverted is the original: the copy is its oracle.
    expect_effect(in, out, Effect::none, 6);
    fail_unless_equals_uint64(stat_uint64(two.get(), "input-pinned-frames"), 6);
    fail_unless_equals_uint64(stat_uint64(two.get(), "staged-frames"), 0);
  }
}
GST_END_TEST;

// What reads its input with strides of its own, or not.
GST_START_TEST(before_real_elements) {
  for (const char* after :
       {"jpegenc ! jpegdec", "pngenc", "videoconvert ! video/x-raw,format=RGB",
        "videoscale ! video/x-raw,width=80,height=60", "videoflip method=clockwise",
        "videobalance saturation=0.5", "queue ! identity"}) {
    Pipeline pipeline(source("width=161,height=121", 4) + " ! videoconvert ! " +
                      stripes("stripes", Effect::invert) + " ! " + after +
                      " ! fakesink sync=false");
    const Ref<GstElement> element = pipeline.find("stripes");
    const Recorder in(element.get(), "sink");
    const Recorder out(element.get(), "src");
    pipeline.run();
    expect_effect(in, out, Effect::invert, 4);
  }
}
GST_END_TEST;

// The sink holds last frames, which outlive the pipeline's return to NULL.
GST_START_TEST(to_appsink) {
  Pipeline pipeline(source("format=BGR,width=161,height=121", 5) + " ! " +
                    stripes("stripes", Effect::invert) + " ! appsink name=sink sync=false");
  const Ref<GstElement> element = pipeline.find("stripes");
  const Ref<GstElement> sink = pipeline.find("sink");
  const Recorder in(element.get(), "sink");
  gst_element_set_state(pipeline.element.get(), GST_STATE_PLAYING);
  std::vector<Ref<GstSample>> samples;
  for (;;) {
    GstSample* sample = nullptr;
    g_signal_emit_by_name(sink.get(), "pull-sample", &sample);
    if (!sample) break;
    samples.emplace_back(sample);
  }
  gst_element_set_state(pipeline.element.get(), GST_STATE_NULL);
  fail_unless_equals_int(samples.size(), 5);
  for (unsigned i = 0; i < samples.size(); ++i) {
    GstCaps* caps = gst_sample_get_caps(samples[i].get());
    const MappedPicture input(in.frames[i].get(), info_of(caps));
    fail_unless_empty(
        mistake(gst_sample_get_buffer(samples[i].get()), caps, input.view(), Effect::invert));
  }
}
GST_END_TEST;

// The question's picture and its three stripes on three streams.
GST_START_TEST(the_question) {
  check_upstream(source("format=BGR,width=1080,height=1920", 2), Effect::none, 2);
}
GST_END_TEST;

Suite* element_pipelines_suite() {
  Suite* suite = suite_create("element-pipelines");
  TCase* cases = tcase_create("pipelines");
  tcase_set_timeout(cases, 60);
  suite_add_tcase(suite, cases);
  tcase_add_loop_test(cases, from_videotestsrc, 0, format_count);
  tcase_add_test(cases, from_jpegdec);
  tcase_add_test(cases, from_pngdec);
  tcase_add_test(cases, from_converters);
  tcase_add_test(cases, through_queue_and_identity);
  tcase_add_test(cases, interlaced_source);
  tcase_add_test(cases, tee);
  tcase_add_test(cases, two_in_a_row);
  tcase_add_test(cases, before_real_elements);
  tcase_add_test(cases, to_appsink);
  tcase_add_test(cases, the_question);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_pipelines)
