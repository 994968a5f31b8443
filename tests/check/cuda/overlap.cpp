// SPDX-License-Identifier: LGPL-2.1-or-later
// Overlap against timelines of which it is known, and against a count of each nanosecond.

#include "cuda/overlap.h"

#include <algorithm>
#include <cmath>

#include "support/library_main.h"
#include "support/made_times.h"

using stripe::FrameTimes;
using stripe::Overlap;
using stripe::Span;
using stripe::StripeTimes;
using stripe::Time;
using test::made_frame;
using test::Random;

namespace {

using Kind = Span StripeTimes::*;

bool holds(const Span& span, Time t) { return span.begin <= t && t < span.end; }

Time counted_union(const std::vector<Span>& spans, const Span& window) {
  Time sum = 0;
  for (Time t = window.begin; t < window.end; ++t)
    sum += std::any_of(spans.begin(), spans.end(), [&](const Span& s) { return holds(s, t); });
  return sum;
}

GST_START_TEST(unions_by_counting) {
  Random random(1);
  for (int round = 0; round < 3000; ++round) {
    std::vector<Span> spans(static_cast<std::size_t>(random.between(0, 9)));
    for (Span& span : spans) span = test::random_span(random, -40, 40);
    const Span window = test::random_span(random, -50, 50);
    const Time expected = counted_union(spans, window);
    const Time got = stripe::union_length(spans, window);
    fail_unless(got == expected, "round %d: %lld instead of %lld", round,
                static_cast<long long>(got), static_cast<long long>(expected));
  }
}
GST_END_TEST;

GST_START_TEST(unions_by_hand) {
  constexpr Span all = {0, 100};
  fail_unless(stripe::union_length({}, all) == 0);
  fail_unless(stripe::union_length({{10, 20}}, all) == 10);
  fail_unless(stripe::union_length({{10, 20}, {10, 20}}, all) == 10);
  fail_unless(stripe::union_length({{10, 30}, {15, 20}, {29, 40}}, all) == 30);
  fail_unless(stripe::union_length({{50, 60}, {10, 20}}, all) == 20);
  fail_unless(stripe::union_length({{10, 20}, {20, 30}}, all) == 20);
  fail_unless(stripe::union_length({{-10, 5}, {95, 200}}, all) == 10);
  fail_unless(stripe::union_length({{10, 20}}, {15, 15}) == 0);
}
GST_END_TEST;

/// One nanosecond after the other, from the definition.
struct Counted {
  double window = 0, upload = 0, kernel = 0, download = 0, up_bytes = 0, down_bytes = 0;
};

Span window_by_definition(const std::vector<FrameTimes>& frames) {
  constexpr Time never = 1000;
  Time first_download = never, last_upload = -never, first = never, last = -never;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    for (const StripeTimes& stripe : frames[i].stripes) {
      for (const Span& span : {stripe.upload, stripe.kernel, stripe.download}) {
        if (span.length() == 0) continue;
        first = std::min(first, span.begin);
        last = std::max(last, span.end);
      }
      if (i == 0 && stripe.download.length() > 0)
        first_download = std::min(first_download, stripe.download.begin);
      if (i + 1 == frames.size() && stripe.upload.length() > 0)
        last_upload = std::max(last_upload, stripe.upload.end);
    }
  }
  const bool inner = frames.size() > 1 && first_download < last_upload;
  if (inner) return {first_download, last_upload};
  return first < last ? Span{first, last} : Span{};
}

double bytes_by_the_nanosecond(const FrameTimes& frame, Kind kind, std::uint64_t bytes,
                               const Span& window) {
  double inside = 0, all = 0;
  for (const StripeTimes& stripe : frame.stripes)
    for (Time t = (stripe.*kind).begin; t < (stripe.*kind).end; ++t) {
      ++all;
      inside += holds(window, t);
    }
  return all > 0 ? static_cast<double>(bytes) * inside / all : 0;
}

Counted count(const std::vector<FrameTimes>& frames) {
  Counted out;
  const Span window = window_by_definition(frames);
  out.window = static_cast<double>(window.length());
  const auto busy = [&](Kind kind) {
    std::vector<Span> spans;
    for (const FrameTimes& frame : frames)
      for (const StripeTimes& stripe : frame.stripes) spans.push_back(stripe.*kind);
    return static_cast<double>(counted_union(spans, window));
  };
  out.upload = busy(&StripeTimes::upload);
  out.kernel = busy(&StripeTimes::kernel);
  out.download = busy(&StripeTimes::download);
  for (const FrameTimes& frame : frames) {
    out.up_bytes +=
        bytes_by_the_nanosecond(frame, &StripeTimes::upload, frame.bytes_uploaded, window);
    out.down_bytes +=
        bytes_by_the_nanosecond(frame, &StripeTimes::download, frame.bytes_downloaded, window);
  }
  return out;
}

