// SPDX-License-Identifier: LGPL-2.1-or-later
// State changes with frames in flight: preroll, restarts, and a stop wherever a thread waits.

#include <gst/app/gstappsrc.h>

#include <atomic>
#include <thread>

#include "gst/downstream.h"
#include "gst/outlet.h"
#include "gst/pipeline.h"
#include "gst/support.h"

namespace {

using namespace test;

constexpr unsigned depths[] = {1, 2, 3, 16};
constexpr int depth_count = G_N_ELEMENTS(depths);
constexpr int first_async = 1;

std::string line(unsigned depth, int frames, const std::string& sink_options) {
  return small_source(frames) + " ! " + stripes_at(depth) + " ! fakesink name=sink " + sink_options;
}

// One frame is at the sink, and the element waits for no other to push it.
GST_START_TEST(preroll_and_play) {
  for (const int frames : {1, 40}) {
    const TestPipeline pipeline(line(depths[__i__], frames, "sync=false"));
    const Counter counter(pipeline, "sink", "sink");
    pipeline.set_state(GST_STATE_PAUSED);
    settle();
    fail_unless_equals_int(counter.count(), 1);
    pipeline.set_state(GST_STATE_PLAYING);
    pipeline.wait_for(GST_MESSAGE_EOS);
    fail_unless_equals_int(counter.count(), frames);
    const Ref<GstElement> element = pipeline.find("stripes");
    fail_unless_equals_uint64(stat_uint64(element.get(), "frames-in"), frames);
    fail_unless_equals_uint64(stat_uint64(element.get(), "frames-out"), frames);
    fail_unless_equals_uint64(stat_uint64(element.get(), "frames-dropped"), 0);
  }
}
GST_END_TEST;

GST_START_TEST(restarts) {
  const TestPipeline pipeline(line(depths[__i__], -1, "sync=false"));
  const Counter counter(pipeline, "sink", "sink");
  for (int i = 0; i < 10; ++i) {
    const unsigned before = counter.count();
    pipeline.set_state(GST_STATE_PAUSED);
    fail_unless(counter.count() > before);
    expect_to_end("READY", [&] { gst_element_set_state(pipeline.element.get(), GST_STATE_READY); });
    const unsigned at_ready = counter.count();
    settle();
    fail_unless_equals_int(counter.count(), at_ready);
    pipeline.set_state(GST_STATE_PAUSED);
    pipeline.set_state(GST_STATE_PLAYING);
    counter.wait_for(5);
    pipeline.set_state(GST_STATE_PAUSED);
    expect_to_end("READY", [&] { gst_element_set_state(pipeline.element.get(), GST_STATE_READY); });
    pipeline.expect_no_error();
  }
}
GST_END_TEST;

// A depth set in READY is that of the next start.
GST_START_TEST(another_depth_with_each_start) {
  const TestPipeline pipeline(line(3, 60, "sync=false"));
  const Ref<GstElement> element = pipeline.find("stripes");
  const Counter counter(pipeline, "sink", "sink");
  unsigned played = 0;
  for (const unsigned depth : {3U, 1U, 16U, 1U, 2U}) {
    g_object_set(element.get(), "async-depth", depth, nullptr);
    pipeline.set_state(GST_STATE_PLAYING);
    pipeline.wait_for(GST_MESSAGE_EOS);
    fail_unless_equals_int(counter.count(), played += 60);
    fail_unless(stat_uint(element.get(), "frames-in-flight-peak") <= depth);
    pipeline.set_state(GST_STATE_READY);
  }
}
GST_END_TEST;

void stop(const TestPipeline& pipeline) {
  expect_to_end("NULL", [&] { gst_element_set_state(pipeline.element.get(), GST_STATE_NULL); });
}

/// An application's source, and caps for it.
std::string app_line(unsigned depth, const std::string& sink) {
  return "appsrc name=source format=time caps=video/x-raw,format=GRAY8,width=16,height=16,"
         "framerate=25/1 ! " +
         stripes_at(depth) + " ! " + sink;
}

void push_frame(GstElement* source, unsigned number) {
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, 256, nullptr);
  gst_buffer_memset(buffer, 0, number, 256);
  GST_BUFFER_PTS(buffer) = number * (GST_SECOND / 25);
  fail_unless_equals_int(gst_app_src_push_buffer(GST_APP_SRC(source), buffer), GST_FLOW_OK);
}

