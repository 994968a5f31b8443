// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory of real elements, and memory that several elements have at once.

#include <gst/app/gstappsrc.h>

#include <string>

#include "gst/page_lock.h"
#include "gst/recorder.h"

namespace {

using namespace test;

// Not timed: with another process on the GPU the times are a reason to warn, as they should be.
std::string stripes(const std::string& name, const std::string& properties) {
  return element_text() + " name=" + name + " stats-interval=0 " + properties;
}

struct Pipeline {
  explicit Pipeline(const std::string& line) {
    GError* error = nullptr;
    element.reset(gst_parse_launch(line.c_str(), &error));
    fail_unless(error == nullptr, "%s: %s", line.c_str(), error ? error->message : "");
    gst_object_ref_sink(element.get());
  }
  ~Pipeline() { gst_element_set_state(element.get(), GST_STATE_NULL); }

  Ref<GstElement> find(const std::string& name) {
    return Ref<GstElement>(gst_bin_get_by_name(GST_BIN(element.get()), name.c_str()));
  }

  void play() { gst_element_set_state(element.get(), GST_STATE_PLAYING); }

  /// Fails unless EOS is the first of all ends and warnings.
  void wait() {
    const Ref<GstBus> bus(gst_element_get_bus(element.get()));
    const auto wanted =
        static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
    const Ref<GstMessage> message(gst_bus_timed_pop_filtered(bus.get(), 30 * GST_SECOND, wanted));
    fail_unless(message != nullptr, "no end in sight");
    fail_unless(GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_EOS, "%s",
                gst_structure_to_string(gst_message_get_structure(message.get())));
  }

  Ref<GstElement> element;
};

void expect_inverted(const Recorder& in, const Recorder& out, unsigned frames) {
  fail_unless_equals_int(in.frames.size(), frames);
  fail_unless_equals_int(out.frames.size(), frames);
  for (unsigned i = 0; i < frames; ++i) {
    const MappedPicture input(in.frames[i].get(), info_of(in.caps[i].get()));
    fail_unless_empty(
        mistake(out.frames[i].get(), out.caps[i].get(), input.view(), Effect::invert));
  }
}

/// How the frames of a pipeline came in.
struct Counts {
  std::uint64_t registrations;
  std::uint64_t staged;
  std::uint64_t pinned;
  bool uses_pool;
};

constexpr unsigned frames_each = 40;

/// `upstream ! element ! fakesink` with every pixel checked.
Counts run_upstream(const std::string& upstream, const std::string& properties = "") {
  Pipeline pipeline(upstream + " ! " + stripes("stripes", "effect=invert " + properties) +
                    " ! fakesink sync=false");
  const Ref<GstElement> element = pipeline.find("stripes");
  const Recorder in(element.get(), "sink");
  const Recorder out(element.get(), "src");
  pipeline.play();
  pipeline.wait();
  expect_inverted(in, out, frames_each);
  const Counts counts{stat_uint64(element.get(), "registrations"),
                      stat_uint64(element.get(), "staged-frames"),
                      stat_uint64(element.get(), "input-pinned-frames"),
                      stat_boolean(element.get(), "upstream-uses-pool")};
  fail_unless_equals_uint64(stat_uint64(element.get(), "output-pinned-frames"), frames_each);
  fail_unless_equals_uint64(stat_uint64(element.get(), "refusals"), 0);
  fail_unless_equals_uint64(counts.staged + counts.pinned, frames_each);
  return counts;
}

std::string source(unsigned frames = frames_each) {
  return "videotestsrc pattern=ball num-buffers=" + std::to_string(frames) +
         " ! video/x-raw,format=I420,width=161,height=121";
}

constexpr const char* all_depths[] = {"async-depth=1", "async-depth=3", "async-depth=16"};

// It pushes one buffer again and again.
GST_START_TEST(imagefreeze) {
  const Counts counts = run_upstream(
      source(1) + " ! imagefreeze num-buffers=" + std::to_string(frames_each), all_depths[__i__]);
  fail_unless_equals_uint64(counts.registrations, 1);
  fail_unless_equals_uint64(counts.staged, 1);
  fail_unless(!counts.uses_pool);
}
GST_END_TEST;

GST_START_TEST(through_a_queue) {
  const Counts counts = run_upstream(source() + " ! queue", all_depths[__i__]);
  fail_unless(counts.uses_pool);
  fail_unless_equals_uint64(counts.registrations, 0);
  fail_unless_equals_uint64(counts.staged, 0);
}
GST_END_TEST;

// A source with a pool of its own, that hears nothing of ours: each buffer of it is staged once.
GST_START_TEST(a_source_with_its_own_pool) {
  const Counts counts =
      run_upstream(source() + " ! identity drop-allocation=true", all_depths[__i__]);
  fail_unless(!counts.uses_pool);
  fail_unless(counts.registrations >= 1 && counts.registrations <= counts.staged);
  // As many buffers as are in flight, and few more.
  fail_unless(counts.staged <= 20, "%" G_GUINT64_FORMAT " staged", counts.staged);
}
GST_END_TEST;

GST_START_TEST(a_source_with_its_own_pool_registered_at_once) {
  const Counts counts = run_upstream(source() + " ! identity drop-allocation=true",
                                     std::string("page-lock=register ") + all_depths[__i__]);
  fail_unless(!counts.uses_pool);
  fail_unless(counts.registrations >= 2);
  fail_unless_equals_uint64(counts.staged, 0);
}
GST_END_TEST;

// A parser makes new memory for each frame, or parts of what it got.
GST_START_TEST(rawvideoparse) {
  const Counts counts =
      run_upstream(source() + " ! rawvideoparse use-sink-caps=true", all_depths[__i__]);
  fail_unless(!counts.uses_pool);
}
GST_END_TEST;

// --- one memory, several elements

/// A `tee` with a branch for each entry, each on a thread of its own.
struct Tee {
  explicit Tee(const std::vector<std::string>& branch_properties)
      : caps(make_caps("I420", 161, 121)), random(70), pipeline(line(branch_properties)) {
    source = pipeline.find("src");
    g_object_set(source.get(), "caps", caps.get(), nullptr);
    for (std::size_t i = 0; i < branch_properties.size(); ++i) {
      branches.push_back(pipeline.find("branch" + std::to_string(i)));
      outputs.push_back(std::make_unique<Recorder>(branches.back().get(), "src"));
    }
    pipeline.play();
  }

