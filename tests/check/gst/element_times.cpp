// SPDX-License-Identifier: LGPL-2.1-or-later
// The times in `stats`: there from the start, true to what the timeline of the same frames says, and
// forgotten with other caps.

#include <algorithm>
#include <cmath>
#include <functional>

#include "gst/outlet.h"
#include "gst/timelines.h"

namespace {

using namespace test;

constexpr const char* summaries[] = {"submit-us", "upload-us", "kernel-us", "download-us",
                                     "wall-us"};
constexpr const char* ratios[] = {"overlap", "overlap-ceiling", "link-share",
                                  "upload-bytes-per-second", "download-bytes-per-second"};

std::vector<std::string> all_fields() {
  std::vector<std::string> fields(std::begin(ratios), std::end(ratios));
  for (const std::string summary : summaries)
    for (const char* part : {"-mean", "-p50", "-p99"}) fields.push_back(summary + part);
  return fields;
}

double stat_double(GstElement* element, const std::string& field) {
  GstStructure* stats = nullptr;
  g_object_get(element, "stats", &stats, nullptr);
  const Ref<GstStructure> owner(stats);
  const GValue* value = gst_structure_get_value(stats, field.c_str());
  fail_unless(value && G_VALUE_HOLDS_DOUBLE(value), "%s is no double", field.c_str());
  fail_unless(std::isfinite(g_value_get_double(value)), "%s", field.c_str());
  return g_value_get_double(value);
}

void expect_zeros(GstElement* element) {
  for (const std::string& field : all_fields())
    fail_unless(stat_double(element, field) == 0, "%s is not 0", field.c_str());
}

void expect_near(const std::string& what, double got, double expected, double by) {
  fail_unless(std::abs(got - expected) <= by, "%s is %f instead of %f", what.c_str(), got,
              expected);
}

constexpr unsigned depths[] = {1, 2, 3, 5};
constexpr int depth_count = static_cast<int>(std::size(depths));

int sample_length(unsigned depth) { return static_cast<int>(depth) + 2; }

/// An element whose sample and whose timeline are of the same frames: the first after the warm-up.
struct Fixture {
  explicit Fixture(unsigned depth, unsigned interval = 1000)
      : one({.location = folder.file("t.json"),
             .frames = static_cast<unsigned>(sample_length(depth)),
             .depth = depth,
             .stats_interval = interval}) {}

  double stat(const std::string& field) const { return stat_double(one.rig.element(), field); }

  const TempFolder folder;
  TimelineFixture one;
};

// --- the fields

GST_START_TEST(zeros_before_the_first_sample) {
  for (const unsigned depth : depths) {
    const Ref<GstElement> element = make_element(depth);
    expect_zeros(element.get());
    Fixture fixture(depth);
    expect_zeros(fixture.one.rig.element());
    fixture.one.run(warm_up(depth));
    expect_zeros(fixture.one.rig.element());
  }
}
GST_END_TEST;

GST_START_TEST(interval_0_is_never) {
  Fixture fixture(3, 0);
  fixture.one.run(200);
  expect_zeros(fixture.one.rig.element());
  fixture.one.end_stream();
  // The timeline has nothing to do with it.
  expect_trace(fixture.folder.file("t.json"), numbers(warm_up(3), 5), 4);
}
GST_END_TEST;

GST_START_TEST(kept_after_the_stop_until_the_next_start) {
  Fixture fixture(2, 4);
  fixture.one.run(40);
  const double wall = fixture.stat("wall-us-mean");
  fail_unless(wall > 0);
  const Ref<GstElement> element = fixture.one.stop();
  expect_near("wall-us-mean", stat_double(element.get(), "wall-us-mean"), wall, 1e-9);
  gst_element_set_state(element.get(), GST_STATE_PAUSED);
  expect_zeros(element.get());
  gst_element_set_state(element.get(), GST_STATE_NULL);
}
GST_END_TEST;

GST_START_TEST(other_caps_begin_anew) {
  Fixture fixture(2, 4);
  fixture.one.run(40);
  fail_unless(fixture.stat("wall-us-mean") > 0 && fixture.stat("link-share") > 0);
  fixture.one.caps = make_caps("RGBA", 33, 31);
  fixture.one.rig.set_caps(fixture.one.caps.get());
  expect_zeros(fixture.one.rig.element());
  const Frame frame = fixture.one.make();
  fixture.one.process_again(frame, warm_up(2));
  fixture.one.catch_up();
  expect_zeros(fixture.one.rig.element());
  fixture.one.process_again(frame, sample_length(2));
  fixture.one.catch_up();
  fail_unless(fixture.stat("wall-us-mean") > 0 && fixture.stat("link-share") > 0);
}
GST_END_TEST;

// --- the truth

double microseconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e3; }

