// SPDX-License-Identifier: LGPL-2.1-or-later
// Events that meet frames in flight: EOS, caps, reconfiguration, flushes.

#include <atomic>
#include <thread>

#include "gst/downstream.h"
#include "gst/frames.h"
#include "gst/outlet.h"
#include "gst/support.h"

namespace {

using namespace test;

constexpr unsigned depths[] = {1, 2, 3, 16};
constexpr int depth_count = G_N_ELEMENTS(depths);

/// Those at which frames are pushed by a task of the element's.
constexpr int first_async = 1;

GST_START_TEST(eos_comes_last_and_once) {
  Stream stream(depths[__i__]);
  stream.push_all(0, 20);
  fail_unless(stream.push_event(gst_event_new_eos()));
  stream.outlet.wait_for_event(GST_EVENT_EOS);
  fail_unless_equals_int(stream.push(20), GST_FLOW_EOS);
  settle();
  stream.outlet.expect_frames(0, 20);
  fail_unless_equals_int(stream.outlet.arrivals().back().event, GST_EVENT_EOS);
  fail_unless_equals_int(stream.outlet.event_count(GST_EVENT_EOS), 1);
  fail_unless_equals_uint64(stream.counter("frames-in"), 20);
  stream.expect_accounts();
}
GST_END_TEST;

// It must not overtake frames that downstream has not taken yet.
GST_START_TEST(eos_waits_for_held_frames) {
  const unsigned depth = depths[__i__];
  Stream stream(depth);
  stream.outlet.hold();
  stream.push_all(0, depth);
  fail_unless(stream.push_event(gst_event_new_eos()));
  settle();
  fail_unless_equals_int(stream.outlet.event_count(GST_EVENT_EOS), 0);
  stream.outlet.let_go();
  stream.outlet.wait_for_event(GST_EVENT_EOS);
  stream.outlet.expect_frames(0, depth);
  stream.expect_accounts();
}
GST_END_TEST;

GST_START_TEST(a_new_stream_after_eos) {
  Stream stream(depths[__i__]);
  stream.push_all(0, 3);
  fail_unless(stream.push_event(gst_event_new_eos()));
  stream.outlet.wait_for_event(GST_EVENT_EOS);
  fail_unless(stream.push_event(gst_event_new_stream_start("next")));
  fail_unless(stream.push_segment());
  stream.push_all(3, 3);
  fail_unless(stream.push_event(gst_event_new_eos()));
  wait_until("two ends", [&] { return stream.outlet.event_count(GST_EVENT_EOS) == 2; });
  stream.outlet.expect_frames(0, 6);
}
GST_END_TEST;

/// `frames` frames before the new caps and as many after them, in a thread of their own.
std::thread push_across_caps(Stream& stream, unsigned frames, std::atomic<bool>& done) {
  return std::thread([&stream, &done, frames] {
    for (unsigned i = 0; i < frames; ++i) stream.push(i);
    stream.caps = small_caps(48, "25/1");
    stream.push_event(gst_event_new_caps(stream.caps.get()));
    for (unsigned i = frames; i < 2 * frames; ++i) stream.push(i);
    done = true;
  });
}

// All frames of the old caps come out before the new caps do, whole.
GST_START_TEST(caps_change_with_frames_in_flight) {
  const unsigned frames = depths[__i__];
  Stream stream(frames);
  set_effect(stream.rig.element(), Effect::invert);
  stream.wait_for_all();
  stream.outlet.forget();
  stream.outlet.hold();
  std::atomic<bool> done = false;
  std::thread pusher = push_across_caps(stream, frames, done);
  stream.outlet.wait_for_a_held_frame();
  settle();
  fail_unless_equals_int(stream.outlet.event_count(GST_EVENT_CAPS), 0);
  stream.outlet.let_go();
  pusher.join();
  stream.outlet.wait_for_frames(2 * frames);
  stream.outlet.expect_frames(0, 2 * frames);
  unsigned seen = 0;
  for (const Arrival& arrival : stream.outlet.arrivals()) {
    if (arrival.event == GST_EVENT_CAPS) fail_unless_equals_int(seen, frames);
    if (!arrival.is_frame()) continue;
    fail_unless_equals_int(arrival.width, seen++ < frames ? 16 : 48);
    fail_unless_equals_int(arrival.value, 255 - static_cast<int>(arrival.number));
  }
  fail_unless_equals_int(stream.outlet.event_count(GST_EVENT_CAPS), 1);
  stream.expect_accounts();
  stream.rig.expect_quiet();
}
GST_END_TEST;

GST_START_TEST(many_caps_changes) {
  Stream stream(depths[__i__]);
  unsigned number = 0;
  for (unsigned i = 0; i < 30; ++i) {
    stream.caps = small_caps(16 + 16 * (i % 3), "25/1");
    fail_unless(stream.push_event(gst_event_new_caps(stream.caps.get())));
    for (unsigned j = 0; j < i % 4; ++j) stream.push_all(number++, 1);
  }
  stream.wait_for_all();
  stream.outlet.expect_frames(0, number);
  stream.rig.expect_quiet();
}
GST_END_TEST;

// Downstream wants a pool of its own from now on, for what comes after it said so.
GST_START_TEST(reconfigure_with_frames_in_flight) {
  const unsigned depth = depths[__i__];
  const Ref<GstBufferPool> pool = make_guarded_pool();
  Downstream downstream;
  Stream stream(depth);
  install(stream.rig, downstream);
  std::vector<bool> from_pool;
  const Ref<GstPad> pad(gst_element_get_static_pad(stream.rig.element(), "src"));
  const auto look = [](GstPad*, GstPadProbeInfo* info, gpointer data) {
    const bool guarded = guarded_image_of(GST_PAD_PROBE_INFO_BUFFER(info)) != nullptr;
    static_cast<std::vector<bool>*>(data)->push_back(guarded);
    return GST_PAD_PROBE_OK;
  };
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, look, &from_pool, nullptr);
  stream.outlet.hold();
  stream.push_all(0, depth);
  stream.outlet.wait_for_a_held_frame();
  downstream = offering(pool.get());
  gst_harness_push_upstream_event(stream.rig.harness(), gst_event_new_reconfigure());
  std::thread pusher([&] { stream.push(depth); });
  settle();
  fail_unless_equals_int(downstream.queries, 0);
  stream.outlet.let_go();
  pusher.join();
  stream.push_all(depth + 1, 3);
  stream.outlet.wait_for_frames(depth + 4);
  fail_unless_equals_int(downstream.queries, 1);
  stream.outlet.expect_frames(0, depth + 4);
  for (unsigned i = 0; i < depth + 4; ++i) fail_unless(from_pool[i] == (i >= depth), "frame %u", i);
}
GST_END_TEST;

