// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames in flight in pipelines: seeks, several elements, changes of a pipeline that plays.

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "gst/outlet.h"
#include "gst/pipeline.h"
#include "gst/support.h"
#include "support/random.h"

namespace {

using namespace test;

constexpr unsigned depths[] = {1, 2, 3, 16};
constexpr int depth_count = G_N_ELEMENTS(depths);

std::string line(unsigned depth, int frames = -1, const std::string& framerate = "100/1") {
  return small_source(frames, framerate) + " ! " + stripes_at(depth) +
         " ! fakesink name=sink sync=false";
}

gint64 ask_position(const TestPipeline& pipeline) {
  const Ref<GstQuery> query(gst_query_new_position(GST_FORMAT_TIME));
  fail_unless(gst_pad_query(pipeline.pad("stripes", "src").get(), query.get()));
  gint64 position = -1;
  gst_query_parse_position(query.get(), nullptr, &position);
  return position;
}

// At random moments while it plays, and with a second one close behind.
GST_START_TEST(fifty_flushing_seeks) {
  const TestPipeline pipeline(line(depths[__i__]));
  const Counter counter(pipeline, "sink", "sink");
  Random random(150 + __i__);
  pipeline.set_state(GST_STATE_PLAYING);
  for (int i = 0; i < 50; ++i) {
    expect_to_end("the seek",
                  [&] { fail_unless(pipeline.seek(i * GST_SECOND, GST_SEEK_FLAG_FLUSH)); });
    g_usleep(random.between(0, 6000));
  }
  counter.wait_for(5);
  pipeline.expect_no_error();
}
GST_END_TEST;

GST_START_TEST(seeks_in_paused) {
  const TestPipeline pipeline(line(depths[__i__], 1000));
  pipeline.set_state(GST_STATE_PAUSED);
  for (int i = 1; i < 10; ++i) {
    const gint64 target = (10 - i) * GST_SECOND;
    fail_unless(pipeline.seek(target, GST_SEEK_FLAG_FLUSH));
    pipeline.set_state(GST_STATE_PAUSED);
    const gint64 position = ask_position(pipeline);
    fail_unless(position >= target && position <= target + static_cast<gint64>(GST_SECOND) / 100);
    gint64 duration = 0;
    fail_unless(
        gst_pad_query_duration(pipeline.pad("stripes", "src").get(), GST_FORMAT_TIME, &duration));
    fail_unless_equals_int64(duration, 10 * GST_SECOND);
  }
  pipeline.set_state(GST_STATE_PLAYING);
  pipeline.wait_for(GST_MESSAGE_EOS);
}
GST_END_TEST;

/// Seeks with every seventh frame that passes a pad, which is of before the seek and goes no
/// further.
struct Seeker {
  static GstPadProbeReturn look(GstPad*, GstPadProbeInfo*, gpointer data) {
    auto* self = static_cast<Seeker*>(data);
    if (++self->seen % 7 != 0 || self->sought == 20) return GST_PAD_PROBE_OK;
    if (self->pipeline->seek(0, GST_SEEK_FLAG_FLUSH)) ++self->sought;
    return GST_PAD_PROBE_DROP;
  }
  const TestPipeline* pipeline = nullptr;
  std::atomic<unsigned> seen = 0;
  std::atomic<unsigned> sought = 0;
};

// As a player does at the end of a part: from the thread that brings the frames.
GST_START_TEST(seek_from_the_thread_that_pushes) {
  for (const char* where : {"stripes", "sink"}) {
    Seeker seeker;
    const TestPipeline pipeline(line(depths[__i__]));
    seeker.pipeline = &pipeline;
    const bool before = where == std::string("stripes");
    const Ref<GstPad> pad = pipeline.pad(where, before ? "src" : "sink");
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, Seeker::look, &seeker, nullptr);
    gst_element_set_state(pipeline.element.get(), GST_STATE_PLAYING);
    wait_until("twenty seeks", [&] { return seeker.sought == 20; });
    const unsigned seen = seeker.seen;
    wait_until("frames after them", [&] { return seeker.seen >= seen + 20; });
    pipeline.expect_no_error();
  }
}
GST_END_TEST;

/// How many frames came before each SEGMENT_DONE.
struct Parts {
  static GstPadProbeReturn look(GstPad*, GstPadProbeInfo* info, gpointer data) {
    auto* self = static_cast<Parts*>(data);
    const std::lock_guard lock(self->mutex);
    if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
      ++self->frames;
    else if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_SEGMENT_DONE)
      self->ends.push_back(self->frames);
    return GST_PAD_PROBE_OK;
  }
  std::mutex mutex;
  unsigned frames = 0;
  std::vector<unsigned> ends;
};