void expect_near(const char* what, double got, double expected) {
  fail_unless(std::abs(got - expected) <= 1e-9 * std::max(1.0, std::abs(expected)),
              "%s is %g instead of %g", what, got, expected);
}

void expect_counted(const Overlap& got, const Counted& counted) {
  expect_near("window", got.window, counted.window / 1e3);
  expect_near("upload", got.upload, counted.upload / 1e3);
  expect_near("kernel", got.kernel, counted.kernel / 1e3);
  expect_near("download", got.download, counted.download / 1e3);
  if (counted.window == 0) return;
  const double sum = counted.upload + counted.kernel + counted.download;
  expect_near("overlap", got.overlap, sum / counted.window);
  expect_near("ceiling", got.ceiling,
              sum / std::max({counted.upload, counted.kernel, counted.download}));
  expect_near("link share", got.link_share,
              (counted.upload + counted.download) / (2 * counted.window));
  const double seconds = counted.window / 1e9;
  expect_near("upload rate", got.upload_bytes_per_second, counted.up_bytes / seconds);
  expect_near("download rate", got.download_bytes_per_second, counted.down_bytes / seconds);
}

GST_START_TEST(overlap_by_counting) {
  Random random(2);
  for (int round = 0; round < 1000; ++round) {
    std::vector<FrameTimes> frames;
    const int count_of_frames = random.between(1, 5);
    for (int i = 0; i < count_of_frames; ++i)
      frames.push_back(test::random_frame(static_cast<std::uint64_t>(i), random));
    expect_counted(stripe::measure_overlap(frames), count(frames));
  }
}
GST_END_TEST;

/// Six frames, one piece of work after another in each, and a new frame each `apart` ns.
std::vector<FrameTimes> row_of_frames(Time length, Time apart) {
  std::vector<FrameTimes> frames;
  for (int i = 0; i < 6; ++i)
    frames.push_back(test::made_frame_at(static_cast<std::uint64_t>(i), 500 + i * apart, length));
  return frames;
}

GST_START_TEST(all_three_at_once) {
  const Overlap overlap = stripe::measure_overlap(row_of_frames(10, 10));
  expect_near("overlap", overlap.overlap, 3);
  expect_near("ceiling", overlap.ceiling, 3);
  expect_near("link share", overlap.link_share, 1);
  // 1000 bytes in each 10 ns.
  expect_near("rate", overlap.upload_bytes_per_second, 1e11);
  expect_near("rate", overlap.download_bytes_per_second, 1e11);
}
GST_END_TEST;

GST_START_TEST(both_ways_at_once) {
  std::vector<FrameTimes> frames;
  for (int i = 0; i < 6; ++i) {
    const Time t = 10 * i;
    frames.push_back(
        made_frame(static_cast<std::uint64_t>(i), {t, t + 10}, {t + 10, t + 10}, {t + 10, t + 20}));
  }
  const Overlap overlap = stripe::measure_overlap(frames);
  expect_near("window", overlap.window, 0.05);
  expect_near("overlap", overlap.overlap, 2);
  expect_near("ceiling", overlap.ceiling, 2);
  expect_near("link share", overlap.link_share, 1);
}
GST_END_TEST;

GST_START_TEST(one_after_another) {
  const Overlap overlap = stripe::measure_overlap(row_of_frames(10, 30));
  expect_near("overlap", overlap.overlap, 1);
  // From the first download on: six downloads but the last, five uploads and four whole kernels.
  expect_near("upload", overlap.upload, 0.05);
  expect_near("kernel", overlap.kernel, 0.04);
  expect_near("download", overlap.download, 0.05);
  expect_near("ceiling", overlap.ceiling, 2.8);
}
GST_END_TEST;

// Pauses in which nothing runs count against it.
GST_START_TEST(with_pauses) {
  const Overlap overlap = stripe::measure_overlap(row_of_frames(10, 60));
  fail_unless(overlap.overlap < 0.6, "%g", overlap.overlap);
  fail_unless(overlap.link_share < 0.3, "%g", overlap.link_share);
}
GST_END_TEST;

