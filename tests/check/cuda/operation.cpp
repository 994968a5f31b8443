// SPDX-License-Identifier: LGPL-2.1-or-later

// The matrices of the effects against numbers worked out by hand, and the two oracles against each
// other.

#include "cuda/operation.h"

#include <cmath>
#include <stdexcept>
#include <string>

#include "support/guarded_image.h"
#include "support/layouts.h"
#include "support/library_main.h"

using stripe::ColorSettings;
using stripe::Operation;
using test::Colors;
using test::Effect;
using test::Format;
using test::Model;

namespace {

constexpr int one = 65536;

constexpr Colors all_colors[] = {test::bt601_limited, test::bt601_full,     test::bt709_limited,
                                 test::bt709_full,    test::bt2020_limited, test::bt2020_full};
constexpr int colors_count = 6;

/// 2^16 times .299 .587 .114, .2126 .7152 .0722 and .2627 .6780 .0593, rounded.
constexpr int luma_coefficients[3][3] = {
    {19595, 38470, 7471}, {13933, 46871, 4732}, {17216, 44433, 3886}};

std::string describe(const stripe::Affine& affine) {
  std::string text;
  for (int row = 0; row < 3; ++row) {
    for (int i = 0; i < 3; ++i) text += std::to_string(affine.coefficient[row][i]) + " ";
    text += "+ " + std::to_string(affine.offset[row]) + "; ";
  }
  return text;
}

bool row_is(const stripe::Affine& affine, int row, int a, int b, int c, int offset) {
  return affine.coefficient[row][0] == a && affine.coefficient[row][1] == b &&
         affine.coefficient[row][2] == c && affine.offset[row] == offset;
}

/// The row that maps component `row` alone: code -> scale * code + offset.
bool diagonal_is(const stripe::Affine& affine, int row, int scale, int offset) {
  return row_is(affine, row, row == 0 ? scale * one : 0, row == 1 ? scale * one : 0,
                row == 2 ? scale * one : 0, offset * one);
}

bool is_invert(const Operation& operation, const Format& format, bool full_range) {
  const int mirror = full_range ? 255 : 251;
  if (operation.kernel != Operation::Kernel::affine) return false;
  if (!diagonal_is(operation.affine, 0, -1, mirror)) return false;
  if (format.model == Model::gray) return true;
  const int others = format.model == Model::yuv ? 256 : mirror;
  return diagonal_is(operation.affine, 1, -1, others) &&
         diagonal_is(operation.affine, 2, -1, others);
}

bool is_gray(const Operation& operation, const Format& format, const int* luma) {
  if (format.model == Model::gray) return operation.kernel == Operation::Kernel::copy;
  if (operation.kernel != Operation::Kernel::affine) return false;
  if (format.model == Model::yuv)
    return diagonal_is(operation.affine, 0, 1, 0) && diagonal_is(operation.affine, 1, 0, 128) &&
           diagonal_is(operation.affine, 2, 0, 128);
  for (int row = 0; row < 3; ++row)
    if (!row_is(operation.affine, row, luma[0], luma[1], luma[2], 0)) return false;
  return true;
}

template <typename Check>
void for_every_format_and_colors(Check check) {
  for (const Format& format : test::formats)
    for (int i = 0; i < colors_count; ++i) check(format, i);
}

enum class Outcome { accepted, refused };

Outcome try_gray_on_rgb(double kr, double kb) {
  try {
    test::operation_of(Effect::gray, test::format_named("RGB"), {kr, kb, true});
  } catch (const std::invalid_argument&) {
    return Outcome::refused;
  }
  return Outcome::accepted;
}

}  // namespace

GST_START_TEST(none_is_the_copy) {
  for_every_format_and_colors([](const Format& format, int i) {
    const Operation operation = test::operation_of(Effect::none, format, all_colors[i]);
    fail_unless(operation.kernel == Operation::Kernel::copy, "%s", format.name);
  });
}
GST_END_TEST;

