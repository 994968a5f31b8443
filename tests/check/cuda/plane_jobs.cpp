// SPDX-License-Identifier: LGPL-2.1-or-later

// An operation as matrices on the bytes of planes: worked out by a plain loop they must give what
// the formula on components gives, and be of the simplest kind that does.

#include "cuda/plane_jobs.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "support/kernel_trial.h"
#include "support/library_main.h"

using stripe::ByteMap;
using stripe::PlaneJob;
using stripe::PlaneJobs;
using stripe::RowsJob;
using test::Bytes;
using test::Format;
using test::format_named;
using test::KernelTrial;
using test::Matrix;
using test::Random;

namespace {

constexpr std::int64_t one = 65536;

/// Byte i of what the map makes of a pixel; a diagonal has nothing but its diagonal.
std::uint8_t mapped(const ByteMap& map, const std::uint8_t* pixel, int i) {
  if (map.kind == ByteMap::Kind::copy) return pixel[i];
  std::int64_t sum = map.offset[i] + one / 2;
  for (int k = 0; k < map.period; ++k)
    if (map.kind == ByteMap::Kind::matrix || k == i)
      sum += std::int64_t{map.coefficient[i][k]} * pixel[k];
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(sum >> 16, 0, 255));
}

void run(const PlaneJob& job) {
  const RowsJob& rows = job.rows;
  const int period = job.map.period;
  for (unsigned long long y = 0; y < rows.rows; ++y)
    for (unsigned long long x = 0; x < rows.pixels; ++x)
      for (int i = 0; i < period; ++i) {
        const auto row = static_cast<long long>(y);
        const std::uint8_t* const pixel = rows.from + row * rows.from_pitch_bytes + x * period;
        rows.to[row * rows.to_pitch_bytes + static_cast<long long>(x) * period + i] =
            mapped(job.map, pixel, i);
      }
}

/// The output's block after all planes.
Bytes run_all(const KernelTrial& trial, const stripe::Operation& operation) {
  Bytes in = trial.input_block();
  Bytes out = trial.output_block();
  const PlaneJobs planes =
      make_plane_jobs(operation, trial.job(test::as_bytes(in.data()), test::as_bytes(out.data())));
  for (int i = 0; i < planes.count; ++i) run(planes.jobs[i]);
  return out;
}

/// A whole picture of 8x6 pixels whose rows are `padding` bytes apart, which nobody reads or
/// writes.
PlaneJobs jobs_of(const Format& format, const stripe::Operation& operation, int padding = 0,
                  const stripe::Rect& area = {0, 0, 8, 6}) {
  stripe::KernelJob job{test::layout_of(format), {}, {}, area};
  static Bytes bytes(4096);
  for (int i = 0; i < format.planes; ++i) {
    const std::ptrdiff_t pitch = test::row_bytes(format, i, 8) + padding;
    job.input.planes[i] = {test::as_bytes(bytes.data()), pitch};
    job.output.planes[i] = {test::as_bytes(bytes.data()) + 2048, pitch};
  }
  return make_plane_jobs(operation, job);
}

Matrix identity() { return {{{one, 0, 0, 0}, {0, one, 0, 0}, {0, 0, one, 0}}}; }

/// v -> 200 - v on all components.
Matrix mirror() {
  return {{{-one, 0, 0, 200 * one}, {0, -one, 0, 200 * one}, {0, 0, -one, 200 * one}}};
}

/// The identity but that component a takes half of component b.
Matrix mixing(int a, int b) {
  Matrix matrix = identity();
  matrix[a][b] = one / 2;
  return matrix;
}

PlaneJobs jobs_of(const char* format, const Matrix& matrix) {
  return jobs_of(format_named(format), test::operation_of(matrix));
}

/// Fails unless each plane's map is of this kind and period.
void expect_maps(const PlaneJobs& planes, int count, ByteMap::Kind kind, int period) {
  fail_unless_equals_int(planes.count, count);
  for (int i = 0; i < count; ++i)
    fail_unless(planes.jobs[i].map.kind == kind && planes.jobs[i].map.period == period,
                "plane %d is of kind %d and period %d, not %d and %d", i,
                static_cast<int>(planes.jobs[i].map.kind), planes.jobs[i].map.period,
                static_cast<int>(kind), period);
}

}  // namespace

GST_START_TEST(maps_follow_the_formula) {
  const Format& format = test::formats[__i__];
  Random random(__i__);
  for (int repeat = 0; repeat < 300; ++repeat) {
    const Matrix matrices[] = {test::random_uniform(random), test::random_diagonal(random),
                               test::random_matrix(random, format)};
    Matrix matrix = random.pick(matrices);
    // Chroma in planes of its own may not mix: that is for the other kernel.
    if (format.planes == 3) matrix[1][2] = matrix[2][1] = 0;
    KernelTrial trial(format, random.between(1, 40), random.between(1, 20),
                      random_geometry(random, true), random_geometry(random, true), random);
    fail_unless_empty(trial.verdict(run_all(trial, test::operation_of(matrix)), matrix));
  }
}
GST_END_TEST;

GST_START_TEST(copies_copy) {
  const Format& format = test::formats[__i__];
  Random random(100 + __i__);
  for (int repeat = 0; repeat < 100; ++repeat) {
    KernelTrial trial(format, random.between(1, 40), random.between(1, 20),
                      random_geometry(random, true), random_geometry(random, true), random);
    fail_unless_empty(trial.verdict(run_all(trial, {}), test::Effect::none, test::bt709_full));
  }
  expect_maps(jobs_of(format, {}), format.planes, ByteMap::Kind::copy, 1);
}
GST_END_TEST;

