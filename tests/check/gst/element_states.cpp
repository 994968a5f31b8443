// SPDX-License-Identifier: LGPL-2.1-or-later
// State changes, flushes, EOS and errors, with and without data flowing.

#include <atomic>
#include <string>
#include <thread>

#include "gst/downstream.h"
#include "gst/frames.h"
#include "gst/outlet.h"
#include "gst/support.h"

namespace {

using namespace test;

/// One frame through a fresh harness around the element, pixels checked; the element comes back in
/// NULL.
Ref<GstElement> one_life(Ref<GstElement> element, int life) {
  const Format& format = formats[life % format_count];
  const Ref<GstCaps> caps = make_caps(format.name, 33 + life % 3, 31);
  Random random(110 + life);
  Rig rig(std::move(element));
  set_effect(rig.element(), Effect::invert);
  rig.set_caps(caps.get());
  const Frame input = make_plain_frame(caps.get(), random);
  const Ref<GstBuffer> output = rig.process(input.share());
  fail_unless_empty(mistake(output.get(), caps.get(), input.image->view(), Effect::invert));
  rig.expect_quiet();
  return rig.release();
}

GST_START_TEST(two_hundred_lives_and_another_element) {
  for (int which = 0; which < 2; ++which) {
    Ref<GstElement> element = make_element();
    for (int life = 0; life < (which == 0 ? 200 : 20); ++life)
      element = one_life(std::move(element), life);
  }
}
GST_END_TEST;

GST_START_TEST(two_hundred_lives_without_data) {
  const Ref<GstElement> element = make_element();
  for (int i = 0; i < 200; ++i) {
    fail_unless_equals_int(gst_element_set_state(element.get(), GST_STATE_PLAYING),
                           GST_STATE_CHANGE_SUCCESS);
    fail_unless_equals_int(gst_element_set_state(element.get(), GST_STATE_NULL),
                           GST_STATE_CHANGE_SUCCESS);
  }
}
GST_END_TEST;

GST_START_TEST(every_state_one_by_one) {
  const Ref<GstElement> element = make_element();
  for (int i = 0; i < 3; ++i)
    for (const GstState state :
         {GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING, GST_STATE_PAUSED, GST_STATE_READY,
          GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_NULL})
      fail_unless_equals_int(gst_element_set_state(element.get(), state), GST_STATE_CHANGE_SUCCESS);
}
GST_END_TEST;

// Several elements at once in one process, some stopped while others run.
GST_START_TEST(many_elements_at_once) {
  const Ref<GstCaps> caps = make_caps("I420", 65, 63);
  Random random(111);
  std::vector<std::unique_ptr<Rig>> rigs;
  for (int i = 0; i < 8; ++i) {
    rigs.push_back(std::make_unique<Rig>());
    rigs.back()->set_caps(caps.get());
  }
  while (!rigs.empty()) {
    for (auto& rig : rigs) {
      const Frame input = make_plain_frame(caps.get(), random);
      const Ref<GstBuffer> output = rig->process(input.share());
      fail_unless_empty(mistake(output.get(), caps.get(), input.image->view(), Effect::none));
    }
    rigs.erase(rigs.begin() + random.between(0, static_cast<int>(rigs.size()) - 1));
  }
}
GST_END_TEST;

/// A running pipeline with the element in it.
struct Pipeline {
  Pipeline() {
    const std::string line =
        "videotestsrc name=source pattern=snow ! video/x-raw,format=I420,width=65,"
        "height=63,framerate=1000/1 ! " +
        element_text() + " name=stripes ! fakesink name=sink sync=false";
    GError* error = nullptr;
    element.reset(gst_parse_launch(line.c_str(), &error));
    fail_unless(error == nullptr, "%s", error ? error->message : "");
    gst_object_ref_sink(element.get());
  }
  ~Pipeline() { gst_element_set_state(element.get(), GST_STATE_NULL); }

  void set_state(GstState state) {
    fail_unless(gst_element_set_state(element.get(), state) != GST_STATE_CHANGE_FAILURE);
  }
  Ref<GstElement> find(const char* name) {
    return Ref<GstElement>(gst_bin_get_by_name(GST_BIN(element.get()), name));
  }
  void expect_no_error() {
    const Ref<GstBus> bus(gst_element_get_bus(element.get()));
    const std::vector<Report> errors = take_reports(bus.get(), GST_MESSAGE_ERROR);
    fail_unless(errors.empty(), "%s", errors.empty() ? "" : errors[0].text.c_str());
  }

