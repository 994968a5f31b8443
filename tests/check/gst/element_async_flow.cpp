// SPDX-License-Identifier: LGPL-2.1-or-later
// What downstream answers while frames are in flight, and what becomes of it.

#include <array>
#include <atomic>
#include <thread>

#include "gst/outlet.h"
#include "gst/support.h"

namespace {

using namespace test;

constexpr GstFlowReturn failures[] = {GST_FLOW_NOT_LINKED, GST_FLOW_FLUSHING, GST_FLOW_EOS,
                                      GST_FLOW_NOT_NEGOTIATED, GST_FLOW_ERROR};
constexpr int failure_count = G_N_ELEMENTS(failures);

/// The first of them; the others end the stream until something begins it anew.
constexpr int fatal_begin = 1;

constexpr std::array depths = {2U, 3U, 16U};

/// Downstream answers `flow` from the `nth` frame on, and upstream has heard of it.
void fail_at(Stream& stream, GstFlowReturn flow, unsigned nth) {
  stream.outlet.answer(flow, nth);
  for (unsigned i = 0; i < nth; ++i) stream.push(i);
  stream.wait_for_all();
  fail_unless_equals_int(stream.push(nth), flow);
}

// With the very next frame after it was answered, if not before.
GST_START_TEST(upstream_hears_of_it) {
  for (const unsigned depth : depths)
    for (unsigned nth = 1; nth <= 5; ++nth) {
      Stream stream(depth);
      fail_at(stream, failures[__i__], nth);
      fail_unless_equals_int(stream.push(nth + 1), failures[__i__]);
      stream.rig.expect_quiet();
    }
}
GST_END_TEST;

// Also those that were in flight already.
GST_START_TEST(frames_are_dropped_and_events_pass) {
  for (const unsigned depth : depths) {
    Stream stream(depth);
    stream.outlet.hold();
    stream.outlet.answer(failures[__i__], 1);
    for (unsigned i = 0; i < depth; ++i) {
      stream.push(i);
      fail_unless(stream.push_event(numbered(GST_EVENT_CUSTOM_DOWNSTREAM, i)));
    }
    stream.outlet.let_go();
    wait_until("the events",
               [&] { return stream.outlet.event_count(GST_EVENT_CUSTOM_DOWNSTREAM) == depth; });
    fail_unless_equals_int(stream.push(depth), failures[__i__]);
    stream.wait_for_all();
    stream.outlet.expect_frames(0, 1);
    stream.expect_accounts();
    fail_unless(stream.push_event(gst_event_new_eos()));
    stream.outlet.wait_for_event(GST_EVENT_EOS);
    stream.rig.expect_quiet();
  }
}
GST_END_TEST;

// A full queue does not hold who is to hear of it.
GST_START_TEST(a_waiting_upstream_hears_of_it) {
  Stream stream(3);
  stream.outlet.hold();
  stream.outlet.answer(failures[__i__], 1);
  std::atomic<int> heard = GST_FLOW_OK;
  std::thread pusher([&] {
    for (unsigned i = 0; i < 100 && heard == GST_FLOW_OK; ++i) heard = stream.push(i);
  });
  wait_until("a full queue",
             [&] { return stat_uint(stream.rig.element(), "frames-in-flight") == 3; });
  settle();
  stream.outlet.let_go();
  pusher.join();
  fail_unless_equals_int(heard, failures[__i__]);
}
GST_END_TEST;

// Frames go on being offered to a pad that is linked again.
GST_START_TEST(not_linked_heals) {
  for (const unsigned depth : depths) {
    Stream stream(depth);
    GstPad* sink = stream.rig.harness()->sinkpad;
    const Ref<GstPad> source(gst_pad_get_peer(sink));
    stream.push_all(0, 3);
    stream.wait_for_all();
    fail_unless(gst_pad_unlink(source.get(), sink));
    unsigned number = 3;
    wait_until("NOT_LINKED", [&] { return stream.push(number++) == GST_FLOW_NOT_LINKED; });
    // All that were pushed on are gone, none is left that would come later.
    fail_unless(stream.push_event(numbered(GST_EVENT_TAG, 1)));
    wait_until("the queue to be empty", [&] {
      return stream.counter("frames-out") + stream.counter("frames-dropped") == number;
    });
    settle();
    fail_unless_equals_int(gst_pad_link(source.get(), sink), GST_PAD_LINK_OK);
    stream.outlet.expect_frames(0, 3);
    stream.outlet.forget();
    const unsigned begin = number;
    wait_until("OK again", [&] { return stream.push(number++) == GST_FLOW_OK; });
    stream.push_all(number, 5);
    stream.wait_for_all();
    stream.outlet.expect_frames(begin, number + 5 - begin);
    stream.rig.expect_quiet();
  }
}
GST_END_TEST;

/// Frames pass again, all of them.
void expect_well(Stream& stream, unsigned begin) {
  stream.outlet.forget();
  stream.push_all(begin, 10);
  stream.wait_for_all();
  stream.outlet.expect_frames(begin, 10);
  stream.rig.expect_quiet();
}

GST_START_TEST(a_segment_or_stream_ends_eos) {
  for (const unsigned depth : depths)
    for (const bool with_stream : {false, true}) {
      Stream stream(depth);
      fail_at(stream, GST_FLOW_EOS, 2);
      stream.outlet.answer(GST_FLOW_OK);
      if (with_stream) fail_unless(stream.push_event(gst_event_new_stream_start("another")));
      if (!with_stream) fail_unless(stream.push_segment());
      expect_well(stream, 10);
    }
}
GST_END_TEST;

// Frames of the old segment that come after the answer must not bring it back.
GST_START_TEST(eos_of_the_old_segment_does_not_end_the_new_one) {
  for (const unsigned depth : depths) {
    Stream stream(depth);
    stream.outlet.hold();
    stream.outlet.answer(GST_FLOW_EOS, 1);
    stream.push_all(0, 2);
    stream.outlet.wait_for_a_held_frame();
    fail_unless(stream.push_segment());
    stream.outlet.let_go();
    stream.wait_for_all();
    stream.outlet.answer(GST_FLOW_OK);
    expect_well(stream, 100);
  }
}
GST_END_TEST;

GST_START_TEST(nothing_but_eos_ends_with_a_segment) {
  Stream stream(3);
  fail_at(stream, failures[__i__], 2);
  stream.outlet.answer(GST_FLOW_OK);
  fail_unless(stream.push_segment());
  stream.wait_for_all();
  fail_unless_equals_int(stream.push(9), failures[__i__]);
  fail_unless_equals_int(stream.outlet.frame_count(), 2);
}
GST_END_TEST;

GST_START_TEST(a_flush_ends_all) {
  for (const unsigned depth : depths) {
    Stream stream(depth);
    fail_at(stream, failures[__i__], 2);
    stream.outlet.answer(GST_FLOW_OK);
    stream.flush();
    expect_well(stream, 10);
  }
}
GST_END_TEST;

GST_START_TEST(a_new_start_ends_all) {
  Ref<GstElement> element;
  {
    Stream stream(3);
    fail_at(stream, failures[__i__], 2);
    element = stream.rig.release();
  }
  Rig rig(std::move(element));
  const Ref<GstCaps> caps = make_caps("GRAY8", 16, 16);
  rig.set_caps(caps.get());
  for (int i = 0; i < 5; ++i)
    rig.process(Ref<GstBuffer>(gst_buffer_new_allocate(nullptr, 256, nullptr)));
  rig.expect_quiet();
}
GST_END_TEST;

/// Three frames and EOS are in, downstream answers `flow` to all; what the bus hears.
std::vector<Report> fail_after_eos(Stream& stream, GstFlowReturn flow) {
  stream.outlet.hold();
  stream.outlet.answer(flow, 1);
  stream.push_all(0, 3);
  fail_unless(stream.push_event(gst_event_new_eos()));
  stream.outlet.let_go();
  stream.outlet.wait_for_event(GST_EVENT_EOS);
  settle();
  fail_unless_equals_int(stream.outlet.event_count(GST_EVENT_EOS), 1);
  return take_reports(stream.rig.bus(), GST_MESSAGE_ERROR);
}

// Upstream is gone: nobody else would hear of it.
GST_START_TEST(a_failure_after_eos_is_one_error) {
  for (const GstFlowReturn flow : {GST_FLOW_NOT_NEGOTIATED, GST_FLOW_ERROR, GST_FLOW_NOT_LINKED}) {
    Stream stream(3);
    const std::vector<Report> errors = fail_after_eos(stream, flow);
    fail_unless(errors.size() == 1, "%s: %zu errors", gst_flow_get_name(flow), errors.size());
    fail_unless(errors[0].domain == GST_STREAM_ERROR && errors[0].code == GST_STREAM_ERROR_FAILED);
  }
}
GST_END_TEST;

GST_START_TEST(an_end_after_eos_is_no_error) {
  for (const GstFlowReturn flow : {GST_FLOW_OK, GST_FLOW_EOS, GST_FLOW_FLUSHING}) {
    Stream stream(3);
    fail_unless(fail_after_eos(stream, flow).empty(), "%s", gst_flow_get_name(flow));
  }
}
GST_END_TEST;

/// Downstream's QoS: frames up to `number` come too late.
void say_late(Stream& stream, unsigned number) {
  const GstClockTime time = number * (GST_SECOND / 25);
  gst_harness_push_upstream_event(
      stream.rig.harness(),
      gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1.0, static_cast<GstClockTimeDiff>(0), time));
}

