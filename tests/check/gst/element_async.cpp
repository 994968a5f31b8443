// SPDX-License-Identifier: LGPL-2.1-or-later
// Several frames in flight: how many, in which order, and that none waits for the next.

#include <array>
#include <atomic>
#include <string>
#include <thread>

#include "gst/frames.h"
#include "gst/outlet.h"
#include "gst/support.h"

namespace {

using namespace test;

constexpr unsigned depths[] = {1, 2, 3, 5, 16};

// Nothing comes after the frame, not even an event.
GST_START_TEST(one_in_and_its_result_out) {
  const unsigned depth = __i__;
  Stream stream(depth);
  for (unsigned i = 0; i < 5; ++i) {
    stream.push_all(i, 1);
    stream.outlet.wait_for_frames(i + 1);
  }
  stream.outlet.expect_frames(0, 5);
  stream.rig.expect_quiet();
}
GST_END_TEST;

/// Frames 0 to `count` - 1, each after a serialized event of the same number.
void push_with_events(Stream& stream, unsigned count) {
  static constexpr std::array types = {GST_EVENT_TAG, GST_EVENT_GAP, GST_EVENT_CUSTOM_DOWNSTREAM,
                                       GST_EVENT_SEGMENT, GST_EVENT_CUSTOM_BOTH};
  for (unsigned i = 0; i < count; ++i) {
    fail_unless(stream.push_event(numbered(types[i % types.size()], i)));
    stream.push_all(i, 1);
  }
}

GST_START_TEST(order_of_frames_and_events) {
  const unsigned count = 500;
  Stream stream(depths[__i__]);
  stream.wait_for_all();
  stream.outlet.forget();
  push_with_events(stream, count);
  stream.outlet.wait_for_frames(count);
  const std::vector<Arrival> all = stream.outlet.arrivals();
  fail_unless_equals_int(all.size(), 2 * count);
  for (unsigned i = 0; i < all.size(); ++i) {
    fail_unless(all[i].is_frame() == (i % 2 == 1), "arrival %u is a %s", i,
                gst_event_type_get_name(all[i].event));
    fail_unless_equals_int(all[i].number, i / 2);
    if (all[i].is_frame()) fail_unless_equals_int(all[i].value, i / 2 % 251);
  }
}
GST_END_TEST;

/// Pushes frames from a thread of its own, which may be held.
class Pusher {
 public:
  Pusher(Stream& stream, unsigned first, unsigned count)
      : thread_([this, &stream, first, count] {
          for (unsigned i = first; i < first + count; ++i)
            if (stream.push(i) != GST_FLOW_OK) ++refused_;
        }) {}
  Pusher(const Pusher&) = delete;
  ~Pusher() { thread_.join(); }

  unsigned refused() const { return refused_; }

 private:
  std::atomic<unsigned> refused_ = 0;
  std::thread thread_;
};

// One is held downstream, finished; `depth` others are in flight, and the next one must wait.
GST_START_TEST(no_more_in_flight_than_the_depth) {
  const unsigned depth = depths[__i__];
  const unsigned behind = depth == 1 ? 0 : depth;
  Stream stream(depth);
  stream.outlet.hold();
  Pusher pusher(stream, 0, 40);
  stream.outlet.wait_for_a_held_frame();
  const auto in_flight = [&] { return stat_uint(stream.rig.element(), "frames-in-flight"); };
  wait_until("frames in flight", [&] { return in_flight() == behind; });
  settle();
  fail_unless_equals_int(in_flight(), behind);
  stream.outlet.let_go();
  stream.outlet.wait_for_frames(40);
  fail_unless_equals_int(stat_uint(stream.rig.element(), "frames-in-flight"), 0);
  fail_unless_equals_int(stat_uint(stream.rig.element(), "frames-in-flight-peak"), depth);
  stream.outlet.expect_frames(0, 40);
  fail_unless_equals_int(pusher.refused(), 0);
}
GST_END_TEST;

// An upper bound, not a queue to be filled: with a fast device and sink, it holds nothing back.
GST_START_TEST(never_more_than_the_depth_at_full_speed) {
  const unsigned depth = depths[__i__];
  Stream stream(depth);
  stream.push_all(0, 300);
  stream.outlet.wait_for_frames(300);
  const unsigned peak = stat_uint(stream.rig.element(), "frames-in-flight-peak");
  fail_unless(peak >= 1 && peak <= depth, "%u in flight", peak);
}
GST_END_TEST;

/// Frame `i` of those with everything on it: a time, a flag, a meta.
Ref<GstBuffer> decorated(const Stream& stream, unsigned i) {
  Ref<GstBuffer> buffer = stream.frame(i);
  GST_BUFFER_DTS(buffer.get()) = i * 7;
  GST_BUFFER_OFFSET_END(buffer.get()) = i * 11;
  if (i % 3 == 0) GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_CORRUPTED);
  if (i % 4 == 0) GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_DISCONT);
  if (i % 5 != 0)
    gst_buffer_add_video_region_of_interest_meta(buffer.get(), "test", i, i + 1, 2, 3);
  return buffer;
}