// Nothing is lost or out of place: the frames, SEGMENT_DONE, the next part.
GST_START_TEST(segment_seeks) {
  Parts parts;
  const TestPipeline pipeline(line(depths[__i__]));
  const auto types =
      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM);
  gst_pad_add_probe(pipeline.pad("sink", "sink").get(), types, Parts::look, &parts, nullptr);
  pipeline.set_state(GST_STATE_PAUSED);
  const auto flags = static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_SEGMENT);
  fail_unless(pipeline.seek(0, flags, GST_SECOND / 2));
  pipeline.set_state(GST_STATE_PLAYING);
  for (unsigned part = 1; part <= 3; ++part) {
    pipeline.wait_for(GST_MESSAGE_SEGMENT_DONE);
    fail_unless(
        pipeline.seek(0, part < 3 ? GST_SEEK_FLAG_SEGMENT : GST_SEEK_FLAG_NONE, GST_SECOND / 2));
  }
  pipeline.wait_for(GST_MESSAGE_EOS);
  // One was there before the first seek.
  fail_unless((parts.ends == std::vector<unsigned>{51, 101, 151}));
  fail_unless_equals_int(parts.frames, 201);
}
GST_END_TEST;

GST_START_TEST(position_while_playing) {
  const TestPipeline pipeline(line(depths[__i__], 500));
  const gint64 frame = GST_SECOND / 100;
  std::atomic<unsigned> wrong = 0;
  const Counter counter(pipeline, "sink", "sink", [&](unsigned count) {
    const gint64 position = ask_position(pipeline);
    const gint64 start = (count - 1) * frame;
    // The base, at depth 1, says where the frame before ends.
    if (position < start || position > start + frame) ++wrong;
  });
  gst_element_set_state(pipeline.element.get(), GST_STATE_PLAYING);
  pipeline.wait_for(GST_MESSAGE_EOS);
  fail_unless_equals_int(counter.count(), 500);
  fail_unless_equals_int(wrong, 0);
}
GST_END_TEST;

GST_START_TEST(two_in_a_row) {
  static constexpr unsigned pairs[][2] = {{1, 3}, {3, 1}, {2, 5}, {16, 2}, {3, 3}};
  const TestPipeline pipeline(small_source(200) + " ! " + stripes_at(pairs[__i__][0], "one") +
                              " effect=invert ! " + stripes_at(pairs[__i__][1], "two") +
                              " effect=invert ! fakesink name=sink sync=false");
  const Counter counter(pipeline, "sink", "sink");
  gst_element_set_state(pipeline.element.get(), GST_STATE_PLAYING);
  pipeline.wait_for(GST_MESSAGE_EOS);
  fail_unless_equals_int(counter.count(), 200);
  for (const char* name : {"one", "two"}) {
    const Ref<GstElement> element = pipeline.find(name);
    fail_unless_equals_uint64(stat_uint64(element.get(), "frames-in"), 200);
    fail_unless_equals_uint64(stat_uint64(element.get(), "frames-out"), 200);
  }
}
GST_END_TEST;

GST_START_TEST(seeks_through_two_in_a_row) {
  const TestPipeline pipeline(small_source() + " ! " + stripes_at(2 + __i__, "one") + " ! " +
                              stripes_at(4 - __i__, "two") + " ! fakesink name=sink sync=false");
  const Counter counter(pipeline, "sink", "sink");
  pipeline.set_state(GST_STATE_PLAYING);
  for (int i = 0; i < 30; ++i)
    expect_to_end("the seek", [&] { fail_unless(pipeline.seek(0, GST_SEEK_FLAG_FLUSH)); });
  counter.wait_for(5);
  pipeline.expect_no_error();
}
GST_END_TEST;

GST_START_TEST(tee_to_three) {
  std::string text = small_source(200) + " ! tee name=t";
  for (unsigned i = 0; i < 3; ++i)
    text += " t. ! queue ! " + stripes_at(depths[i + 1], "stripes" + std::to_string(i)) +
            " ! fakesink sync=false name=sink" + std::to_string(i);
  const TestPipeline pipeline(text);
  const Counter first(pipeline, "sink0", "sink");
  const Counter second(pipeline, "sink1", "sink");
  const Counter third(pipeline, "sink2", "sink");
  gst_element_set_state(pipeline.element.get(), GST_STATE_PLAYING);
  pipeline.wait_for(GST_MESSAGE_EOS);
  for (const Counter* counter : {&first, &second, &third})
    fail_unless_equals_int(counter->count(), 200);
}
GST_END_TEST;