GST_START_TEST(components_of_different_planes_cannot_mix) {
  for (const auto& [a, b] : {std::pair{1, 2}, std::pair{2, 1}}) {
    fail_unless_equals_int(jobs_of("I420", mixing(a, b)).count, 0);
    fail_unless_equals_int(jobs_of("NV12", mixing(a, b)).count, 2);
    fail_unless_equals_int(jobs_of("RGB", mixing(a, b)).count, 1);
  }
  for (const auto& [a, b] : {std::pair{0, 1}, std::pair{2, 0}})
    for (const char* format : {"I420", "NV12"})
      fail_unless_equals_int(jobs_of(format, mixing(a, b)).count, 0);
}
GST_END_TEST;

GST_START_TEST(bytes_that_are_treated_alike_are_pixels_of_their_own) {
  using Kind = ByteMap::Kind;
  for (const char* format : {"GRAY8", "RGB", "BGR"})
    expect_maps(jobs_of(format, mirror()), 1, Kind::diagonal, 1);
  expect_maps(jobs_of("NV12", mirror()), 2, Kind::diagonal, 1);
  expect_maps(jobs_of("I420", mirror()), 3, Kind::diagonal, 1);
  // The byte that is no colour keeps its value.
  for (const char* format : {"RGBx", "xBGR", "ARGB"})
    expect_maps(jobs_of(format, mirror()), 1, Kind::diagonal, 4);
  expect_maps(jobs_of("RGBA", identity()), 1, Kind::diagonal, 1);
}
GST_END_TEST;

GST_START_TEST(others_have_the_period_of_their_pixels) {
  using Kind = ByteMap::Kind;
  Matrix matrix = mirror();
  matrix[2][3] += one;  // an offset alone makes the difference
  expect_maps(jobs_of("RGB", matrix), 1, Kind::diagonal, 3);
  expect_maps(jobs_of("BGRx", matrix), 1, Kind::diagonal, 4);
  const PlaneJobs nv12 = jobs_of("NV12", matrix);
  fail_unless_equals_int(nv12.jobs[0].map.period, 1);
  fail_unless_equals_int(nv12.jobs[1].map.period, 2);
  matrix = mirror();
  matrix[1][1] += 1;  // and so does a coefficient
  expect_maps(jobs_of("RGB", matrix), 1, Kind::diagonal, 3);
  expect_maps(jobs_of("BGR", mixing(2, 0)), 1, Kind::matrix, 3);
  expect_maps(jobs_of("ARGB", mixing(0, 1)), 1, Kind::matrix, 4);
  fail_unless(jobs_of("NV12", mixing(1, 2)).jobs[1].map.kind == Kind::matrix);
  fail_unless(jobs_of("NV12", mixing(1, 2)).jobs[0].map.kind == Kind::diagonal);
}
GST_END_TEST;

GST_START_TEST(rows_without_gaps_are_one) {
  const Format& format = test::formats[__i__];
  const stripe::Operation operations[] = {{}, test::operation_of(mirror())};
  for (const stripe::Operation& operation : operations)
    for (int plane = 0; plane < format.planes; ++plane) {
      const auto bytes = static_cast<unsigned long long>(test::row_bytes(format, plane, 8));
      const auto rows = static_cast<unsigned long long>(test::row_count(format, plane, 6));
      const PlaneJob tight = jobs_of(format, operation).jobs[plane];
      fail_unless_equals_uint64(tight.rows.rows, 1);
      fail_unless_equals_uint64(tight.rows.pixels * tight.map.period, bytes * rows);
      const PlaneJob apart = jobs_of(format, operation, 1).jobs[plane];
      fail_unless_equals_uint64(apart.rows.rows, rows);
      fail_unless_equals_uint64(apart.rows.pixels * apart.map.period, bytes);
      fail_unless_equals_int64(apart.rows.from_pitch_bytes, bytes + 1);
      fail_unless_equals_int64(apart.rows.to_pitch_bytes, bytes + 1);
      // Of a part the rows end before the next ones begin, whatever the padding.
      const PlaneJob part = jobs_of(format, operation, 0, {0, 0, 4, 6}).jobs[plane];
      fail_unless_equals_uint64(part.rows.rows, rows);
      fail_unless_equals_uint64(part.rows.pixels * part.map.period, bytes / 2);
    }
}
GST_END_TEST;

static Suite* plane_jobs_suite() {
  Suite* suite = suite_create("plane-jobs");
  TCase* cases = tcase_create("plane-jobs");
  suite_add_tcase(suite, cases);
  tcase_set_timeout(cases, 60);
  tcase_add_loop_test(cases, maps_follow_the_formula, 0, test::format_count);
  tcase_add_loop_test(cases, copies_copy, 0, test::format_count);
  tcase_add_test(cases, components_of_different_planes_cannot_mix);
  tcase_add_test(cases, bytes_that_are_treated_alike_are_pixels_of_their_own);
  tcase_add_test(cases, others_have_the_period_of_their_pixels);
  tcase_add_loop_test(cases, rows_without_gaps_are_one, 0, test::format_count);
  return suite;
}

LIBRARY_CHECK_MAIN(plane_jobs)
