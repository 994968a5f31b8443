// SPDX-License-Identifier: LGPL-2.1-or-later

// What every device's kernels must do: the operation on the pixels of the area, and on no other
// byte, for every format, however bases and pitches are aligned.

#include <string>

#include "support/kernel_trial.h"
#include "support/library_main.h"

using test::Bytes;
using test::Format;
using test::KernelTrial;
using test::Matrix;
using test::Random;

namespace {

struct Size {
  int width, height;
};

constexpr Size small_sizes[] = {{1, 1}, {1, 17}, {17, 1}, {3, 5}, {65, 63}, {130, 33}};

/// How both pictures lie in their blocks, and the blocks in device memory: so many bytes off its
/// alignment.
struct Placement {
  test::Geometry input, output;
  int input_shift = 0, output_shift = 0;
};

Placement random_placement(const Format& format, int width, Random& random) {
  if (random.one_in(3)) {
    const test::Geometry aligned = test::aligned_geometry(format, width);
    return {aligned, aligned};
  }
  const int shift = random.between(0, 255);
  return {random_geometry(random, false), random_geometry(random, false), shift, shift / 2};
}

/// Up to 16 bytes off an alignment, in pitches of all sorts, between guards.
test::Geometry geometry_off_alignment(Random& random) {
  test::Geometry geometry;
  for (test::PlaneGeometry& plane : geometry.planes)
    plane = {16 + random.between(0, 16), random.one_in(3) ? 0 : random.between(0, 20),
             random.between(16, 20), random.one_in(4)};
  return geometry;
}

/// Both alike, alike but for multiples of 16 bytes, or however it comes.
Placement placement_off_alignment(Random& random) {
  Placement placement{geometry_off_alignment(random), {}};
  placement.output = placement.input;
  const int way = random.between(1, 3);
  if (way == 1) placement.output = geometry_off_alignment(random);
  if (way == 2)
    for (test::PlaneGeometry& plane : placement.output.planes) {
      plane.before += 16 * random.between(0, 2);
      plane.padding += 16 * random.between(0, 2);
    }
  return placement;
}

/// Rows shorter than what a thread takes at once; more rows, and longer ones, than a small grid has
/// threads for.
Size random_size(Random& random) {
  switch (random.between(1, 4)) {
    case 1:
      return {random.between(1, 20), random.between(1, 9)};
    case 2:
      return {random.between(1, 9), random.between(260, 700)};
    case 3:
      return {random.between(4100, 5500), random.between(1, 3)};
    default:
      return {random.between(60, 160), random.between(60, 160)};
  }
}

std::unique_ptr<stripe::DeviceMemory> upload_shifted(stripe::Device& device, stripe::Queue& queue,
                                                     Bytes block, int shift) {
  block.insert(block.begin(), shift, 0);
  return test::on_device(device, queue, block);
}

/// What is in the output's block when the operation is done.
Bytes run(stripe::Device& device, const KernelTrial& trial, const Placement& placement,
          const stripe::Operation& operation, bool over_link = false) {
  const auto queue = device.create_queue();
  const Bytes before = trial.output_block();
  const auto in = upload_shifted(device, *queue, trial.input_block(), placement.input_shift);
  const auto out = upload_shifted(device, *queue, before, placement.output_shift);
  stripe::KernelJob job =
      trial.job(in->data() + placement.input_shift, out->data() + placement.output_shift);
  job.over_link = over_link;
  queue->launch(operation, job);
  Bytes got = test::download(*queue, *out, before.size() + placement.output_shift);
  got.erase(got.begin(), got.begin() + placement.output_shift);
  return got;
}

/// Copies, or runs a matrix of any kind; what is wrong then.
std::string run_any(stripe::Device& device, KernelTrial& trial, const Placement& placement,
                    const Format& format, bool over_link, Random& random) {
  if (random.one_in(4)) {
    const Bytes got = run(device, trial, placement, {}, over_link);
    return trial.verdict(got, test::Effect::none, test::bt709_full);
  }
  const Matrix matrices[] = {test::random_uniform(random), test::random_diagonal(random),
                             test::random_matrix(random, format)};
  const Matrix& matrix = random.pick(matrices);
  return trial.verdict(run(device, trial, placement, test::operation_of(matrix), over_link),
                       matrix);
}

template <typename Body>
void for_many_trials(const Format& format, std::uint64_t salt, Body body) {
  const auto device = test::open_test_device();
  Random random(salt);
  for (const Size& size : small_sizes)
    for (int repeat = 0; repeat < 12; ++repeat) {
      const Placement placement = random_placement(format, size.width, random);
      KernelTrial trial(format, size.width, size.height, placement.input, placement.output, random);
      body(*device, trial, placement, random);
    }
}

}  // namespace