  static std::string line(const std::vector<std::string>& branch_properties) {
    std::string text = "appsrc name=src format=time ! tee name=t";
    for (std::size_t i = 0; i < branch_properties.size(); ++i)
      text += " t. ! queue ! " +
              stripes("branch" + std::to_string(i), "effect=invert " + branch_properties[i]) +
              " ! fakesink sync=false async=false";
    return text;
  }

  void push(const Frame& frame) {
    Ref<GstBuffer> buffer(gst_buffer_copy(frame.buffer.get()));
    fail_unless(gst_buffer_peek_memory(buffer.get(), 0) ==
                gst_buffer_peek_memory(frame.buffer.get(), 0));
    fail_unless_equals_int(gst_app_src_push_buffer(GST_APP_SRC(source.get()), buffer.release()),
                           GST_FLOW_OK);
  }

  void finish() {
    gst_app_src_end_of_stream(GST_APP_SRC(source.get()));
    pipeline.wait();
  }

  std::uint64_t sum(const char* field) const {
    std::uint64_t total = 0;
    for (const auto& branch : branches) total += stat_uint64(branch.get(), field);
    return total;
  }

  void expect_all_inverted(const std::vector<Frame>& frames, unsigned passes) const {
    for (const auto& output : outputs) {
      fail_unless_equals_int(output->frames.size(), passes * frames.size());
      for (std::size_t i = 0; i < output->frames.size(); ++i)
        fail_unless_empty(mistake(output->frames[i].get(), output->caps[i].get(),
                                  frames[i % frames.size()].image->view(), Effect::invert));
    }
  }

