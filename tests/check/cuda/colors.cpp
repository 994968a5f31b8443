// SPDX-License-Identifier: LGPL-2.1-or-later

// Colour settings on the pixels of an area, for every format: against the oracles, and on every
// device to the bit what the CPU makes of the whole area at once.

#include <string>

#include "cuda/host_kernels.h"
#include "support/kernel_trial.h"
#include "support/library_main.h"

using stripe::ColorSettings;
using test::Bytes;
using test::Colors;
using test::Format;
using test::KernelTrial;
using test::Random;

namespace {

struct Size {
  int width, height;
};

constexpr Size sizes[] = {{1, 1}, {1, 17}, {17, 1}, {2, 2}, {3, 5}, {65, 63}, {130, 33}};
constexpr Size large_sizes[] = {{385, 289}, {641, 479}};

constexpr Colors all_colors[] = {test::bt601_limited, test::bt601_full,     test::bt709_limited,
                                 test::bt709_full,    test::bt2020_limited, test::bt2020_full};

/// What is in the output's block when the operation is done on the device.
Bytes run(stripe::Device& device, const KernelTrial& trial, const stripe::Operation& operation) {
  const auto queue = device.create_queue();
  const Bytes before = trial.output_block();
  const auto in = test::on_device(device, *queue, trial.input_block());
  const auto out = test::on_device(device, *queue, before);
  queue->launch(operation, trial.job(in->data(), out->data()));
  return test::download(*queue, *out, before.size());
}

Bytes run_on_cpu(const KernelTrial& trial, const stripe::Operation& operation) {
  Bytes in = trial.input_block(), out = trial.output_block();
  stripe::run_on_host(operation, trial.job(test::as_bytes(in.data()), test::as_bytes(out.data())));
  return out;
}

/// Runs settings on a picture; what is wrong then.
std::string check(stripe::Device& device, const Format& format, const Size& size,
                  const ColorSettings& settings, const Colors& colors, Random& random) {
  KernelTrial trial(format, size.width, size.height, random_geometry(random, false),
                    random_geometry(random, false), random);
  stripe::Operation operation = test::operation_of(settings, format, colors);
  device.prepare(operation);
  const Bytes got = run(device, trial, operation);
  if (got != run_on_cpu(trial, operation))
    return std::string(format.name) +
           ": the device and the CPU differ: " + test::describe(settings);
  const std::string text = trial.verdict(got, settings, colors);
  return text.empty() ? text : text + ": " + test::describe(settings);
}

void check_many(const Format& format, bool affine, Random& random) {
  const auto device = test::open_test_device();
  for (const Size& size : sizes)
    for (int repeat = 0; repeat < 12; ++repeat)
      fail_unless_empty(check(*device, format, size, test::random_settings(random, affine),
                              random.pick(all_colors), random));
}

}  // namespace

GST_START_TEST(affine_settings_follow_the_formula) {
  Random random(__i__);
  check_many(test::formats[__i__], true, random);
}
GST_END_TEST;

GST_START_TEST(other_settings_are_within_one) {
  Random random(100 + __i__);
  check_many(test::formats[__i__], false, random);
}
GST_END_TEST;

GST_START_TEST(large_pictures) {
  Random random(200 + __i__);
  const auto device = test::open_test_device();
  for (const Size& size : large_sizes)
    for (const bool affine : {true, false})
      fail_unless_empty(check(*device, test::formats[__i__], size,
                              test::random_settings(random, affine), random.pick(all_colors),
                              random));
}
GST_END_TEST;

// Each alone, as far as it goes and in between.
GST_START_TEST(each_setting_alone) {
  const Format& format = test::formats[__i__];
  Random random(300 + __i__);
  const auto device = test::open_test_device();
  const ColorSettings all[] = {
      {.effect = stripe::Effect::sepia},
      {.effect = stripe::Effect::swap_rb},
      {.matrix = {{{0, 1, 0, .1}, {.5, .5, .5, -.2}, {3, -1, -1, 0}}}},
      {.brightness = -1},
      {.brightness = .3},
      {.contrast = 0},
      {.contrast = 2},
      {.hue = -1},
      {.hue = .25},
      {.saturation = 0},
      {.saturation = 2},
      {.gamma = .01},
      {.gamma = 2.2},
      {.gamma = 10},
      {.threshold = 0},
      {.threshold = .5},
      {.threshold = 1},
      {.threshold = -.5},
      {.lut = test::random_lut(random)},
  };
  for (const ColorSettings& settings : all)
    for (const Colors& colors : {test::bt709_limited, test::bt601_full})
      fail_unless_empty(check(*device, format, {33, 19}, settings, colors, random));
}
GST_END_TEST;

static Suite* colors_suite() {
  Suite* suite = suite_create("colors");
  TCase* cases = tcase_create(test::backend_name());
  suite_add_tcase(suite, cases);
  tcase_set_timeout(cases, 120);
  tcase_add_loop_test(cases, affine_settings_follow_the_formula, 0, test::format_count);
  tcase_add_loop_test(cases, other_settings_are_within_one, 0, test::format_count);
  tcase_add_loop_test(cases, large_pictures, 0, test::format_count);
  tcase_add_loop_test(cases, each_setting_alone, 0, test::format_count);
  return suite;
}

LIBRARY_CHECK_MAIN(colors)