GST_START_TEST(reconfigures_at_any_time) {
  Stream stream(depths[__i__]);
  std::atomic<bool> done = false;
  std::thread asker([&] {
    while (!done) {
      gst_harness_push_upstream_event(stream.rig.harness(), gst_event_new_reconfigure());
      g_usleep(50);
    }
  });
  stream.push_all(0, 1000);
  stream.wait_for_all();
  done = true;
  asker.join();
  stream.outlet.expect_frames(0, 1000);
  stream.expect_accounts();
  stream.rig.expect_quiet();
}
GST_END_TEST;

/// A thread that pushes until it is refused; what it heard last.
struct Flood {
  explicit Flood(Stream& stream)
      : thread([this, &stream] {
          for (unsigned i = 0; flow == GST_FLOW_OK; ++i) flow = stream.push(i);
        }) {}
  std::atomic<int> flow = GST_FLOW_OK;
  std::thread thread;
};

// The chain function waits for space and the task in a push; the flush frees both.
GST_START_TEST(flush_while_both_threads_wait) {
  const unsigned depth = depths[__i__];
  Stream stream(depth);
  for (unsigned round = 0; round < 20; ++round) {
    stream.outlet.hold();
    Flood flood(stream);
    stream.outlet.wait_for_a_held_frame();
    if (round % 2) settle();
    fail_unless(stream.push_event(gst_event_new_flush_start()));
    flood.thread.join();
    fail_unless_equals_int(flood.flow, GST_FLOW_FLUSHING);
    fail_unless_equals_int(stream.push(99), GST_FLOW_FLUSHING);
    fail_unless(stream.push_event(gst_event_new_flush_stop(TRUE)));
    fail_unless(stream.push_segment());
    stream.outlet.let_go();
    stream.outlet.forget();
    // Nothing of before the flush comes any more.
    stream.push_all(100, 5);
    stream.wait_for_all();
    stream.outlet.expect_frames(100, 5);
  }
  stream.expect_accounts();
  stream.rig.expect_quiet();
}
GST_END_TEST;