// It pushes one frame and waits for its result before it makes the next.
GST_START_TEST(an_application_that_waits_for_each_result) {
  const TestPipeline pipeline(app_line(__i__, "appsink name=sink sync=false"));
  const Ref<GstElement> source = pipeline.find("source");
  const Ref<GstElement> sink = pipeline.find("sink");
  set_nick(pipeline.find("stripes").get(), "effect", "invert");
  gst_element_set_state(pipeline.element.get(), GST_STATE_PLAYING);
  for (unsigned i = 0; i < 20; ++i) {
    push_frame(source.get(), i);
    GstSample* pulled = nullptr;
    g_signal_emit_by_name(sink.get(), "try-pull-sample", 5 * GST_SECOND, &pulled);
    fail_unless(pulled != nullptr, "no result of frame %u", i);
    const Ref<GstSample> sample(pulled);
    guint8 value = 0;
    gst_buffer_extract(gst_sample_get_buffer(pulled), 0, &value, 1);
    fail_unless_equals_int(value, 255 - i);
  }
}
GST_END_TEST;

GST_START_TEST(stop_while_the_task_waits_for_a_frame) {
  for (const int frames : {0, 1, 5}) {
    const TestPipeline pipeline(app_line(depths[__i__], "fakesink name=sink sync=false"));
    const Ref<GstElement> source = pipeline.find("source");
    const Counter counter(pipeline, "sink", "sink");
    gst_element_set_state(pipeline.element.get(), GST_STATE_PLAYING);
    for (int i = 0; i < frames; ++i) push_frame(source.get(), i);
    wait_until("the frames", [&] { return counter.count() == static_cast<unsigned>(frames); });
    settle();
    stop(pipeline);
  }
}
GST_END_TEST;

// The sink waits for its clock or, in PAUSED, with the preroll; the queue is full behind it.
GST_START_TEST(stop_while_the_task_is_in_a_push) {
  for (const GstState state : {GST_STATE_PLAYING, GST_STATE_PAUSED}) {
    const TestPipeline pipeline(small_source(-1, "1/10") + " ! " + stripes_at(depths[__i__]) +
                                " ! fakesink name=sink sync=true");
    const Counter counter(pipeline, "sink", "sink");
    gst_element_set_state(pipeline.element.get(), state);
    counter.wait_for_first();
    settle();
    stop(pipeline);
    pipeline.expect_no_error();
  }
}
GST_END_TEST;

/// A probe that holds what passes a pad until it is taken away.
struct Block {
  explicit Block(Ref<GstPad> at, GstPadProbeType type = GST_PAD_PROBE_TYPE_BLOCK_DOWNSTREAM)
      : pad(std::move(at)) {
    const auto call = [](GstPad*, GstPadProbeInfo*, gpointer data) {
      *static_cast<std::atomic<bool>*>(data) = true;
      return GST_PAD_PROBE_OK;
    };
    id = gst_pad_add_probe(pad.get(), type, call, &called, nullptr);
  }
  void wait() const {
    wait_until("the block", [this] { return called.load(); });
  }
  void remove() const { gst_pad_remove_probe(pad.get(), id); }

  Ref<GstPad> pad;
  std::atomic<bool> called = false;
  gulong id = 0;
};

GST_START_TEST(stop_while_the_pad_is_blocked) {
  const TestPipeline pipeline(line(depths[__i__], -1, "sync=false"));
  const Counter counter(pipeline, "sink", "sink");
  pipeline.set_state(GST_STATE_PLAYING);
  counter.wait_for(3);
  const Block block(pipeline.pad("stripes", "src"));
  block.wait();
  settle();
  stop(pipeline);
}
GST_END_TEST;

// Downstream's pool is empty and its frames are held: the chain function waits for a buffer.
GST_START_TEST(stop_while_waiting_for_an_output_buffer) {
  for (const unsigned buffers : {1U, 2U}) {
    const Ref<GstBufferPool> pool = make_guarded_pool();
    Downstream downstream = offering(pool.get());
    downstream.max_buffers = buffers;
    Stream stream(depths[__i__]);
    install(stream.rig, downstream);
    gst_harness_push_upstream_event(stream.rig.harness(), gst_event_new_reconfigure());
    std::vector<Ref<GstBuffer>> kept;
    const Ref<GstPad> pad(gst_element_get_static_pad(stream.rig.element(), "src"));
    const auto keep = [](GstPad*, GstPadProbeInfo* info, gpointer data) {
      static_cast<std::vector<Ref<GstBuffer>>*>(data)->emplace_back(
          gst_buffer_ref(GST_PAD_PROBE_INFO_BUFFER(info)));
      return GST_PAD_PROBE_OK;
    };
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, keep, &kept, nullptr);
    std::atomic<int> flow = GST_FLOW_OK;
    std::thread pusher([&] {
      for (unsigned i = 0; flow == GST_FLOW_OK; ++i) flow = stream.push(i);
    });
    stream.outlet.wait_for_frames(buffers);
    settle();
    expect_to_end("READY", [&] { gst_element_set_state(stream.rig.element(), GST_STATE_READY); });
    pusher.join();
    fail_unless_equals_int(flow, GST_FLOW_FLUSHING);
    stream.outlet.expect_frames(0, buffers);
    stream.rig.expect_quiet();
  }
}
GST_END_TEST;