GST_START_TEST(late_frames_are_dropped_and_counted) {
  const unsigned depth = __i__;
  Stream stream(depth);
  stream.push_all(0, 2);
  stream.wait_for_all();
  say_late(stream, 6);
  stream.push_all(2, 10);
  stream.wait_for_all();
  unsigned late = 0;
  for (const Arrival& arrival : stream.outlet.arrivals()) {
    if (!arrival.is_frame() || arrival.number < 2) continue;
    if (!late) late = arrival.number - 2;
    // The first one after the gap alone.
    const bool discont = arrival.flags & GST_BUFFER_FLAG_DISCONT;
    fail_unless(discont == (arrival.number == late + 2), "frame %u", arrival.number);
  }
  fail_unless(late >= 4 && late <= 5, "%u dropped", late);
  fail_unless_equals_int(stream.outlet.frame_count(), 12 - late);
  fail_unless_equals_uint64(stream.counter("frames-dropped"), late);
  fail_unless_equals_uint64(stream.counter("frames-out"), 12 - late);
}
GST_END_TEST;

Suite* element_async_flow_suite() {
  Suite* suite = suite_create("element-async-flow");
  TCase* cases = tcase_create("flow");
  tcase_set_timeout(cases, 60);
  suite_add_tcase(suite, cases);
  tcase_add_loop_test(cases, upstream_hears_of_it, 0, failure_count);
  tcase_add_loop_test(cases, frames_are_dropped_and_events_pass, fatal_begin, failure_count);
  tcase_add_loop_test(cases, a_waiting_upstream_hears_of_it, 0, failure_count);
  tcase_add_test(cases, not_linked_heals);
  tcase_add_test(cases, a_segment_or_stream_ends_eos);
  tcase_add_test(cases, eos_of_the_old_segment_does_not_end_the_new_one);
  // FLUSHING too, but not EOS.
  tcase_add_loop_test(cases, nothing_but_eos_ends_with_a_segment, 3, failure_count);
  tcase_add_loop_test(cases, a_flush_ends_all, 0, failure_count);
  tcase_add_loop_test(cases, a_new_start_ends_all, 0, failure_count);
  tcase_add_test(cases, a_failure_after_eos_is_one_error);
  tcase_add_test(cases, an_end_after_eos_is_no_error);
  tcase_add_loop_test(cases, late_frames_are_dropped_and_counted, 1, 5);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_async_flow)