  Ref<GstCaps> caps;
  Random random;
  Pipeline pipeline;
  Ref<GstElement> source;
  std::vector<Ref<GstElement>> branches;
  std::vector<std::unique_ptr<Recorder>> outputs;
};

/// Pushes each of `memories` frames `passes` times in turn.
std::vector<Frame> run_passes(Tee& tee, unsigned memories, unsigned passes) {
  std::vector<Frame> frames;
  for (unsigned i = 0; i < memories; ++i)
    frames.push_back(make_plain_frame(tee.caps.get(), tee.random));
  for (unsigned pass = 0; pass < passes; ++pass)
    for (const Frame& frame : frames) tee.push(frame);
  tee.finish();
  tee.expect_all_inverted(frames, passes);
  return frames;
}

// Three sightings a pass, by three elements that race: each memory is registered once in all.
GST_START_TEST(tee_to_three_elements) {
  Tee tee({"async-depth=1", "async-depth=3", "async-depth=3 stripe-layout=columns"});
  const std::vector<Frame> frames = run_passes(tee, 3, 30);
  fail_unless_equals_uint64(tee.sum("registrations"), 3);
  fail_unless_equals_uint64(tee.sum("refusals"), 0);
  fail_unless_equals_uint64(tee.sum("evictions"), 0);
  for (const auto& branch : tee.branches) {
    const std::uint64_t staged = stat_uint64(branch.get(), "staged-frames");
    fail_unless(staged >= 3 || stat_uint64(branch.get(), "input-pinned-frames") > 0);
    fail_unless_equals_uint64(staged + stat_uint64(branch.get(), "input-pinned-frames"), 90);
  }
}
GST_END_TEST;

// A first sight is each element's own: one pass alone registers nothing.
GST_START_TEST(a_tee_is_no_second_sight) {
  Tee tee({"", "", ""});
  const std::vector<Frame> frames = run_passes(tee, 10, 1);
  fail_unless_equals_uint64(tee.sum("registrations"), 0);
  fail_unless_equals_uint64(tee.sum("staged-frames"), 30);
}
GST_END_TEST;

// One branch reads the memory as it is while another one registers it.
GST_START_TEST(tee_to_different_modes) {
  Tee tee({"page-lock=off", "page-lock=register", "page-lock=auto", "page-lock=stage"});
  const std::vector<Frame> frames = run_passes(tee, 4, 20);
  fail_unless_equals_uint64(tee.sum("refusals"), 0);
  // Inputs once each; outputs are the registering branch's alone.
  const std::uint64_t inputs =
      stat_uint64(tee.branches[2].get(), "registrations");  // auto registers no output
  fail_unless(inputs <= 4);
  fail_unless(stat_uint64(tee.branches[1].get(), "registrations") >= 4 - inputs + 1);
}
GST_END_TEST;

// Memory goes while the others still run.
GST_START_TEST(tee_with_memory_that_goes) {
  Tee tee({"page-lock=register", "page-lock=register async-depth=1", "page-lock=auto"});
  std::vector<Frame> frames;
  std::vector<std::shared_ptr<GuardedImage>> images;
  for (unsigned i = 0; i < 60; ++i) {
    Frame frame = make_plain_frame(tee.caps.get(), tee.random);
    tee.push(frame);
    tee.push(frame);
    images.push_back(frame.image);
  }
  tee.finish();
  for (const auto& output : tee.outputs) {
    fail_unless_equals_int(output->frames.size(), 120);
    for (unsigned i = 0; i < 120; ++i)
      fail_unless_empty(
          mistake(output->frames[i].get(), tee.caps.get(), images[i / 2]->view(), Effect::invert));
  }
  fail_unless_equals_uint64(tee.sum("refusals"), 0);
}
GST_END_TEST;

// Two in a row: the second one's input is the first one's output.
GST_START_TEST(two_in_a_row) {
  const bool registers = __i__ == 1;
  const std::string mode = registers ? " page-lock=register" : "";
  Pipeline pipeline(source() + " ! identity drop-allocation=true ! " +
                    stripes("first", "effect=invert" + mode) + " ! " +
                    stripes("second", "effect=invert" + mode) + " ! fakesink sync=false");
  const Ref<GstElement> front = pipeline.find("first");
  const Ref<GstElement> back = pipeline.find("second");
  const Recorder in(front.get(), "sink");
  const Recorder between(back.get(), "sink");
  const Recorder out(back.get(), "src");
  pipeline.play();
  pipeline.wait();
  expect_inverted(in, between, frames_each);
  expect_inverted(between, out, frames_each);
  fail_unless_equals_uint64(stat_uint64(back.get(), "staged-frames"), 0);
  fail_unless_equals_uint64(stat_uint64(back.get(), "input-pinned-frames"), frames_each);
  fail_unless_equals_uint64(
      stat_uint64(front.get(), "refusals") + stat_uint64(back.get(), "refusals"), 0);
}
GST_END_TEST;

Suite* element_page_lock_pipelines_suite() {
  Suite* suite = suite_create("element-page-lock-pipelines");
  TCase* cases = tcase_create("pipelines");
  tcase_set_timeout(cases, 90);
  suite_add_tcase(suite, cases);
  const int depth_count = static_cast<int>(std::size(all_depths));
  tcase_add_loop_test(cases, imagefreeze, 0, depth_count);
  tcase_add_loop_test(cases, through_a_queue, 0, depth_count);
  tcase_add_loop_test(cases, a_source_with_its_own_pool, 0, depth_count);
  tcase_add_loop_test(cases, a_source_with_its_own_pool_registered_at_once, 0, depth_count);
  tcase_add_loop_test(cases, rawvideoparse, 0, depth_count);
  tcase_add_test(cases, tee_to_three_elements);
  tcase_add_test(cases, a_tee_is_no_second_sight);
  tcase_add_test(cases, tee_to_different_modes);
  tcase_add_test(cases, tee_with_memory_that_goes);
  tcase_add_loop_test(cases, two_in_a_row, 0, 2);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_page_lock_pipelines)