void expect_decorated(GstBuffer* buffer, unsigned i) {
  fail_unless_equals_uint64(GST_BUFFER_OFFSET(buffer), i);
  fail_unless_equals_uint64(GST_BUFFER_PTS(buffer), i * (GST_SECOND / 25));
  fail_unless_equals_uint64(GST_BUFFER_DURATION(buffer), GST_SECOND / 25);
  fail_unless_equals_uint64(GST_BUFFER_DTS(buffer), i * 7);
  fail_unless_equals_uint64(GST_BUFFER_OFFSET_END(buffer), i * 11);
  fail_unless(!!GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_CORRUPTED) == (i % 3 == 0));
  fail_unless(!!GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT) == (i % 4 == 0),
              "DISCONT of frame %u", i);
  const auto* meta = reinterpret_cast<GstVideoRegionOfInterestMeta*>(
      gst_buffer_get_meta(buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE));
  fail_unless((meta != nullptr) == (i % 5 != 0));
  if (meta) fail_unless(meta->x == i && meta->y == i + 1);
}

/// Keeps what leaves the rig until it is taken, and so keeps the others in flight.
GST_START_TEST(times_flags_and_metas_stay_with_their_frame) {
  Stream stream(depths[__i__]);
  std::vector<Ref<GstBuffer>> kept;
  const Ref<GstPad> pad(gst_element_get_static_pad(stream.rig.element(), "src"));
  const auto keep = [](GstPad*, GstPadProbeInfo* info, gpointer data) {
    auto* buffers = static_cast<std::vector<Ref<GstBuffer>>*>(data);
    buffers->emplace_back(gst_buffer_ref(GST_PAD_PROBE_INFO_BUFFER(info)));
    return GST_PAD_PROBE_OK;
  };
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, keep, &kept, nullptr);
  for (unsigned i = 0; i < 30; ++i)
    fail_unless_equals_int(stream.rig.push(decorated(stream, i)), GST_FLOW_OK);
  stream.outlet.wait_for_frames(30);
  fail_unless_equals_int(kept.size(), 30);
  for (unsigned i = 0; i < 30; ++i) expect_decorated(kept[i].get(), i);
}
GST_END_TEST;

// The effect of a frame is that of the time when it was submitted.
GST_START_TEST(properties_change_between_frames) {
  const unsigned depth = __i__;
  Stream stream(depth);
  stream.outlet.hold();
  for (unsigned i = 0; i <= depth; ++i) {
    set_effect(stream.rig.element(), i % 2 ? Effect::invert : Effect::none);
    g_object_set(stream.rig.element(), "stripe-count", i % 5, nullptr);
    set_nick(stream.rig.element(), "stripe-layout", std::array{"rows", "columns", "tiles"}[i % 3]);
    stream.push_all(i, 1);
    if (i == 0) stream.outlet.wait_for_a_held_frame();
  }
  stream.outlet.let_go();
  stream.outlet.wait_for_frames(depth + 1);
  for (const Arrival& arrival : stream.outlet.arrivals())
    if (arrival.is_frame()) {
      const int sample = static_cast<int>(arrival.number);
      fail_unless_equals_int(arrival.value, arrival.number % 2 ? 255 - sample : sample);
    }
}
GST_END_TEST;

/// Pixels of every format, while others are in flight.
GST_START_TEST(pixels_with_frames_in_flight) {
  const Ref<GstCaps> caps = make_caps(formats[__i__].name, 65, 63);
  Random random(130 + __i__);
  for (const unsigned depth : {2U, 3U, 16U}) {
    Rig rig(depth);
    set_effect(rig.element(), Effect::invert);
    rig.set_caps(caps.get());
    std::vector<Frame> inputs;
    for (int i = 0; i < 20; ++i) {
      inputs.push_back(make_frame(caps.get(), random_geometry(random, false), random));
      fail_unless_equals_int(rig.push(inputs.back().share()), GST_FLOW_OK);
    }
    for (const Frame& input : inputs) {
      const Ref<GstBuffer> output = rig.pull();
      fail_unless_empty(mistake(output.get(), caps.get(), input.image->view(), Effect::invert));
      fail_unless_empty(input.damage());
    }
    rig.expect_quiet();
  }
}
GST_END_TEST;

// The first frames come out, and the lying one is one error.
GST_START_TEST(a_lying_frame_behind_others) {
  const unsigned depth = __i__;
  Stream stream(depth);
  stream.outlet.hold();
  stream.push_all(0, depth);
  const GstFlowReturn flow =
      stream.rig.push(Ref<GstBuffer>(gst_buffer_new_allocate(nullptr, 10, nullptr)));
  fail_unless_equals_int(flow, GST_FLOW_ERROR);
  stream.outlet.let_go();
  fail_unless(stream.push_event(gst_event_new_eos()));
  stream.outlet.wait_for_event(GST_EVENT_EOS);
  stream.outlet.expect_frames(0, depth);
  expect_one_error(stream.rig.bus(), GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT);
}
GST_END_TEST;

Suite* element_async_suite() {
  Suite* suite = suite_create("element-async");
  TCase* cases = tcase_create("async");
  tcase_set_timeout(cases, 60);
  suite_add_tcase(suite, cases);
  const int depth_count = G_N_ELEMENTS(depths);
  tcase_add_loop_test(cases, one_in_and_its_result_out, 1, 17);
  tcase_add_loop_test(cases, order_of_frames_and_events, 0, depth_count);
  tcase_add_loop_test(cases, no_more_in_flight_than_the_depth, 0, depth_count);
  tcase_add_loop_test(cases, never_more_than_the_depth_at_full_speed, 0, depth_count);
  tcase_add_loop_test(cases, times_flags_and_metas_stay_with_their_frame, 0, depth_count);
  tcase_add_loop_test(cases, properties_change_between_frames, 2, 17);
  tcase_add_loop_test(cases, pixels_with_frames_in_flight, 0, format_count);
  tcase_add_loop_test(cases, a_lying_frame_behind_others, 2, 5);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_async)