// Stripes that run beside each other are one piece of work: the link carries one at a time.
GST_START_TEST(stripes_of_one_kind_count_once) {
  FrameTimes frame = made_frame(0, {0, 10}, {10, 20}, {20, 30});
  frame.stripes.push_back({1, 1, {0, 10}, {10, 20}, {20, 30}});
  const Overlap overlap = stripe::measure_overlap(std::vector{frame});
  expect_near("overlap", overlap.overlap, 1);
  expect_near("ceiling", overlap.ceiling, 3);
}
GST_END_TEST;

GST_START_TEST(single_frame) {
  const Overlap overlap =
      stripe::measure_overlap(std::vector{made_frame(7, {100, 120}, {120, 130}, {140, 160})});
  expect_near("window", overlap.window, 0.06);
  expect_near("overlap", overlap.overlap, 50.0 / 60);
  expect_near("ceiling", overlap.ceiling, 2.5);
  expect_near("link share", overlap.link_share, 40.0 / 120);
  expect_near("rate", overlap.upload_bytes_per_second, 1000 / 60e-9);
}
GST_END_TEST;

GST_START_TEST(mapped) {
  std::vector<FrameTimes> frames;
  for (int i = 0; i < 4; ++i) {
    const Time t = 20 * i;
    FrameTimes frame = made_frame(static_cast<std::uint64_t>(i), {t, t}, {t, t + 15}, {t, t});
    frame.transfer = stripe::Transfer::mapped;
    frame.bytes_uploaded = frame.bytes_downloaded = 0;
    frames.push_back(frame);
  }
  const Overlap overlap = stripe::measure_overlap(frames);
  expect_near("window", overlap.window, 0.075);
  expect_near("link share", overlap.link_share, 60.0 / 75);
  for (const double value : {overlap.overlap, overlap.ceiling, overlap.upload_bytes_per_second,
                             overlap.download_bytes_per_second})
    expect_near("of mapped frames", value, 0);
  fail_unless(!stripe::is_kernel_bound(overlap));
}
GST_END_TEST;

void expect_nothing(const std::vector<FrameTimes>& frames) {
  const Overlap overlap = stripe::measure_overlap(frames);
  for (const double value : {overlap.window, overlap.upload, overlap.kernel, overlap.download,
                             overlap.overlap, overlap.ceiling, overlap.link_share,
                             overlap.upload_bytes_per_second, overlap.download_bytes_per_second})
    fail_unless(value == 0, "%g", value);
}

GST_START_TEST(nothing_to_measure) {
  expect_nothing({});
  expect_nothing({FrameTimes{}});
  expect_nothing({FrameTimes{}, FrameTimes{}});
  expect_nothing({made_frame(0, {5, 5}, {5, 5}, {5, 5}), made_frame(1, {9, 9}, {9, 9}, {9, 9})});
}
GST_END_TEST;

GST_START_TEST(kernel_bound) {
  const auto bound = [](Span upload, Span kernel, Span download) {
    return stripe::is_kernel_bound(
        stripe::measure_overlap(std::vector{made_frame(0, upload, kernel, download)}));
  };
  // Beside the copies, which take clearly less, or nearly as long.
  fail_unless(bound({0, 90}, {0, 100}, {0, 90}));
  fail_unless(!bound({0, 95}, {0, 100}, {0, 90}));
  fail_unless(!bound({0, 90}, {0, 100}, {0, 95}));
  fail_unless(!bound({0, 100}, {0, 90}, {0, 90}));
  // One after another: the device is idle while copies run.
  fail_unless(bound({0, 9}, {9, 91}, {91, 100}));
  fail_unless(!bound({0, 11}, {11, 89}, {89, 100}));
  fail_unless(!stripe::is_kernel_bound({}));
}
GST_END_TEST;

Suite* overlap_suite() {
  Suite* suite = suite_create("overlap");
  TCase* cases = tcase_create("overlap");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, unions_by_counting);
  tcase_add_test(cases, unions_by_hand);
  tcase_add_test(cases, overlap_by_counting);
  tcase_add_test(cases, all_three_at_once);
  tcase_add_test(cases, both_ways_at_once);
  tcase_add_test(cases, one_after_another);
  tcase_add_test(cases, with_pauses);
  tcase_add_test(cases, stripes_of_one_kind_count_once);
  tcase_add_test(cases, single_frame);
  tcase_add_test(cases, mapped);
  tcase_add_test(cases, nothing_to_measure);
  tcase_add_test(cases, kernel_bound);
  return suite;
}

}  // namespace

LIBRARY_CHECK_MAIN(overlap)
