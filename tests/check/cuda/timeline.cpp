// SPDX-License-Identifier: LGPL-2.1-or-later
// Timelines: which frames are in them, and that both kinds of files say what was measured, in any
// locale and with any names.

#include "cuda/timeline.h"

#include <cmath>
#include <set>

#include "cuda/overlap.h"
#include "support/comma_locale.h"
#include "support/library_main.h"
#include "support/made_times.h"
#include "support/svg.h"
#include "support/trace.h"

using stripe::FrameTimes;
using stripe::Span;
using stripe::StripeTimes;
using stripe::Time;
using stripe::Timeline;
using stripe::TimelineRecorder;
using test::Svg;
using test::Trace;

namespace {

/// As after a hundred days of uptime: too much for a double of microseconds and a float at all.
constexpr Time epoch = 9'007'199'254'740'993;

constexpr int stripes = 3;
constexpr int streams = 2;

/// Stripe k of a frame on its stream, behind what is there already.
StripeTimes next_stripe(int number, int stream, Time& free_at) {
  const Time begin = free_at + 7;
  free_at = begin + 3337;
  return {number,
          stream,
          {begin, begin + 1001},
          {begin + 1001, begin + 1237},
          {begin + 1237, begin + 3337}};
}

Timeline made_timeline(int frames, bool is_mapped = false) {
  Timeline timeline;
  timeline.device = "NVIDIA H200 (cuda)";
  timeline.settings = "1920x1080 RGB, 3 stripes a frame";
  timeline.streams = streams;
  timeline.left_out = 8;
  Time free_at[streams] = {epoch + 2000, epoch + 2500};
  for (int f = 0; f < frames; ++f) {
    FrameTimes frame;
    frame.frame = static_cast<std::uint64_t>(8 + f);
    const Time begin = epoch + f * 5000;
    frame.submit = {begin, begin + 1500};
    frame.staging_in = {{begin + 100, begin + 200}, {begin + 200, begin + 301}};
    for (int k = 0; k < stripes; ++k) {
      const int stream = (f * stripes + k) % streams;
      frame.stripes.push_back(next_stripe(k, stream, free_at[stream]));
      StripeTimes& stripe = frame.stripes.back();
      if (is_mapped) stripe.upload.end = stripe.upload.begin;
      if (is_mapped) stripe.download.begin = stripe.download.end;
    }
    frame.wait = {begin + 1600, begin + 3001};
    frame.push = {begin + 3001, begin + 3500};
    frame.bytes_uploaded = frame.bytes_downloaded = is_mapped ? 0 : 6220800;
    if (is_mapped) frame.transfer = stripe::Transfer::mapped;
    timeline.frames.push_back(frame);
  }
  return timeline;
}

std::vector<int> numbers(int first, int count) {
  std::vector<int> out;
  for (int i = 0; i < count; ++i) out.push_back(first + i);
  return out;
}

// --- recorder

void record(TimelineRecorder& recorder, int frames, int from = 0) {
  for (int i = from; i < frames; ++i) {
    FrameTimes frame;
    frame.frame = static_cast<std::uint64_t>(i);
    if (!recorder.wants(frame.frame)) continue;
    frame.push = {i, i + 5};
    recorder.add(frame);
  }
}

std::vector<int> recorded(TimelineRecorder& recorder, Timeline& timeline) {
  recorder.move_into(timeline);
  std::vector<int> out;
  for (const FrameTimes& frame : timeline.frames) {
    out.push_back(static_cast<int>(frame.frame));
    const Span pushed{out.back(), out.back() + 5};
    fail_unless(frame.push == pushed, "a push of another frame");
  }
  return out;
}

GST_START_TEST(frames_after_the_warm_up) {
  for (int warm_up = 0; warm_up < 9; ++warm_up)
    for (int frames = 1; frames < 14; ++frames)
      for (int come = 0; come < warm_up + frames + 4; ++come) {
        TimelineRecorder recorder(frames, warm_up);
        record(recorder, come);
        fail_unless(recorder.is_complete() == (come >= warm_up + frames));
        Timeline timeline;
        const std::vector<int> got = recorded(recorder, timeline);
        const bool is_short = come <= warm_up;
        const int expected = is_short ? come : std::min(come - warm_up, frames);
        fail_unless(got == numbers(is_short ? 0 : warm_up, expected), "%d of %d after %d", come,
                    frames, warm_up);
        fail_unless(timeline.warming_up == is_short);
        if (!got.empty()) fail_unless_equals_int(timeline.left_out, is_short ? 0 : warm_up);
      }
}
GST_END_TEST;

// What is dropped is not there; the last one is what it waits for.
GST_START_TEST(frames_that_never_came) {
  TimelineRecorder recorder(4, 2);
  record(recorder, 4);
  record(recorder, 6, 5);
  fail_unless(recorder.is_complete());
  Timeline timeline;
  const std::vector<int> expected{2, 3, 5};
  fail_unless(recorded(recorder, timeline) == expected);
}
GST_END_TEST;

// --- JSON

void expect_span(const Trace& trace, const char* name, int frame, int stripe, const Span& span,
                 const std::string& row) {
  int found = 0;
  for (const test::TraceSpan& s : trace.named(name, frame))
    found += s.stripe == stripe && s.row == row && s.begin == span.begin - epoch &&
             s.end == span.end - epoch;
  fail_unless(found == 1, "%s of stripe %d of frame %d", name, stripe, frame);
}

GST_START_TEST(json_says_all_to_the_nanosecond) {
  const Timeline timeline = made_timeline(12);
  const Trace trace = test::read_trace(to_trace_json(timeline));
  fail_unless_empty(trace.fault);
  fail_unless_empty(test::frames_fault(trace, numbers(8, 12), stripes, false));
  std::size_t spans = 0;
  for (const FrameTimes& frame : timeline.frames) {
    const int number = static_cast<int>(frame.frame);
    expect_span(trace, "submit", number, -1, frame.submit, "submit");
    expect_span(trace, "wait", number, -1, frame.wait, "wait");
    expect_span(trace, "push", number, -1, frame.push, "push");
    for (const StripeTimes& stripe : frame.stripes) {
      const std::string row = "stream " + std::to_string(stripe.stream);
      expect_span(trace, "upload", number, stripe.stripe, stripe.upload, row);
      expect_span(trace, "kernel", number, stripe.stripe, stripe.kernel, row);
      expect_span(trace, "download", number, stripe.stripe, stripe.download, row);
    }
    fail_unless_equals_int(trace.named("staging", number).size(), frame.staging_in.size());
    spans += 3 + 3 * stripes + frame.staging_in.size();
  }
  fail_unless_equals_uint64(trace.spans.size(), spans);
  const std::set<std::string> rows(trace.rows.begin(), trace.rows.end());
  for (const char* row : {"stream 0", "stream 1", "submit", "wait", "push"})
    fail_unless(rows.contains(row), "no row %s", row);
  fail_unless_equals_int(rows.size(), trace.rows.size());
}
GST_END_TEST;

double number_in(const Trace& trace, const char* name) {
  const test::Json* number = trace.other.find(name, test::Json::Type::number);
  fail_unless(number != nullptr, "no number %s", name);
  return number->number;
}

GST_START_TEST(json_says_what_it_is) {
  Timeline timeline = made_timeline(12);
  const stripe::Overlap overlap = stripe::measure_overlap(timeline.frames);
  Trace trace = test::read_trace(to_trace_json(timeline));
  fail_unless_equals_string(trace.other.find("device")->string.c_str(), timeline.device.c_str());
  fail_unless_equals_string(trace.other.find("settings")->string.c_str(),
                            timeline.settings.c_str());
  fail_unless_equals_int(static_cast<int>(number_in(trace, "warm-up-frames-left-out")), 8);
  fail_unless(!trace.other.find("warming-up")->boolean);
  fail_unless(std::abs(number_in(trace, "overlap") - overlap.overlap) < 0.001);
  fail_unless(std::abs(number_in(trace, "overlap-ceiling") - overlap.ceiling) < 0.001);
  fail_unless(std::abs(number_in(trace, "link-share") - overlap.link_share) < 0.001);
  timeline.warming_up = true;
  trace = test::read_trace(to_trace_json(timeline));
  fail_unless(trace.other.find("warming-up")->boolean);
}
GST_END_TEST;

// Both threads stage at the same time, from two frames in flight on.
GST_START_TEST(json_of_both_sides_staged) {
  Timeline timeline = made_timeline(6);
  for (FrameTimes& frame : timeline.frames) {
    // While the next frame is staged in, this one is staged out; the one ends within the other.
    const Time next = frame.submit.begin + 5000;
    frame.wait = {next - 50, next + 150};
    frame.staging_in = {{frame.submit.begin + 10, frame.submit.begin + 900}};
    frame.staging_out = {{next - 20, next + 150}};
    frame.push = {next + 150, next + 160};
  }
  const Trace trace = test::read_trace(to_trace_json(timeline));
  fail_unless_empty(trace.fault);
}
GST_END_TEST;

GST_START_TEST(mapped_frames_have_kernels_alone) {
  const Timeline timeline = made_timeline(4, true);
  const Trace trace = test::read_trace(to_trace_json(timeline));
  fail_unless_empty(trace.fault);
  fail_unless_empty(test::frames_fault(trace, numbers(8, 4), stripes, true));
  const Svg svg = test::read_svg(to_svg(timeline));
  fail_unless_empty(svg.fault);
  fail_unless(svg.says("Mapped") && svg.says("link used"));
}
GST_END_TEST;

// --- SVG

/// The bars: each says in a title what it is.
struct Bar {
  std::string what;
  test::SvgElement rect;
};

std::vector<Bar> bars_of(const Svg& svg) {
  std::vector<Bar> bars;
  for (std::size_t i = 0; i + 1 < svg.elements.size(); ++i)
    if (svg.elements[i].name == "rect" && svg.elements[i + 1].name == "title")
      bars.push_back({svg.elements[i + 1].text, svg.elements[i]});
  return bars;
}

GST_START_TEST(svg_stands_on_its_own) {
  const std::string text = to_svg(made_timeline(12));
  const Svg svg = test::read_svg(text);
  fail_unless_empty(svg.fault);
  fail_unless_equals_string(svg.elements[0].name.c_str(), "svg");
  fail_unless_equals_string(svg.elements[0].attributes.at("xmlns").c_str(),
                            "http://www.w3.org/2000/svg");
  for (const char* foreign : {"href", "url(", "<script", "<style", "<image", "@import"})
    fail_unless(text.find(foreign) == std::string::npos, "%s", foreign);
}
GST_END_TEST;

GST_START_TEST(svg_says_overlap_and_share) {
  Timeline timeline = made_timeline(12);
  const stripe::Overlap overlap = stripe::measure_overlap(timeline.frames);
  Svg svg = test::read_svg(to_svg(timeline));
  fail_unless(svg.says("Overlap " + stripe::to_text(overlap.overlap, 2) + " of at most " +
                       stripe::to_text(overlap.ceiling, 2)));
  fail_unless(svg.says("link used " + stripe::to_text(100 * overlap.link_share, 0) + " %"));
  for (const char* words : {"stream 0", "stream 1", "submit", "staging", "wait", "push",
                            "microseconds", "NVIDIA H200", "1920x1080", "12 frames"})
    fail_unless(svg.says(words), "%s", words);
  fail_unless(svg.says("after 8 that warmed up"));
  timeline.warming_up = true;
  svg = test::read_svg(to_svg(timeline));
  fail_unless(svg.says("only just begun") && !svg.says("warmed up"));
}
GST_END_TEST;

GST_START_TEST(svg_draws_all_to_scale) {
  const Timeline timeline = made_timeline(12);
  const Svg svg = test::read_svg(to_svg(timeline));
  const std::vector<Bar> bars = bars_of(svg);
  fail_unless_equals_uint64(bars.size(), 12 * (3 + 3 * stripes + 2));
  const double width = svg.elements[0].number("width");
  const double height = svg.elements[0].number("height");
  const auto find = [&](const std::string& what) {
    for (const Bar& bar : bars)
      if (bar.what.rfind(what, 0) == 0) return bar.rect;
    fail_unless(false, "no bar of %s", what.c_str());
    return test::SvgElement{};
  };
  for (const Bar& bar : bars) {
    const double right = bar.rect.number("x") + bar.rect.number("width");
    fail_unless(bar.rect.number("x") > 0 && right < width, "%s", bar.what.c_str());
    fail_unless(bar.rect.number("y") + bar.rect.number("height") < height);
  }
  // 5 us from one submit to the next, wherever on the axis.
  const double apart = (find("frame 19: submit").number("x") - find("frame 8: submit").number("x"));
  const double near = find("frame 9: submit").number("x") - find("frame 8: submit").number("x");
  fail_unless(std::abs(apart / 11 - near) < 0.2, "%g %g", apart, near);
  // A row for each stream.
  std::map<double, std::set<int>> rows;
  for (const FrameTimes& frame : timeline.frames)
    for (const StripeTimes& stripe : frame.stripes)
      rows[find("frame " + std::to_string(frame.frame) + ", stripe " +
                std::to_string(stripe.stripe) + ": kernel")
               .number("y")]
          .insert(stripe.stream);
  fail_unless_equals_int(rows.size(), streams);
  for (const auto& [y, of_row] : rows) fail_unless_equals_int(of_row.size(), 1);
}
GST_END_TEST;

// A colour a frame, which its neighbours don't have; a shade a kind.
GST_START_TEST(svg_colours) {
  std::map<int, std::set<std::string>> fills;
  for (const Bar& bar : bars_of(test::read_svg(to_svg(made_timeline(8)))))
    if (bar.what.find("stripe") != std::string::npos)
      fills[std::atoi(bar.what.c_str() + 6)].insert(bar.rect.attributes.at("fill"));
  fail_unless_equals_int(fills.size(), 8);
  for (const auto& [frame, of_frame] : fills) {
    fail_unless_equals_int(of_frame.size(), 3);
    for (int other = frame + 1; other < frame + 6 && fills.contains(other); ++other)
      for (const std::string& fill : of_frame) fail_unless(!fills[other].contains(fill));
  }
}
GST_END_TEST;

// --- both

GST_START_TEST(any_names) {
  Timeline timeline = made_timeline(2);
  for (const char* name : {"a \"quoted\" \\ 'name'", "<b>&amp;&</b>", "two\nlines\tand\r\x01", "",
                           "]]>", "f\xc3\xbcr \xe2\x82\xac", "%s%n{}"}) {
    timeline.device = timeline.settings = name;
    const Trace trace = test::read_trace(to_trace_json(timeline));
    fail_unless(trace.fault.empty(), "%s: %s", name, trace.fault.c_str());
    fail_unless_equals_string(trace.other.find("device")->string.c_str(), name);
    fail_unless_equals_string(trace.other.find("settings")->string.c_str(), name);
    const Svg svg = test::read_svg(to_svg(timeline));
    fail_unless(svg.fault.empty(), "%s: %s", name, svg.fault.c_str());
    if (std::string(name).find('\n') == std::string::npos) fail_unless(svg.says(name), "%s", name);
  }
}
GST_END_TEST;

GST_START_TEST(no_frames_or_one) {
  for (int frames = 0; frames < 2; ++frames)
    for (const bool mapped : {false, true}) {
      const Timeline timeline = made_timeline(frames, mapped);
      const Trace trace = test::read_trace(to_trace_json(timeline));
      fail_unless_empty(trace.fault);
      fail_unless_equals_int(trace.frames().size(), frames);
      fail_unless_empty(test::read_svg(to_svg(timeline)).fault);
    }
}
GST_END_TEST;

GST_START_TEST(in_any_locale) {
  const Timeline timeline = made_timeline(12);
  const std::string json = to_trace_json(timeline);
  const std::string svg = to_svg(timeline);
  if (!test::use_comma_locale()) return;
  const std::string german_json = to_trace_json(timeline);
  const std::string german_svg = to_svg(timeline);
  std::setlocale(LC_ALL, "C");
  fail_unless(german_json == json && german_svg == svg);
}
GST_END_TEST;

Suite* timeline_suite() {
  Suite* suite = suite_create("timeline");
  TCase* cases = tcase_create("timeline");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, frames_after_the_warm_up);
  tcase_add_test(cases, frames_that_never_came);
  tcase_add_test(cases, json_says_all_to_the_nanosecond);
  tcase_add_test(cases, json_says_what_it_is);
  tcase_add_test(cases, json_of_both_sides_staged);
  tcase_add_test(cases, mapped_frames_have_kernels_alone);
  tcase_add_test(cases, svg_stands_on_its_own);
  tcase_add_test(cases, svg_says_overlap_and_share);
  tcase_add_test(cases, svg_draws_all_to_scale);
  tcase_add_test(cases, svg_colours);
  tcase_add_test(cases, any_names);
  tcase_add_test(cases, no_frames_or_one);
  tcase_add_test(cases, in_any_locale);
  return suite;
}

}  // namespace

LIBRARY_CHECK_MAIN(timeline)