GST_START_TEST(invert_mirrors_the_range) {
  for_every_format_and_colors([](const Format& format, int i) {
    const Operation operation = test::operation_of(Effect::invert, format, all_colors[i]);
    fail_unless(is_invert(operation, format, i % 2 == 1), "%s colours %d: %s", format.name, i,
                describe(operation.affine).c_str());
  });
}
GST_END_TEST;

GST_START_TEST(gray_is_luma_and_neutral_chroma) {
  for_every_format_and_colors([](const Format& format, int i) {
    const Operation operation = test::operation_of(Effect::gray, format, all_colors[i]);
    fail_unless(is_gray(operation, format, luma_coefficients[i / 2]), "%s colours %d: %s",
                format.name, i, describe(operation.affine).c_str());
  });
}
GST_END_TEST;

// Sum of |coefficients| below 64: that of gray on RGB is |kr| + |kg| + |kb|.
GST_START_TEST(rows_beyond_the_bound_are_refused) {
  fail_unless(try_gray_on_rgb(0.3, 0.1) == Outcome::accepted);
  fail_unless(try_gray_on_rgb(32.0, -31.0) == Outcome::accepted);  // 63
  fail_unless(try_gray_on_rgb(32.5, -31.5) == Outcome::refused);   // 64
  fail_unless(try_gray_on_rgb(-40.0, 0.0) == Outcome::refused);    // 81
  fail_unless(try_gray_on_rgb(1e300, 0.0) == Outcome::refused);
  fail_unless(try_gray_on_rgb(INFINITY, 0.0) == Outcome::refused);
  fail_unless(try_gray_on_rgb(NAN, 0.0) == Outcome::refused);
}
GST_END_TEST;

