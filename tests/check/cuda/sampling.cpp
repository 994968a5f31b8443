// SPDX-License-Identifier: LGPL-2.1-or-later
// Which frames are sampled, and what is made of their times.

#include "cuda/sampling.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include "support/library_main.h"
#include "support/made_times.h"

using stripe::FrameTimes;
using stripe::Overlap;
using stripe::Sampling;
using stripe::SlidingWindow;
using stripe::Summary;
using stripe::Time;
using test::Random;

namespace {

void expect_near(const char* what, double got, double expected) {
  fail_unless(std::abs(got - expected) <= 1e-9 * std::max(1.0, std::abs(expected)),
              "%s is %g instead of %g", what, got, expected);
}

// --- which frames

/// Runs begun every `interval` frames, or one after another where they would overlap.
std::vector<bool> wanted(int depth, unsigned interval, std::size_t frames) {
  std::vector<bool> out(frames, false);
  if (interval == 0) return out;
  const std::size_t length = static_cast<std::size_t>(depth) + 2;
  for (std::size_t begin = 2 * static_cast<std::size_t>(depth) + 2; begin < frames;
       begin += std::max<std::size_t>(interval, length))
    for (std::size_t i = begin; i < std::min(begin + length, frames); ++i) out[i] = true;
  return out;
}

GST_START_TEST(frames_that_are_wanted) {
  for (int depth = 1; depth <= 16; ++depth)
    for (const unsigned interval : {0u, 1u, 2u, 3u, 4u, 5u, 7u, 18u, 64u, 100u, 1000u, ~0u}) {
      const Sampling sampling(depth, interval);
      const std::vector<bool> expected = wanted(depth, interval, 2200);
      for (std::size_t i = 0; i < expected.size(); ++i)
        fail_unless(sampling.wants(i) == expected[i], "depth %d, interval %u, frame %zu", depth,
                    interval, i);
    }
}
GST_END_TEST;

// --- sliding window

/// The least value that at least so many of the values are not above.
double nearest_rank(const std::vector<double>& values, double share) {
  double best = HUGE_VAL;
  for (const double candidate : values) {
    const auto below = std::count_if(values.begin(), values.end(),
                                     [&](double value) { return value <= candidate; });
    if (static_cast<double>(below) >= share * static_cast<double>(values.size()))
      best = std::min(best, candidate);
  }
  return best;
}

void expect_summary(const Summary& got, const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  expect_near("mean", got.mean, sum / static_cast<double>(values.size()));
  expect_near("p50", got.p50, nearest_rank(values, 0.5));
  expect_near("p99", got.p99, nearest_rank(values, 0.99));
}

GST_START_TEST(last_values_only) {
  Random random(10);
  SlidingWindow window;
  std::vector<double> all;
  for (int i = 0; i < 1700; ++i) {
    // Slowly rising, so that old values would show; with equal ones among them.
    all.push_back(i / 4 + random.between(0, 60));
    window.add(all.back());
    if (i > 40 && i % 97 != 0 && i != 510 && i != 511 && i != 512) continue;
    const std::size_t kept = std::min(all.size(), SlidingWindow::capacity);
    expect_summary(window.summary(), {all.end() - static_cast<std::ptrdiff_t>(kept), all.end()});
  }
  window.clear();
  fail_unless(window.summary().mean == 0 && window.summary().p99 == 0);
  window.add(5);
  expect_summary(window.summary(), {5});
}
GST_END_TEST;

// Cleared when it had begun to go round.
GST_START_TEST(a_window_that_went_round_begins_anew) {
  SlidingWindow window;
  for (int i = 0; i < 700; ++i) window.add(1000);
  window.clear();
  std::vector<double> values;
  for (int i = 0; i < 900; ++i) {
    values.push_back(i);
    window.add(i);
  }
  expect_summary(window.summary(), {values.end() - SlidingWindow::capacity, values.end()});
}
GST_END_TEST;

GST_START_TEST(percentiles_by_hand) {
  SlidingWindow window;
  fail_unless(window.summary().mean == 0 && window.summary().p50 == 0 && window.summary().p99 == 0);
  for (int i = 100; i >= 1; --i) window.add(i);
  expect_near("mean", window.summary().mean, 50.5);
  expect_near("p50", window.summary().p50, 50);
  expect_near("p99", window.summary().p99, 99);
}
GST_END_TEST;

// --- samples

FrameTimes frame_of(std::uint64_t number, Random& random) {
  FrameTimes frame =
      test::made_frame_at(number, static_cast<Time>(number) * 100, random.between(1, 90));
  frame.submit = {static_cast<Time>(number) * 100 - 50, static_cast<Time>(number) * 100};
  frame.complete += random.between(0, 500);
  return frame;
}

bool same(const Overlap& a, const Overlap& b) {
  return a.window == b.window && a.upload == b.upload && a.kernel == b.kernel &&
         a.download == b.download && a.overlap == b.overlap && a.ceiling == b.ceiling &&
         a.link_share == b.link_share && a.upload_bytes_per_second == b.upload_bytes_per_second &&
         a.download_bytes_per_second == b.download_bytes_per_second;
}

/// What the samples must be, kept the simple way.
struct Reference {
  std::vector<double> submit, upload, kernel, download, wall;
  std::vector<FrameTimes> run;
  Overlap last;