/// How long at least one of the spans was, in [from, to).
double busy(std::vector<TraceSpan> spans, std::int64_t from = 0, std::int64_t to = INT64_MAX) {
  std::sort(spans.begin(), spans.end(),
            [](const TraceSpan& a, const TraceSpan& b) { return a.begin < b.begin; });
  std::int64_t sum = 0, done = from;
  for (const TraceSpan& span : spans) {
    const std::int64_t begin = std::max(span.begin, done), end = std::min(span.end, to);
    if (end > begin) sum += end - begin;
    done = std::max(done, end);
  }
  return microseconds(sum);
}

double by_rank(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  return values[static_cast<std::size_t>(std::max(1.0, rank)) - 1];
}

void expect_summary(const Fixture& fixture, const std::string& name,
                    const std::function<double(int)>& of_frame) {
  std::vector<double> values;
  double sum = 0;
  for (const int frame : read_trace(read_file(fixture.folder.file("t.json"))).frames()) {
    values.push_back(of_frame(frame));
    sum += values.back();
  }
  expect_near(name + "-mean", fixture.stat(name + "-mean"),
              sum / static_cast<double>(values.size()), 0.01);
  expect_near(name + "-p50", fixture.stat(name + "-p50"), by_rank(values, 0.5), 0.01);
  expect_near(name + "-p99", fixture.stat(name + "-p99"), by_rank(values, 0.99), 0.01);
}

void expect_times_of(const Fixture& fixture, const Trace& trace) {
  for (const std::string kind : {"upload", "kernel", "download"})
    expect_summary(fixture, kind + "-us", [&](int f) { return busy(trace.named(kind, f)); });
  expect_summary(fixture, "submit-us", [&](int f) { return busy(trace.named("submit", f)); });
  // Outputs lie in page-locked memory: they are there when the last stripe is.
  expect_summary(fixture, "wall-us", [&](int f) {
    std::int64_t end = 0;
    for (const TraceSpan& span : trace.spans)
      if (span.frame == f && span.stripe >= 0) end = std::max(end, span.end);
    return microseconds(end - trace.named("submit", f)[0].begin);
  });
}

GST_START_TEST(stats_say_what_the_timeline_says) {
  const unsigned depth = depths[__i__];
  Fixture fixture(depth);
  fixture.one.run(warm_up(depth) + sample_length(depth) + 3);
  fixture.one.end_stream();
  const Trace trace =
      expect_trace(fixture.folder.file("t.json"), numbers(warm_up(depth), sample_length(depth)), 4);
  expect_times_of(fixture, trace);
  for (const auto& [field, other] : {std::pair{"overlap", "overlap"},
                                     {"overlap-ceiling", "overlap-ceiling"},
                                     {"link-share", "link-share"}})
    expect_near(field, fixture.stat(field), trace.other.find(other)->number, 0.001);
}
GST_END_TEST;

/// Several in flight, so that the sample overlaps.
void run_in_flight(TimelineFixture& one, int frames, int at_once) {
  for (int i = 0; i < frames; i += at_once) one.process_new(at_once);
}