GST_START_TEST(settings_beyond_a_bound_are_refused) {
  const auto refusal = [](const ColorSettings& settings, const char* format) -> std::string {
    try {
      test::operation_of(settings, test::format_named(format), test::bt709_full);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return {};
  };
  const auto scaled = [](double factor, double offset) -> ColorSettings {
    return {.matrix = {{{factor, 0, 0, offset}, {0, factor, 0, 0}, {0, 0, factor, 0}}}};
  };
  const auto says = [](const std::string& text, const char* word) {
    return text.find(word) != std::string::npos;
  };
  for (const char* format : {"RGB", "NV12", "GRAY8"}) {
    fail_unless_empty(refusal(scaled(20, 1), format));
    fail_unless(says(refusal(scaled(2000, 0), format), "factors"));
    fail_unless(says(refusal(scaled(1, 1e4), format), "offset"));
    fail_unless(says(refusal(scaled(1, NAN), format), "offset"));
    fail_unless(says(refusal({.contrast = 2.1}, format), "contrast"));
    fail_unless(says(refusal({.hue = NAN}, format), "hue"));
    fail_unless(says(refusal({.gamma = 0}, format), "gamma"));
    fail_unless(says(refusal({.threshold = 1.5}, format), "threshold"));
    // With steps behind it the matrix leads elsewhere, and is bounded all the same.
    ColorSettings steps = scaled(2000, 0);
    steps.gamma = 2;
    fail_unless(says(refusal(steps, format), "factors"));
    steps.matrix = scaled(20, 1).matrix;
    fail_unless_empty(refusal(steps, format));
  }
  fail_unless_empty(refusal(scaled(63.9, 31), "RGB"));
  fail_unless(says(refusal(scaled(64, 0), "RGB"), "factors"));
}
GST_END_TEST;

// Neutral settings cost nothing, and what stays in its plane keeps its kernel.
GST_START_TEST(kernels_are_the_simplest) {
  using Kernel = Operation::Kernel;
  const auto kernel = [](const char* format, const ColorSettings& settings) {
    return test::operation_of(settings, test::format_named(format), test::bt601_limited).kernel;
  };
  const ColorSettings sepia{.effect = stripe::Effect::sepia};
  const ColorSettings balance{.brightness = .1, .contrast = 1.2, .hue = .3, .saturation = 1.5};
  for (const char* format : {"NV12", "I420"}) {
    fail_unless(kernel(format, {}) == Kernel::copy);
    fail_unless(kernel(format, balance) == Kernel::affine);
    fail_unless(kernel(format, sepia) == Kernel::affine_blocks);
    fail_unless(kernel(format, {.gamma = 2}) == Kernel::color_blocks);
    fail_unless(kernel(format, {.gamma = 1.0000001}) == Kernel::color_blocks);
  }
  fail_unless(kernel("GRAY8", {.effect = stripe::Effect::swap_rb}) == Kernel::copy);
  fail_unless(kernel("GRAY8", {.hue = .5, .saturation = 0}) == Kernel::copy);
  fail_unless(kernel("GRAY8", sepia) == Kernel::affine);
  fail_unless(kernel("RGBA", sepia) == Kernel::affine);
  fail_unless(kernel("RGBA", {.threshold = 0}) == Kernel::color_blocks);
}
GST_END_TEST;

GST_START_TEST(codes_round_half_up_and_saturate) {
  fail_unless_equals_int(stripe::affine_code(32767), 0);
  fail_unless_equals_int(stripe::affine_code(32768), 1);
  fail_unless_equals_int(stripe::affine_code(-32768), 0);
  fail_unless_equals_int(stripe::affine_code(-one * 300), 0);
  fail_unless_equals_int(stripe::affine_code(254 * one + 32768), 255);
  fail_unless_equals_int(stripe::affine_code(255 * one + 32768), 255);
  fail_unless_equals_int(stripe::affine_code(300 * one), 255);
}
GST_END_TEST;

GST_START_TEST(rows_weigh_their_components) {
  const stripe::Affine affine{{{one / 2, one, 2 * one}, {-one, 3 * one, 0}, {0, one, -2 * one}},
                              {5 * one, 0, 200 * one}};
  fail_unless_equals_int(stripe::affine_row(affine, 0, 8, 10, 20), 4 + 10 + 40 + 5);
  fail_unless_equals_int(stripe::affine_row(affine, 1, 8, 10, 20), -8 + 30);
  fail_unless_equals_int(stripe::affine_row(affine, 2, 8, 10, 20), 10 - 40 + 200);
  fail_unless_equals_int(stripe::affine_diagonal(affine, 0, 8), 4 + 5);
  fail_unless_equals_int(stripe::affine_diagonal(affine, 2, 20), 200 - 40);
}
GST_END_TEST;

// A mistake made alike in an oracle and in the code would pass everywhere else.
GST_START_TEST(oracles_agree) {
  test::Random random(__i__);
  const Format& format = test::formats[__i__];
  const test::GuardedImage input(format, 64, 64, {}, random);
  const test::GuardedImage integers(format, 64, 64, {}, random);
  const test::GuardedImage reals(format, 64, 64, {}, random);
  for (const Effect effect : test::effects)
    for (const Colors& colors : all_colors) {
      exact(effect, colors, input.view(), integers.picture());
      in_double(effect, colors, input.view(), reals.picture());
      const std::string text = difference(reals.view(), integers.view(), 1);
      fail_unless(text.empty(), "%s %s", test::effect_name(effect), text.c_str());
    }
}
GST_END_TEST;

static Suite* operation_suite() {
  Suite* suite = suite_create("operation");
  TCase* cases = tcase_create("operation");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, none_is_the_copy);
  tcase_add_test(cases, invert_mirrors_the_range);
  tcase_add_test(cases, gray_is_luma_and_neutral_chroma);
  tcase_add_test(cases, rows_beyond_the_bound_are_refused);
  tcase_add_test(cases, settings_beyond_a_bound_are_refused);
  tcase_add_test(cases, kernels_are_the_simplest);
  tcase_add_test(cases, codes_round_half_up_and_saturate);
  tcase_add_test(cases, rows_weigh_their_components);
  tcase_add_loop_test(cases, oracles_agree, 0, test::format_count);
  return suite;
}

LIBRARY_CHECK_MAIN(operation)