  void add(const FrameTimes& frame) {
    submit.push_back(stripe::microseconds(frame.submit.length()));
    upload.push_back(stripe::microseconds(frame.stripes[0].upload.length()));
    kernel.push_back(stripe::microseconds(frame.stripes[0].kernel.length()));
    download.push_back(stripe::microseconds(frame.stripes[0].download.length()));
    wall.push_back(stripe::microseconds(frame.complete - frame.submit.begin));
    run.push_back(frame);
  }

  void expect(const stripe::SampledTimes& times) const {
    expect_summary(times.submit, submit);
    expect_summary(times.upload, upload);
    expect_summary(times.kernel, kernel);
    expect_summary(times.download, download);
    expect_summary(times.wall, wall);
    fail_unless(same(times.overlap, last));
  }
};

GST_START_TEST(samples) {
  Random random(11);
  for (const auto& [depth, interval] : {std::pair{1, 9u}, {3, 64u}, {4, 1u}, {2, 4u}}) {
    Sampling sampling(depth, interval);
    Reference reference;
    for (std::uint64_t i = 0; i < 200; ++i) {
      const FrameTimes frame = frame_of(i, random);
      const std::optional<Overlap> overlap = sampling.add(frame, i);
      if (!sampling.wants(i)) {
        fail_unless(!overlap, "frame %d completes a sample that it isn't in", static_cast<int>(i));
        continue;
      }
      reference.add(frame);
      const bool complete = reference.run.size() == static_cast<std::size_t>(depth) + 2;
      fail_unless(overlap.has_value() == complete, "frame %d", static_cast<int>(i));
      if (!complete) continue;
      reference.last = stripe::measure_overlap(reference.run);
      reference.run.clear();
      fail_unless(same(*overlap, reference.last));
    }
    reference.expect(sampling.times());
  }
}
GST_END_TEST;

// A sample with a hole is none; what its frames took counts all the same, and the next one is whole.
GST_START_TEST(a_dropped_frame) {
  Random random(12);
  constexpr int depth = 3;
  for (std::uint64_t dropped = 8; dropped < 13; ++dropped) {
    Sampling sampling(depth, 10);
    int complete = 0;
    Reference reference;
    for (std::uint64_t i = 0; i < 23; ++i) {
      if (i == dropped) continue;
      const FrameTimes frame = frame_of(i, random);
      const bool completes = sampling.add(frame, i).has_value();
      fail_unless(completes == (i == 22), "frame %d without %d", static_cast<int>(i),
                  static_cast<int>(dropped));
      complete += completes;
      if (!sampling.wants(i)) continue;
      reference.add(frame);
      if (i < 18) reference.run.clear();
    }
    fail_unless_equals_int(complete, 1);
    reference.last = stripe::measure_overlap(reference.run);
    reference.expect(sampling.times());
  }
}
GST_END_TEST;

// Wholly lost: the next run begins where the lost one stopped being one.
GST_START_TEST(the_end_of_a_run_is_dropped) {
  Random random(13);
  Sampling sampling(1, 5);
  for (std::uint64_t i = 0; i < 6; ++i) sampling.add(frame_of(i, random), i);
  // Frame 6 would complete the run of 4, 5, 6.
  for (std::uint64_t i = 9; i < 11; ++i) fail_unless(!sampling.add(frame_of(i, random), i));
  fail_unless(sampling.add(frame_of(11, random), 11).has_value());
}
GST_END_TEST;

void expect_zeros(const stripe::SampledTimes& times) {
  for (const Summary& summary :
       {times.submit, times.upload, times.kernel, times.download, times.wall})
    fail_unless(summary.mean == 0 && summary.p50 == 0 && summary.p99 == 0);
  fail_unless(same(times.overlap, {}));
}

GST_START_TEST(reset_forgets_all) {
  Random random(14);
  Sampling sampling(1, 3);
  expect_zeros(sampling.times());
  for (std::uint64_t i = 0; i < 9; ++i) sampling.add(frame_of(i, random), i);  // in mid-run
  fail_unless(sampling.times().wall.mean > 0 && sampling.times().overlap.window > 0);
  sampling.reset();
  expect_zeros(sampling.times());
  // The rest of the run that was begun before is no run.
  fail_unless(!sampling.add(frame_of(9, random), 9));
  fail_unless(same(sampling.times().overlap, {}));
}
GST_END_TEST;

GST_START_TEST(interval_0_samples_nothing) {
  Random random(15);
  Sampling sampling(2, 0);
  for (std::uint64_t i = 0; i < 300; ++i) fail_unless(!sampling.add(frame_of(i, random), i));
  expect_zeros(sampling.times());
}
GST_END_TEST;

// Stripes that run beside each other take the frame no longer than one of them.
GST_START_TEST(times_of_a_frame_are_unions) {
  Sampling sampling(1, 3);
  FrameTimes frame = test::made_frame(4, {1000, 4000}, {4000, 5000}, {5000, 9000});
  frame.stripes.push_back({1, 1, {2000, 6000}, {6000, 6500}, {6500, 9500}});
  sampling.add(frame, 4);
  expect_near("upload", sampling.times().upload.mean, 5);
  expect_near("kernel", sampling.times().kernel.mean, 1.5);
  expect_near("download", sampling.times().download.mean, 4.5);
}
GST_END_TEST;

// stats are read while frames run.
GST_START_TEST(times_from_another_thread) {
  Random random(16);
  Sampling sampling(1, 3);
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop)
      if (sampling.times().wall.mean < 0) std::abort();
  });
  for (std::uint64_t i = 0; i < 2000; ++i) {
    if (sampling.wants(i)) sampling.add(frame_of(i, random), i);
    if (i % 500 == 499) sampling.reset();
  }
  stop = true;
  reader.join();
}
GST_END_TEST;

Suite* sampling_suite() {
  Suite* suite = suite_create("sampling");
  TCase* cases = tcase_create("sampling");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, frames_that_are_wanted);
  tcase_add_test(cases, last_values_only);
  tcase_add_test(cases, a_window_that_went_round_begins_anew);
  tcase_add_test(cases, percentiles_by_hand);
  tcase_add_test(cases, samples);
  tcase_add_test(cases, a_dropped_frame);
  tcase_add_test(cases, the_end_of_a_run_is_dropped);
  tcase_add_test(cases, reset_forgets_all);
  tcase_add_test(cases, interval_0_samples_nothing);
  tcase_add_test(cases, times_of_a_frame_are_unions);
  tcase_add_test(cases, times_from_another_thread);
  return suite;
}

}  // namespace

LIBRARY_CHECK_MAIN(sampling)