// A pool smaller than the depth limits the frames in flight, no more.
GST_START_TEST(pools_with_a_small_maximum) {
  for (const unsigned buffers : {1U, 2U}) {
    const Ref<GstBufferPool> pool = make_guarded_pool();
    Downstream downstream = offering(pool.get());
    downstream.max_buffers = buffers;
    Stream stream(depths[__i__]);
    install(stream.rig, downstream);
    gst_harness_push_upstream_event(stream.rig.harness(), gst_event_new_reconfigure());
    stream.push_all(0, 100);
    stream.wait_for_all();
    stream.outlet.expect_frames(0, 100);
    fail_unless(stat_uint(stream.rig.element(), "frames-in-flight-peak") <= buffers);
    stream.rig.expect_quiet();
  }
}
GST_END_TEST;

void note_death(gpointer dead, GObject*) { *static_cast<bool*>(dead) = true; }

// The element goes with frames in it, and nothing keeps it or them.
GST_START_TEST(gone_with_frames_in_flight) {
  bool dead = false;
  {
    Stream stream(depths[__i__]);
    stream.outlet.hold();
    stream.push_all(0, depths[__i__]);
    stream.outlet.wait_for_a_held_frame();
    g_object_weak_ref(G_OBJECT(stream.rig.element()), note_death, &dead);
    std::thread later([&] {
      settle();
      stream.outlet.let_go();
    });
    Ref<GstElement> element = stream.rig.release();
    later.join();
    fail_unless(!dead);
  }
  fail_unless(dead);
}
GST_END_TEST;

GST_START_TEST(live_source) {
  const TestPipeline pipeline(
      "videotestsrc is-live=true ! video/x-raw,format=I420,width=64,"
      "height=48,framerate=100/1 ! " +
      stripes_at(depths[__i__]) + " ! fakesink name=sink sync=true");
  const Counter counter(pipeline, "sink", "sink");
  fail_unless_equals_int(gst_element_set_state(pipeline.element.get(), GST_STATE_PAUSED),
                         GST_STATE_CHANGE_NO_PREROLL);
  for (int i = 0; i < 3; ++i) {
    pipeline.set_state(GST_STATE_PLAYING);
    counter.wait_for(5);
    gst_element_set_state(pipeline.element.get(), GST_STATE_PAUSED);
  }
  stop(pipeline);
  pipeline.expect_no_error();
}
GST_END_TEST;

Suite* element_async_states_suite() {
  Suite* suite = suite_create("element-async-states");
  TCase* cases = tcase_create("states");
  tcase_set_timeout(cases, 60);
  suite_add_tcase(suite, cases);
  tcase_add_loop_test(cases, preroll_and_play, 0, depth_count);
  tcase_add_loop_test(cases, restarts, 0, depth_count);
  tcase_add_test(cases, another_depth_with_each_start);
  tcase_add_loop_test(cases, an_application_that_waits_for_each_result, 1, 17);
  tcase_add_loop_test(cases, stop_while_the_task_waits_for_a_frame, 0, depth_count);
  tcase_add_loop_test(cases, stop_while_the_task_is_in_a_push, 0, depth_count);
  tcase_add_loop_test(cases, stop_while_the_pad_is_blocked, 0, depth_count);
  tcase_add_loop_test(cases, stop_while_waiting_for_an_output_buffer, 0, depth_count);
  tcase_add_loop_test(cases, pools_with_a_small_maximum, 0, depth_count);
  tcase_add_loop_test(cases, gone_with_frames_in_flight, first_async, depth_count);
  tcase_add_loop_test(cases, live_source, 0, depth_count);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_async_states)