/// A blocking probe upstream of the element, as applications use to change a pipeline.
class Standstill {
 public:
  explicit Standstill(Ref<GstPad> at) : pad_(std::move(at)) {
    const auto call = [](GstPad*, GstPadProbeInfo*, gpointer data) {
      *static_cast<std::atomic<bool>*>(data) = true;
      return GST_PAD_PROBE_OK;
    };
    id_ =
        gst_pad_add_probe(pad_.get(), GST_PAD_PROBE_TYPE_BLOCK_DOWNSTREAM, call, &called_, nullptr);
    wait_until("the block", [this] { return called_.load(); });
  }
  Standstill(const Standstill&) = delete;
  ~Standstill() { gst_pad_remove_probe(pad_.get(), id_); }

 private:
  Ref<GstPad> pad_;
  std::atomic<bool> called_ = false;
  gulong id_ = 0;
};

std::string named_line(unsigned depth) {
  return small_source() + " ! identity name=before ! " + stripes_at(depth) +
         " ! identity name=after ! fakesink name=sink sync=false";
}

// Taken out of a pipeline that plays, another put in, twenty times; frames may be in flight.
GST_START_TEST(removed_while_playing) {
  const unsigned depth = depths[__i__];
  const TestPipeline pipeline(named_line(depth));
  const Ref<GstElement> before = pipeline.find("before");
  const Ref<GstElement> after = pipeline.find("after");
  const Counter counter(pipeline, "sink", "sink");
  pipeline.set_state(GST_STATE_PLAYING);
  for (int i = 0; i < 20; ++i) {
    counter.wait_for(3);
    const Standstill standstill(pipeline.pad("before", "src"));
    const Ref<GstElement> old = pipeline.find("stripes");
    gst_element_unlink_many(before.get(), old.get(), after.get(), nullptr);
    expect_to_end("NULL", [&] { gst_element_set_state(old.get(), GST_STATE_NULL); });
    fail_unless(gst_bin_remove(GST_BIN(pipeline.element.get()), old.get()));
    Ref<GstElement> fresh = make_element(depth);
    gst_element_set_name(fresh.get(), "stripes");
    fail_unless(gst_bin_add(GST_BIN(pipeline.element.get()), fresh.get()));
    fail_unless(gst_element_link_many(before.get(), fresh.get(), after.get(), nullptr));
    fail_unless(gst_element_sync_state_with_parent(fresh.get()));
  }
  counter.wait_for(3);
  pipeline.expect_no_error();
}
GST_END_TEST;

// Unlinked behind the element while that is blocked, and linked again.
GST_START_TEST(unlinked_and_linked_again) {
  const TestPipeline pipeline(named_line(depths[__i__]));
  const Ref<GstElement> after = pipeline.find("after");
  const Ref<GstElement> stripes = pipeline.find("stripes");
  const Counter counter(pipeline, "sink", "sink");
  pipeline.set_state(GST_STATE_PLAYING);
  for (int i = 0; i < 20; ++i) {
    counter.wait_for(3);
    const Standstill standstill(pipeline.pad("stripes", "src"));
    gst_element_unlink(stripes.get(), after.get());
    fail_unless(gst_element_link(stripes.get(), after.get()));
  }
  counter.wait_for(3);
  pipeline.expect_no_error();
}
GST_END_TEST;

Suite* element_async_pipelines_suite() {
  Suite* suite = suite_create("element-async-pipelines");
  TCase* cases = tcase_create("pipelines");
  tcase_set_timeout(cases, 60);
  suite_add_tcase(suite, cases);
  tcase_add_loop_test(cases, fifty_flushing_seeks, 0, depth_count);
  tcase_add_loop_test(cases, seeks_in_paused, 0, depth_count);
  tcase_add_loop_test(cases, seek_from_the_thread_that_pushes, 0, depth_count);
  tcase_add_loop_test(cases, segment_seeks, 0, depth_count);
  tcase_add_loop_test(cases, position_while_playing, 0, depth_count);
  tcase_add_loop_test(cases, two_in_a_row, 0, 5);
  tcase_add_loop_test(cases, seeks_through_two_in_a_row, 0, 3);
  tcase_add_test(cases, tee_to_three);
  tcase_add_loop_test(cases, removed_while_playing, 0, depth_count);
  tcase_add_loop_test(cases, unlinked_and_linked_again, 0, depth_count);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_async_pipelines)