GST_START_TEST(flush_with_frames_in_flight) {
  const unsigned depth = depths[__i__];
  Stream stream(depth);
  stream.outlet.hold();
  stream.push_all(0, depth);
  fail_unless(stream.push_event(numbered(GST_EVENT_CUSTOM_DOWNSTREAM, 7)));
  stream.outlet.wait_for_a_held_frame();
  stream.flush();
  stream.outlet.let_go();
  stream.push_all(50, 3);
  stream.wait_for_all();
  stream.outlet.expect_frames(50, 3);
  // The event was dropped with the frames; the one that came is wait_for_all's.
  fail_unless_equals_int(stream.outlet.event_count(GST_EVENT_CUSTOM_DOWNSTREAM), 1);
  fail_unless_equals_uint64(stream.counter("frames-in"), depth + 3);
  stream.expect_accounts();
}
GST_END_TEST;

// A frame that waits for downstream's only buffer is freed too, and the pool gives again.
GST_START_TEST(flush_while_waiting_for_an_output_buffer) {
  const Ref<GstBufferPool> pool = make_guarded_pool();
  Downstream downstream = offering(pool.get());
  downstream.max_buffers = 1;
  Stream stream(depths[__i__]);
  install(stream.rig, downstream);
  gst_harness_push_upstream_event(stream.rig.harness(), gst_event_new_reconfigure());
  stream.outlet.hold();
  Flood flood(stream);
  stream.outlet.wait_for_a_held_frame();
  settle();
  fail_unless(stream.push_event(gst_event_new_flush_start()));
  flood.thread.join();
  fail_unless_equals_int(flood.flow, GST_FLOW_FLUSHING);
  fail_unless(stream.push_event(gst_event_new_flush_stop(TRUE)));
  fail_unless(stream.push_segment());
  stream.outlet.let_go();
  stream.outlet.forget();
  for (unsigned i = 0; i < 5; ++i) {
    stream.push_all(i, 1);
    stream.wait_for_all();
  }
  stream.outlet.expect_frames(0, 5);
  stream.rig.expect_quiet();
}
GST_END_TEST;

GST_START_TEST(flushes_without_frames) {
  Stream stream(depths[__i__]);
  for (int i = 0; i < 50; ++i) stream.flush();
  stream.push_event(gst_event_new_flush_stop(TRUE));
  stream.push_event(gst_event_new_flush_start());
  stream.push_event(gst_event_new_flush_start());
  fail_unless(stream.push_event(gst_event_new_flush_stop(TRUE)));
  fail_unless(stream.push_segment());
  stream.push_all(0, 5);
  stream.wait_for_all();
  stream.outlet.expect_frames(0, 5);
}
GST_END_TEST;

