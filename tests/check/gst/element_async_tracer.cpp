// SPDX-License-Identifier: LGPL-2.1-or-later
// Under GStreamer's latency tracer, which sends a serialized event before every frame.

#include <cstdlib>

#include "gst/outlet.h"
#include "gst/pipeline.h"
#include "gst/support.h"

namespace {

using namespace test;

constexpr unsigned depths[] = {1, 2, 3, 16};
constexpr int frames = 2000;

/// What passes a pad: `events` probes of the tracer's, each right before a frame.
struct Traffic {
  static GstPadProbeReturn look(GstPad*, GstPadProbeInfo* info, gpointer data) {
    auto* traffic = static_cast<Traffic*>(data);
    if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
      traffic->out_of_place += GST_BUFFER_OFFSET(GST_PAD_PROBE_INFO_BUFFER(info)) !=
                               static_cast<guint64>(traffic->frames);
      traffic->out_of_place += traffic->events == traffic->frames;
      ++traffic->frames;
      traffic->events = traffic->frames;
    } else if (gst_event_has_name(GST_PAD_PROBE_INFO_EVENT(info), "sub_latency_probe.id")) {
      ++traffic->events;
    }
    return GST_PAD_PROBE_OK;
  }
  int frames = 0;
  int events = 0;
  int out_of_place = 0;
};

// No frame is held up by them, nor do they drain what is in flight.
GST_START_TEST(two_thousand_frames) {
  const unsigned depth = depths[__i__];
  const TestPipeline pipeline(small_source(frames) + " ! " + stripes_at(depth) +
                              " ! fakesink name=sink sync=false");
  const Ref<GstElement> element = pipeline.find("stripes");
  const unsigned wanted = depth == 1 ? 1 : depth + 1;
  const Counter counter(pipeline, "sink", "sink", [&](unsigned count) {
    if (count == 1)
      wait_until("frames in flight",
                 [&] { return stat_uint64(element.get(), "frames-in") >= wanted; });
  });
  Traffic traffic;
  const auto types =
      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM);
  // What comes in from the pad ahead has the tracer's events; they go no further than that element.
  const Ref<GstPad> sink = pipeline.pad("stripes", "sink");
  gst_pad_add_probe(sink.get(), types, Traffic::look, &traffic, nullptr);
  gst_element_set_state(pipeline.element.get(), GST_STATE_PLAYING);
  pipeline.wait_for(GST_MESSAGE_EOS);
  fail_unless_equals_int(traffic.frames, frames);
  fail_unless_equals_int(traffic.out_of_place, 0);
  fail_unless_equals_int(counter.count(), frames);
  fail_unless_equals_int(stat_uint(element.get(), "frames-in-flight-peak"), depth);
}
GST_END_TEST;

Suite* element_async_tracer_suite() {
  Suite* suite = suite_create("element-async-tracer");
  TCase* cases = tcase_create("tracer");
  tcase_set_timeout(cases, 60);
  suite_add_tcase(suite, cases);
  tcase_add_loop_test(cases, two_thousand_frames, 0, G_N_ELEMENTS(depths));
  return suite;
}

}  // namespace

int main(int argc, char** argv) {
  setenv("GST_TRACERS", "latency(flags=element)", 1);
  return test::run_element_suite(argc, argv, element_async_tracer_suite, "element_async_tracer",
                                 __FILE__);
}