/// From the first download of the first frame to the last upload of the last one.
std::pair<std::int64_t, std::int64_t> window_of(const Trace& trace) {
  std::int64_t begin = INT64_MAX, end = 0;
  const std::vector<int> frames = trace.frames();
  for (const TraceSpan& span : trace.named("download", frames.front()))
    begin = std::min(begin, span.begin);
  for (const TraceSpan& span : trace.named("upload", frames.back())) end = std::max(end, span.end);
  return {begin, end};
}

GST_START_TEST(overlap_is_what_the_timeline_shows) {
  const unsigned depth = depths[__i__];
  Fixture fixture(depth);
  run_in_flight(fixture.one, 24, static_cast<int>(depth));
  fixture.one.end_stream();
  const Trace trace =
      expect_trace(fixture.folder.file("t.json"), numbers(warm_up(depth), sample_length(depth)), 4);
  expect_times_of(fixture, trace);
  fail_unless(fixture.stat("link-share") > 0 && fixture.stat("link-share") <= 1);
  if (is_mapped_run()) {
    for (const char* field : {"overlap", "overlap-ceiling", "upload-us-mean", "download-us-p99",
                              "upload-bytes-per-second", "download-bytes-per-second"})
      fail_unless(fixture.stat(field) == 0, "%s of mapped frames", field);
    return;
  }
  const auto [begin, end] = window_of(trace);
  if (end <= begin) return;
  const double u = busy(trace.named("upload"), begin, end);
  const double k = busy(trace.named("kernel"), begin, end);
  const double d = busy(trace.named("download"), begin, end);
  const double window = microseconds(end - begin);
  expect_near("overlap", fixture.stat("overlap"), (u + k + d) / window, 0.001);
  expect_near("overlap-ceiling", fixture.stat("overlap-ceiling"), (u + k + d) / std::max({u, k, d}),
              0.001);
  expect_near("link-share", fixture.stat("link-share"), (u + d) / 2 / window, 0.001);
  // No more than all frames' bytes, no less than those of the frames that are in it whole.
  const double most =
      static_cast<double>(fixture.one.sample_bytes()) * sample_length(depth) / (window / 1e6);
  for (const char* field : {"upload-bytes-per-second", "download-bytes-per-second"})
    fail_unless(fixture.stat(field) > 0 && fixture.stat(field) <= most * 1.001, "%s is %f of %f",
                field, fixture.stat(field), most);
}
GST_END_TEST;

// Frames in no sample are in no figure: a slow one among them leaves no trace.
GST_START_TEST(only_sampled_frames_count) {
  constexpr unsigned depth = 1;
  Fixture fixture(depth, 1000);
  fixture.one.run(warm_up(depth) + sample_length(depth));
  const double mean = fixture.stat("wall-us-mean");
  fixture.one.run(300);
  expect_near("wall-us-mean", fixture.stat("wall-us-mean"), mean, 1e-9);
}
GST_END_TEST;

GST_START_TEST(samples_come_again) {
  Fixture fixture(1, 10);
  fixture.one.run(warm_up(1) + sample_length(1));
  double before = fixture.stat("wall-us-mean");
  for (int i = 0; i < 5; ++i) {
    fixture.one.run(10);
    const double mean = fixture.stat("wall-us-mean");
    fail_unless(mean != before, "no new sample");
    before = mean;
  }
}
GST_END_TEST;

Suite* element_times_suite() {
  Suite* suite = suite_create("element-times");
  TCase* cases = tcase_create("times");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, zeros_before_the_first_sample);
  tcase_add_test(cases, interval_0_is_never);
  tcase_add_test(cases, kept_after_the_stop_until_the_next_start);
  tcase_add_test(cases, other_caps_begin_anew);
  tcase_add_loop_test(cases, stats_say_what_the_timeline_says, 0, depth_count);
  tcase_add_loop_test(cases, overlap_is_what_the_timeline_shows, 0, depth_count);
  tcase_add_test(cases, only_sampled_frames_count);
  tcase_add_test(cases, samples_come_again);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_times)