// Without a FLUSH_START, as some send it to begin the running time anew.
GST_START_TEST(flush_stop_alone_with_frames_in_flight) {
  const unsigned depth = depths[__i__];
  Stream stream(depth);
  for (unsigned i = 0; i < 60; ++i) {
    stream.push_all(10 * i, 1 + i % depth);
    fail_unless(stream.push_event(gst_event_new_flush_stop(TRUE)));
    fail_unless(stream.push_segment());
  }
  stream.wait_for_all();
  stream.outlet.forget();
  stream.push_all(1000, 100);
  stream.wait_for_all();
  stream.outlet.expect_frames(1000, 100);
  fail_unless(stat_uint(stream.rig.element(), "frames-in-flight-peak") <= depth);
  stream.expect_accounts();
  stream.rig.expect_quiet();
}
GST_END_TEST;

GST_START_TEST(flush_after_eos) {
  Stream stream(depths[__i__]);
  stream.push_all(0, 3);
  fail_unless(stream.push_event(gst_event_new_eos()));
  stream.outlet.wait_for_event(GST_EVENT_EOS);
  stream.flush();
  stream.push_all(3, 3);
  fail_unless(stream.push_event(gst_event_new_eos()));
  wait_until("two ends", [&] { return stream.outlet.event_count(GST_EVENT_EOS) == 2; });
  stream.outlet.expect_frames(0, 6);
}
GST_END_TEST;

// What a pad tells upstream of a CAPS event that a shutdown interrupts: not that caps are refused.
GST_START_TEST(caps_interrupted_by_shutdown) {
  Stream stream(depths[__i__]);
  stream.outlet.hold();
  stream.push_all(0, 2);
  stream.outlet.wait_for_a_held_frame();
  const Ref<GstPad> sink(gst_element_get_static_pad(stream.rig.element(), "sink"));
  std::atomic<int> flow = GST_FLOW_CUSTOM_SUCCESS;
  std::thread pusher([&] {
    const Ref<GstCaps> caps = small_caps(48, "25/1");
    GST_PAD_STREAM_LOCK(sink.get());
    flow = GST_PAD_EVENTFULLFUNC(sink.get())(sink.get(), GST_OBJECT(stream.rig.element()),
                                             gst_event_new_caps(caps.get()));
    GST_PAD_STREAM_UNLOCK(sink.get());
  });
  settle();
  fail_unless_equals_int(flow, GST_FLOW_CUSTOM_SUCCESS);
  // As sinks do, which stop before the elements ahead of them.
  std::thread sink_stops([&] {
    settle();
    stream.outlet.let_go();
  });
  gst_element_set_state(stream.rig.element(), GST_STATE_READY);
  pusher.join();
  sink_stops.join();
  fail_unless_equals_int(flow, GST_FLOW_FLUSHING);
}
GST_END_TEST;

Suite* element_async_events_suite() {
  Suite* suite = suite_create("element-async-events");
  TCase* cases = tcase_create("events");
  tcase_set_timeout(cases, 60);
  suite_add_tcase(suite, cases);
  tcase_add_loop_test(cases, eos_comes_last_and_once, 0, depth_count);
  tcase_add_loop_test(cases, eos_waits_for_held_frames, first_async, depth_count);
  tcase_add_loop_test(cases, a_new_stream_after_eos, 0, depth_count);
  tcase_add_loop_test(cases, caps_change_with_frames_in_flight, 0, depth_count);
  tcase_add_loop_test(cases, many_caps_changes, 0, depth_count);
  tcase_add_loop_test(cases, reconfigure_with_frames_in_flight, first_async, depth_count);
  tcase_add_loop_test(cases, reconfigures_at_any_time, 0, depth_count);
  tcase_add_loop_test(cases, flush_while_both_threads_wait, 0, depth_count);
  tcase_add_loop_test(cases, flush_with_frames_in_flight, first_async, depth_count);
  tcase_add_loop_test(cases, flush_while_waiting_for_an_output_buffer, 0, depth_count);
  tcase_add_loop_test(cases, flushes_without_frames, 0, depth_count);
  tcase_add_loop_test(cases, flush_stop_alone_with_frames_in_flight, 0, depth_count);
  tcase_add_loop_test(cases, flush_after_eos, 0, depth_count);
  tcase_add_loop_test(cases, caps_interrupted_by_shutdown, first_async, depth_count);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_async_events)