GST_START_TEST(copy_copies_the_area) {
  const Format& format = test::formats[__i__];
  for_many_trials(
      format, __i__,
      [&](stripe::Device& device, KernelTrial& trial, const Placement& placement, Random&) {
        const Bytes got = run(device, trial, placement, {});
        fail_unless_empty(trial.verdict(got, test::Effect::none, test::bt709_full));
      });
}
GST_END_TEST;

// Matrices beyond those of today's effects too: a row must weigh all three components.
GST_START_TEST(affine_follows_the_formula) {
  const Format& format = test::formats[__i__];
  for_many_trials(
      format, 100 + __i__,
      [&](stripe::Device& device, KernelTrial& trial, const Placement& placement, Random& random) {
        const Matrix matrix = test::random_matrix(random, format);
        const Bytes got = run(device, trial, placement, test::operation_of(matrix));
        fail_unless_empty(trial.verdict(got, matrix));
      });
}
GST_END_TEST;

GST_START_TEST(effects_follow_the_formula) {
  const Format& format = test::formats[__i__];
  for_many_trials(
      format, 200 + __i__,
      [&](stripe::Device& device, KernelTrial& trial, const Placement& placement, Random& random) {
        const test::Effect effect = random.pick(test::effects);
        const test::Colors& colors = random.one_in(2) ? test::bt601_limited : test::bt2020_full;
        const Bytes got = run(device, trial, placement, test::operation_of(effect, format, colors));
        fail_unless_empty(trial.verdict(got, effect, colors));
      });
}
GST_END_TEST;

// Kernels read and write as many bytes at once as alignment allows, and each byte on its own where
// it does not: at both ends of a row, or in all of it.
GST_START_TEST(any_alignment_pitch_and_length) {
  const Format& format = test::formats[__i__];
  const auto device = test::open_test_device();
  Random random(300 + __i__);
  for (int repeat = 0; repeat < 60; ++repeat) {
    const Placement placement = placement_off_alignment(random);
    const Size size = random_size(random);
    KernelTrial trial(format, size.width, size.height, placement.input, placement.output, random);
    fail_unless_empty(run_any(*device, trial, placement, format, random.one_in(2), random));
  }
}
GST_END_TEST;

// Taken together, rows without gaps are longer than all threads of a small grid reach at once.
GST_START_TEST(pictures_without_gaps) {
  const Format& format = test::formats[__i__];
  const auto device = test::open_test_device();
  Random random(400 + __i__);
  for (const int apart : {0, 4, 8, 16}) {
    Placement placement;
    placement.input.planes[0].before = 16 + random.between(0, 16);
    placement.output.planes[0].before = placement.input.planes[0].before + apart;
    KernelTrial trial(format, 460, 400, {0, 0, 460, 400}, placement.input, placement.output,
                      random);
    fail_unless_empty(run_any(*device, trial, placement, format, apart % 8 == 0, random));
  }
}
GST_END_TEST;

static Suite* kernels_suite() {
  Suite* suite = suite_create("kernels");
  TCase* cases = tcase_create(test::backend_name());
  suite_add_tcase(suite, cases);
  tcase_set_timeout(cases, 60);
  tcase_add_loop_test(cases, copy_copies_the_area, 0, test::format_count);
  tcase_add_loop_test(cases, affine_follows_the_formula, 0, test::format_count);
  tcase_add_loop_test(cases, effects_follow_the_formula, 0, test::format_count);
  tcase_add_loop_test(cases, any_alignment_pitch_and_length, 0, test::format_count);
  tcase_add_loop_test(cases, pictures_without_gaps, 0, test::format_count);
  return suite;
}

LIBRARY_CHECK_MAIN(kernels)