  Ref<GstElement> element;
};

GST_START_TEST(state_changes_with_data_flowing) {
  Pipeline pipeline;
  Random random(112);
  for (int i = 0; i < 60; ++i) {
    pipeline.set_state(GST_STATE_PLAYING);
    g_usleep(random.between(0, 8000));
    pipeline.set_state(std::array{GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_NULL}[i % 3]);
    pipeline.expect_no_error();
  }
}
GST_END_TEST;

// Seeks flush the pipeline from the application's thread while the streaming thread runs.
GST_START_TEST(flushes_with_data_flowing) {
  Pipeline pipeline;
  pipeline.set_state(GST_STATE_PLAYING);
  const Ref<GstElement> stripes = pipeline.find("stripes");
  Random random(113);
  for (int i = 0; i < 40; ++i) {
    fail_unless_equals_int(
        gst_element_get_state(pipeline.element.get(), nullptr, nullptr, 10 * GST_SECOND),
        GST_STATE_CHANGE_SUCCESS);
    fail_unless(gst_element_seek_simple(pipeline.element.get(), GST_FORMAT_TIME,
                                        GST_SEEK_FLAG_FLUSH, i * GST_SECOND));
    g_usleep(random.between(0, 8000));
  }
  // It still runs.
  const std::uint64_t before = stat_uint64(stripes.get(), "frames-out");
  for (int i = 0; i < 1000 && stat_uint64(stripes.get(), "frames-out") < before + 3; ++i)
    g_usleep(5000);
  fail_unless(stat_uint64(stripes.get(), "frames-out") >= before + 3);
  pipeline.expect_no_error();
}
GST_END_TEST;

GST_START_TEST(flush_between_frames) {
  const Ref<GstCaps> caps = make_caps("RGB", 33, 31);
  Random random(114);
  Rig rig(__i__);
  rig.set_caps(caps.get());
  for (int i = 0; i < 5; ++i) {
    const Frame input = make_plain_frame(caps.get(), random);
    const Ref<GstBuffer> output = rig.process(input.share());
    fail_unless_empty(mistake(output.get(), caps.get(), input.image->view(), Effect::none));
    fail_unless(gst_harness_push_event(rig.harness(), gst_event_new_flush_start()));
    fail_unless_equals_int(rig.push(input.share()), GST_FLOW_FLUSHING);
    fail_unless(gst_harness_push_event(rig.harness(), gst_event_new_flush_stop(TRUE)));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    fail_unless(gst_harness_push_event(rig.harness(), gst_event_new_segment(&segment)));
  }
  fail_unless_equals_int(gst_harness_buffers_in_queue(rig.harness()), 0);
}
GST_END_TEST;

/// A flush must free a frame that waits for a buffer which downstream holds.
GST_START_TEST(flush_while_waiting_for_a_buffer) {
  const Ref<GstCaps> caps = make_caps("I420", 33, 31);
  const Ref<GstBufferPool> pool = make_guarded_pool();
  Downstream downstream = offering(pool.get());
  downstream.max_buffers = 1;
  Random random(115);
  Rig rig(__i__);
  install(rig, downstream);
  rig.set_caps(caps.get());
  const Frame input = make_plain_frame(caps.get(), random);
  const Ref<GstBuffer> held = rig.process(input.share());
  std::atomic<int> flow = 1;
  std::thread pusher([&] { flow = rig.push(input.share()); });
  g_usleep(50000);
  fail_unless_equals_int(flow, 1);
  fail_unless(gst_harness_push_event(rig.harness(), gst_event_new_flush_start()));
  pusher.join();
  fail_unless_equals_int(flow, GST_FLOW_FLUSHING);
}
GST_END_TEST;

// EOS comes after the last frame, once, and none comes after it.
GST_START_TEST(eos) {
  const Ref<GstCaps> caps = make_caps("RGB", 33, 31);
  Random random(116);
  Outlet outlet;
  Rig rig(__i__);
  outlet.install(rig);
  rig.set_caps(caps.get());
  for (int i = 0; i < 3; ++i)
    fail_unless_equals_int(rig.push(make_plain_frame(caps.get(), random).share()), GST_FLOW_OK);
  fail_unless(gst_harness_push_event(rig.harness(), gst_event_new_eos()));
  fail_unless_equals_int(rig.push(make_plain_frame(caps.get(), random).share()), GST_FLOW_EOS);
  outlet.wait_for_event(GST_EVENT_EOS);
  settle();
  fail_unless_equals_int(outlet.frame_count(), 3);
  fail_unless_equals_int(outlet.event_count(GST_EVENT_EOS), 1);
  fail_unless_equals_int(outlet.arrivals().back().event, GST_EVENT_EOS);
}
GST_END_TEST;

GST_START_TEST(eos_without_a_frame) {
  Rig rig;
  fail_unless(gst_harness_push_event(rig.harness(), gst_event_new_eos()));
  rig.expect_quiet();
}
GST_END_TEST;

// Serialized events keep their place between frames.
GST_START_TEST(events_between_frames) {
  const Ref<GstCaps> caps = make_caps("RGB", 33, 31);
  Random random(117);
  Outlet outlet;
  Rig rig(__i__);
  outlet.install(rig);
  rig.set_caps(caps.get());
  for (unsigned i = 0; i < 5; ++i) {
    rig.push(make_plain_frame(caps.get(), random).share());
    gst_harness_push_event(rig.harness(), numbered(GST_EVENT_CUSTOM_DOWNSTREAM, i));
  }
  wait_until("five events", [&] { return outlet.event_count(GST_EVENT_CUSTOM_DOWNSTREAM) == 5; });
  unsigned frames = 0;
  unsigned events = 0;
  for (const Arrival& arrival : outlet.arrivals()) {
    frames += arrival.is_frame();
    if (arrival.event != GST_EVENT_CUSTOM_DOWNSTREAM) continue;
    fail_unless_equals_int(arrival.number, events++);
    fail_unless_equals_int(frames, events);
  }
}
GST_END_TEST;

// What downstream answers goes back upstream, and is no error of the element's. At depth 1 with the
// same frame; element-async-flow has the others.
GST_START_TEST(flow_of_downstream) {
  const Ref<GstCaps> caps = make_caps("RGB", 33, 31);
  Random random(118);
  for (const GstFlowReturn flow : {GST_FLOW_EOS, GST_FLOW_FLUSHING, GST_FLOW_ERROR}) {
    Rig rig(1);
    rig.set_caps(caps.get());
    static GstFlowReturn answer;
    answer = flow;
    gst_pad_set_chain_function(rig.harness()->sinkpad, [](GstPad*, GstObject*, GstBuffer* buffer) {
      gst_buffer_unref(buffer);
      return answer;
    });
    fail_unless_equals_int(rig.push(make_plain_frame(caps.get(), random).share()), flow);
    rig.expect_quiet();
  }
}
GST_END_TEST;

// The error stays unread on the bus, and the element goes.
GST_START_TEST(gone_with_an_error_pending) {
  for (int i = 0; i < 5; ++i) {
    const Ref<GstBus> bus(gst_bus_new());
    const Ref<GstCaps> caps = make_caps("RGB", 33, 31);
    Rig rig;
    gst_element_set_bus(rig.element(), bus.get());
    rig.set_caps(caps.get());
    Ref<GstBuffer> too_small(gst_buffer_new_allocate(nullptr, 10, nullptr));
    fail_unless_equals_int(rig.push(std::move(too_small)), GST_FLOW_ERROR);
  }
}
GST_END_TEST;

GST_START_TEST(never_started) {
  for (int i = 0; i < 20; ++i) make_element();
}
GST_END_TEST;

Suite* element_states_suite() {
  Suite* suite = suite_create("element-states");
  TCase* cases = tcase_create("states");
  tcase_set_timeout(cases, 60);
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, two_hundred_lives_and_another_element);
  tcase_add_test(cases, two_hundred_lives_without_data);
  tcase_add_test(cases, every_state_one_by_one);
  tcase_add_test(cases, many_elements_at_once);
  tcase_add_test(cases, state_changes_with_data_flowing);
  tcase_add_test(cases, flushes_with_data_flowing);
  tcase_add_loop_test(cases, flush_between_frames, 1, 4);
  tcase_add_loop_test(cases, flush_while_waiting_for_a_buffer, 1, 4);
  tcase_add_loop_test(cases, eos, 1, 4);
  tcase_add_test(cases, eos_without_a_frame);
  tcase_add_loop_test(cases, events_between_frames, 1, 4);
  tcase_add_test(cases, flow_of_downstream);
  tcase_add_test(cases, gone_with_an_error_pending);
  tcase_add_test(cases, never_started);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_states)
