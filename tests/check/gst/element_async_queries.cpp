// SPDX-License-Identifier: LGPL-2.1-or-later
// Queries and frames in flight: position, duration, latency, scheduling, drain, allocation.

#include <atomic>
#include <thread>

#include "gst/downstream.h"
#include "gst/outlet.h"
#include "gst/support.h"

namespace {

using namespace test;

constexpr unsigned depths[] = {1, 2, 3, 16};
constexpr int depth_count = G_N_ELEMENTS(depths);
constexpr int first_async = 1;
constexpr GstClockTime frame_duration = GST_SECOND / 25;

/// What the pad before the element answers.
struct Upstream {
  gboolean live = TRUE;
  GstClockTime shortest = 3 * GST_MSECOND;
  GstClockTime longest = 700 * GST_MSECOND;
};

Upstream upstream;

gboolean answer_upstream(GstPad* pad, GstObject* parent, GstQuery* query) {
  switch (GST_QUERY_TYPE(query)) {
    case GST_QUERY_LATENCY:
      gst_query_set_latency(query, upstream.live, upstream.shortest, upstream.longest);
      return TRUE;
    case GST_QUERY_SCHEDULING:
      gst_query_set_scheduling(query, GST_SCHEDULING_FLAG_SEEKABLE, 1, -1, 0);
      gst_query_add_scheduling_mode(query, GST_PAD_MODE_PUSH);
      gst_query_add_scheduling_mode(query, GST_PAD_MODE_PULL);
      return TRUE;
    case GST_QUERY_DURATION:
      gst_query_set_duration(query, GST_FORMAT_TIME, 1234567);
      return TRUE;
    default:
      return gst_pad_query_default(pad, parent, query);
  }
}

/// Asks the element as downstream does.
bool ask(Stream& stream, GstQuery* query) {
  gst_pad_set_query_function(stream.rig.harness()->srcpad, answer_upstream);
  return gst_pad_peer_query(stream.rig.harness()->sinkpad, query);
}

void expect_latency(Stream& stream, GstClockTime shortest, GstClockTime longest) {
  const Ref<GstQuery> query(gst_query_new_latency());
  fail_unless(ask(stream, query.get()));
  gboolean live = FALSE;
  GstClockTime got_shortest = 1;
  GstClockTime got_longest = 1;
  gst_query_parse_latency(query.get(), &live, &got_shortest, &got_longest);
  fail_unless_equals_int(live, upstream.live);
  fail_unless_equals_uint64(got_shortest, shortest);
  fail_unless_equals_uint64(got_longest, longest);
}

GST_START_TEST(latency) {
  const unsigned depth = depths[__i__];
  const GstClockTime own = depth == 1 ? 0 : depth * frame_duration;
  Stream stream(depth);
  for (const gboolean live : {gboolean{TRUE}, gboolean{FALSE}}) {
    upstream = {live, 3 * GST_MSECOND, 700 * GST_MSECOND};
    expect_latency(stream, upstream.shortest, upstream.longest + own);
    upstream.longest = GST_CLOCK_TIME_NONE;
    expect_latency(stream, upstream.shortest, GST_CLOCK_TIME_NONE);
  }
}
GST_END_TEST;

GST_START_TEST(latency_where_the_framerate_is_unknown) {
  Stream stream(depths[__i__], "0/1");
  upstream = {};
  expect_latency(stream, upstream.shortest, upstream.longest);
}
GST_END_TEST;

unsigned take_latency_messages(Stream& stream) {
  unsigned count = 0;
  while (Ref<GstMessage> message{gst_bus_pop(stream.rig.bus())})
    count += GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_LATENCY;
  return count;
}

void change_caps(Stream& stream, int width, const char* framerate) {
  const Ref<GstCaps> caps = small_caps(width, framerate);
  fail_unless(stream.push_event(gst_event_new_caps(caps.get())));
  stream.wait_for_all();
}

// Said when it changes, so that the pipeline asks again; and the answer is the new one.
GST_START_TEST(latency_messages) {
  const unsigned depth = depths[__i__];
  const unsigned said = depth == 1 ? 0 : 1;
  Stream stream(depth);
  upstream = {};
  fail_unless_equals_int(take_latency_messages(stream), said);
  change_caps(stream, 32, "25/1");
  fail_unless_equals_int(take_latency_messages(stream), 0);
  change_caps(stream, 32, "50/1");
  fail_unless_equals_int(take_latency_messages(stream), said);
  expect_latency(stream, upstream.shortest,
                 upstream.longest + (depth == 1 ? 0 : depth * GST_SECOND / 50));
  change_caps(stream, 32, "0/1");
  fail_unless_equals_int(take_latency_messages(stream), said);
  expect_latency(stream, upstream.shortest, upstream.longest);
}
GST_END_TEST;

// Upstream could be pulled from; the element can't.
GST_START_TEST(scheduling) {
  Stream stream(depths[__i__]);
  const Ref<GstQuery> query(gst_query_new_scheduling());
  fail_unless(ask(stream, query.get()));
  fail_unless(gst_query_has_scheduling_mode(query.get(), GST_PAD_MODE_PUSH));
  fail_unless(!gst_query_has_scheduling_mode(query.get(), GST_PAD_MODE_PULL));
  fail_unless_equals_int(gst_query_get_n_scheduling_modes(query.get()), 1);
  const Ref<GstPad> pad(gst_element_get_static_pad(stream.rig.element(), "src"));
  fail_unless(!gst_pad_activate_mode(pad.get(), GST_PAD_MODE_PULL, TRUE));
}
GST_END_TEST;

GST_START_TEST(duration_is_that_of_upstream) {
  Stream stream(depths[__i__]);
  stream.push_all(0, 3);
  const Ref<GstQuery> query(gst_query_new_duration(GST_FORMAT_TIME));
  fail_unless(ask(stream, query.get()));
  gint64 duration = 0;
  gst_query_parse_duration(query.get(), nullptr, &duration);
  fail_unless_equals_int64(duration, 1234567);
}
GST_END_TEST;

/// A segment that begins at `start` and ends at `stop`, which is `time` of the stream.
void push_segment(Stream& stream, GstClockTime start, GstClockTime stop, GstClockTime time) {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = segment.position = start;
  segment.stop = stop;
  segment.time = time;
  fail_unless(stream.push_event(gst_event_new_segment(&segment)));
}

/// Fails unless the position is within the frame that starts at `start`, in stream time.
void expect_position(Stream& stream, GstClockTime start) {
  const Ref<GstQuery> query(gst_query_new_position(GST_FORMAT_TIME));
  fail_unless(ask(stream, query.get()));
  gint64 position = 0;
  gst_query_parse_position(query.get(), nullptr, &position);
  const auto begin = static_cast<gint64>(start);
  fail_unless(position >= begin && position <= begin + static_cast<gint64>(frame_duration),
              "%" GST_TIME_FORMAT " instead of %" GST_TIME_FORMAT, GST_TIME_ARGS(position),
              GST_TIME_ARGS(begin));
}

// That of the frame that was pushed last, not of those that came in.
GST_START_TEST(position_while_frames_are_in_flight) {
  const unsigned depth = depths[__i__];
  Stream stream(depth);
  const GstClockTime time = 100 * GST_SECOND;
  push_segment(stream, 25 * frame_duration, GST_CLOCK_TIME_NONE, time);
  for (unsigned i = 25; i < 30; ++i) {
    stream.push_all(i, 1);
    stream.wait_for_all();
    expect_position(stream, time + (i - 25) * frame_duration);
  }
  if (depth == 1) return;
  stream.outlet.hold();
  for (unsigned i = 30; i < 30 + depth; ++i) stream.push(i);
  stream.outlet.wait_for_a_held_frame();
  expect_position(stream, time + 5 * frame_duration);
  stream.outlet.let_go();
  stream.wait_for_all();
  expect_position(stream, time + (4 + depth) * frame_duration);
}
GST_END_TEST;

GST_START_TEST(position_after_a_flush) {
  Stream stream(depths[__i__]);
  stream.push_all(0, 10);
  stream.wait_for_all();
  fail_unless(stream.push_event(gst_event_new_flush_start()));
  fail_unless(stream.push_event(gst_event_new_flush_stop(TRUE)));
  push_segment(stream, 50 * frame_duration, GST_CLOCK_TIME_NONE, 50 * frame_duration);
  stream.push_all(50, 2);
  stream.wait_for_all();
  expect_position(stream, 51 * frame_duration);
}
GST_END_TEST;

// The segment ends within the last frame. (At depth 1 the base answers, which knows no position then.)
GST_START_TEST(position_at_the_end_of_a_segment) {
  Stream stream(depths[__i__]);
  push_segment(stream, 0, 4 * frame_duration + frame_duration / 2, 0);
  stream.push_all(0, 5);
  stream.wait_for_all();
  expect_position(stream, 4 * frame_duration);
}
GST_END_TEST;

/// Asks as upstream does, from a thread of its own, and says when it has got its answer.
struct Asker {
  Asker(Stream& stream, GstQuery* query)
      : thread([this, &stream, query] {
          gst_pad_peer_query(stream.rig.harness()->srcpad, query);
          frames_before = stream.outlet.frame_count();
          answered = true;
        }) {}
  std::atomic<bool> answered = false;
  std::atomic<unsigned> frames_before = 0;
  std::thread thread;
};

GST_START_TEST(drain_returns_when_all_is_out) {
  const unsigned depth = depths[__i__];
  Stream stream(depth);
  stream.outlet.hold();
  stream.push_all(0, depth);
  stream.outlet.wait_for_a_held_frame();
  const Ref<GstQuery> query(gst_query_new_drain());
  Asker asker(stream, query.get());
  settle();
  fail_unless(!asker.answered);
  stream.outlet.let_go();
  asker.thread.join();
  fail_unless_equals_int(asker.frames_before, depth);
  stream.push_all(depth, 3);
  stream.wait_for_all();
  stream.outlet.expect_frames(0, depth + 3);
}
GST_END_TEST;

GST_START_TEST(drain_is_freed_by_a_flush) {
  Stream stream(depths[__i__]);
  stream.outlet.hold();
  stream.push_all(0, 2);
  stream.outlet.wait_for_a_held_frame();
  const Ref<GstQuery> query(gst_query_new_drain());
  Asker asker(stream, query.get());
  settle();
  fail_unless(!asker.answered);
  fail_unless(stream.push_event(gst_event_new_flush_start()));
  asker.thread.join();
  fail_unless_equals_int(asker.frames_before, 0);
}
GST_END_TEST;

// A decoder asks for each frame; downstream may hold the frames that it would be waited for.
GST_START_TEST(allocation_waits_for_nothing) {
  const unsigned depth = depths[__i__];
  Stream stream(depth);
  stream.outlet.hold();
  stream.push_all(0, depth);
  stream.outlet.wait_for_a_held_frame();
  for (int i = 0; i < 5; ++i) {
    const Ref<GstQuery> query(gst_query_new_allocation(stream.caps.get(), TRUE));
    Asker asker(stream, query.get());
    wait_until("the answer", [&] { return asker.answered.load(); });
    asker.thread.join();
    fail_unless(gst_query_get_n_allocation_pools(query.get()) == 1);
  }
  stream.outlet.let_go();
  stream.wait_for_all();
  stream.outlet.expect_frames(0, depth);
}
GST_END_TEST;

// The pool that is offered has enough for those in flight and what upstream fills meanwhile.
GST_START_TEST(the_offered_pool_is_deep_enough) {
  const unsigned depth = __i__;
  Stream stream(depth);
  const Ref<GstQuery> query(gst_query_new_allocation(stream.caps.get(), TRUE));
  fail_unless(gst_pad_peer_query(stream.rig.harness()->srcpad, query.get()));
  guint minimum = 0;
  guint maximum = 0;
  gst_query_parse_nth_allocation_pool(query.get(), 0, nullptr, nullptr, &minimum, &maximum);
  fail_unless(minimum >= depth + 2, "%u buffers", minimum);
  fail_unless(maximum == 0 || maximum >= minimum);
}
GST_END_TEST;

// Downstream's answer may be another one: that much waits.
GST_START_TEST(allocation_with_a_reconfiguration_waits) {
  const unsigned depth = depths[__i__];
  Stream stream(depth);
  stream.outlet.hold();
  stream.push_all(0, depth);
  stream.outlet.wait_for_a_held_frame();
  gst_harness_push_upstream_event(stream.rig.harness(), gst_event_new_reconfigure());
  const Ref<GstQuery> query(gst_query_new_allocation(stream.caps.get(), TRUE));
  Asker asker(stream, query.get());
  settle();
  fail_unless(!asker.answered);
  stream.outlet.let_go();
  asker.thread.join();
  fail_unless_equals_int(asker.frames_before, depth);
}
GST_END_TEST;

Suite* element_async_queries_suite() {
  Suite* suite = suite_create("element-async-queries");
  TCase* cases = tcase_create("queries");
  tcase_set_timeout(cases, 60);
  suite_add_tcase(suite, cases);
  tcase_add_loop_test(cases, latency, 0, depth_count);
  tcase_add_loop_test(cases, latency_where_the_framerate_is_unknown, 0, depth_count);
  tcase_add_loop_test(cases, latency_messages, 0, depth_count);
  tcase_add_loop_test(cases, scheduling, 0, depth_count);
  tcase_add_loop_test(cases, duration_is_that_of_upstream, 0, depth_count);
  tcase_add_loop_test(cases, position_while_frames_are_in_flight, 0, depth_count);
  tcase_add_loop_test(cases, position_after_a_flush, 0, depth_count);
  tcase_add_loop_test(cases, position_at_the_end_of_a_segment, first_async, depth_count);
  tcase_add_loop_test(cases, drain_returns_when_all_is_out, first_async, depth_count);
  tcase_add_loop_test(cases, drain_is_freed_by_a_flush, first_async, depth_count);
  tcase_add_loop_test(cases, allocation_waits_for_nothing, first_async, depth_count);
  tcase_add_loop_test(cases, the_offered_pool_is_deep_enough, 1, 17);
  tcase_add_loop_test(cases, allocation_with_a_reconfiguration_waits, first_async, depth_count);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_async_queries)
