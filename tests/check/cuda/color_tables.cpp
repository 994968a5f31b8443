// SPDX-License-Identifier: LGPL-2.1-or-later

// Tables of curves and cubes against their definitions, and what is shared between operations.

#include "cuda/color_tables.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "support/color_oracle.h"
#include "support/color_steps.h"
#include "support/layouts.h"
#include "support/library_main.h"

using stripe::ColorSettings;
using stripe::ColorTables;
using stripe::Lut;
using stripe::LutColor;
using stripe::Operation;
using test::Random;

namespace {

std::shared_ptr<Lut> cube_of(int n) {
  auto lut = std::make_shared<Lut>();
  lut->cube_size = n;
  const auto at = [n](int i) { return static_cast<float>(i) / static_cast<float>(n - 1); };
  for (int b = 0; b < n; ++b)
    for (int g = 0; g < n; ++g)
      for (int r = 0; r < n; ++r) lut->cube.push_back({at(r), at(g), at(b)});
  return lut;
}

std::shared_ptr<Lut> curve_of(std::vector<LutColor> entries) {
  auto lut = std::make_shared<Lut>();
  lut->curve = std::move(entries);
  return lut;
}

std::shared_ptr<Lut> with_cube_entries(int n, std::size_t entries) {
  const auto lut = std::make_shared<Lut>();
  lut->cube_size = n;
  lut->cube.resize(entries);
  return lut;
}

bool refuses(const std::shared_ptr<const Lut>& lut) {
  try {
    stripe::make_color_tables(1, lut, nullptr);
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

Operation prepare(const ColorSettings& settings, const Operation* previous = nullptr) {
  return stripe::prepare_operation(settings, test::layout_of(test::format_named("NV12")), {},
                                   previous);
}

}  // namespace

// In 16-bit units: half of one is rounding, the rest is what is linear between entries.
GST_START_TEST(gamma_is_a_power) {
  for (const double gamma : {0.01, 0.1, 0.45, 0.999, 1.001, 2.2, 3.0, 10.0}) {
    const ColorTables tables = stripe::make_color_tables(gamma, nullptr, nullptr);
    const double exponent = 1.0 / gamma;
    const double most = 1.01 + 65535.0 * exponent * exponent / 8 / (2048.0 * 2048.0);
    int last = 0;
    for (int v = 0; v <= 65535; ++v) {
      const int got = stripe::gamma_at(tables.gamma.data(), v);
      const double expected = 65535.0 * std::pow(v / 65535.0, exponent);
      fail_unless(std::abs(got - expected) <= most, "gamma %f of %d is %d, not %f", gamma, v, got,
                  expected);
      fail_unless(got >= last, "gamma %f falls at %d", gamma, v);
      last = got;
    }
    fail_unless_equals_int(stripe::gamma_at(tables.gamma.data(), 0), 0);
    fail_unless_equals_int(last, 65535);
  }
}
GST_END_TEST;

GST_START_TEST(identity_cubes_change_nothing) {
  Random random;
  for (const int n : {2, 3, 16, 17, 33, 64, 65, 129}) {
    const ColorTables tables = stripe::make_color_tables(1, cube_of(n), nullptr);
    fail_if(tables.curves.entries);
    for (int repeat = 0; repeat < 3000; ++repeat) {
      stripe::Rgb16 in{};
      for (int& value : in.value)
        value = random.one_in(5) ? random.between(0, 1) * 65535 : random.between(0, 65535);
      const stripe::Rgb16 out = stripe::cube_at(tables.cube.data(), n, in);
      for (int i = 0; i < 3; ++i)
        fail_unless(std::abs(out.value[i] - in.value[i]) <= 1, "cube of %d: %d becomes %d", n,
                    in.value[i], out.value[i]);
    }
  }
}
GST_END_TEST;

GST_START_TEST(any_cube_is_tetrahedral) {
  Random random(1);
  for (const int n : {2, 3, 17, 33}) {
    const auto lut = cube_of(n);
    for (LutColor& color : lut->cube)
      for (float& value : color) value = static_cast<float>(random.between(0, 1000)) / 1000.f;
    const ColorTables tables = stripe::make_color_tables(1, lut, nullptr);
    for (int repeat = 0; repeat < 3000; ++repeat) {
      stripe::Rgb16 in{};
      test::Rgb real{};
      for (int i = 0; i < 3; ++i) {
        in.value[i] = i > 0 && random.one_in(4) ? in.value[i - 1] : random.between(0, 65535);
        real[i] = in.value[i] / 65535.0;
      }
      const stripe::Rgb16 got = stripe::cube_at(tables.cube.data(), n, in);
      const test::Rgb expected = test::after_cube(*lut, real);
      for (int i = 0; i < 3; ++i)
        fail_unless(std::abs(got.value[i] - 65535.0 * expected[i]) <= 1.01,
                    "cube of %d at %d %d %d: component %d is %d, not %f", n, in.value[0],
                    in.value[1], in.value[2], i, got.value[i], 65535.0 * expected[i]);
    }
  }
}
GST_END_TEST;

// Inputs beyond the domain count as its ends, entries beyond 0..1 as 0 and 1.
GST_START_TEST(curves_have_domains) {
  const auto lut = curve_of({{-1, .25f, 0}, {.5f, .5f, 1}, {1, .75f, 2}});
  lut->curve_min = {.25f, 0, 0};
  lut->curve_max = {.75f, 1, 2};
  const ColorTables tables = stripe::make_color_tables(1, lut, nullptr);
  const auto at = [&](int component, double input) {
    return tables.curves.data()[component * 65536 + std::lround(input * 65535)] / 65535.0;
  };
  const auto near = [](double a, double b) { return std::abs(a - b) < 3e-5; };
  fail_unless(near(at(0, 0), 0) && near(at(0, .25), 0) && near(at(0, .375), .25));
  fail_unless(near(at(0, .5), .5) && near(at(0, .75), 1) && near(at(0, 1), 1));
  fail_unless(near(at(1, 0), .25) && near(at(1, .25), .375) && near(at(1, 1), .75));
  fail_unless(near(at(2, 0), 0) && near(at(2, .5), .5) && near(at(2, 1), 1));
}
GST_END_TEST;

GST_START_TEST(cubes_have_domains) {
  const auto lut = cube_of(2);
  lut->cube_min = {.5f, 0, -1};
  lut->cube_max = {1, .5f, 1};
  const ColorTables tables = stripe::make_color_tables(1, lut, nullptr);
  stripe::ColorSteps steps{};
  steps.has_curves = true;
  steps.cube_size = 2;
  const stripe::Rgb16 out =
      stripe::run_lut(steps, tables.on_host(), {{49151, 16384, 32768}});  // 3/4, 1/4, 1/2
  fail_unless(std::abs(out.value[0] - 32767) <= 2, "%d", out.value[0]);
  fail_unless(std::abs(out.value[1] - 32768) <= 2, "%d", out.value[1]);
  fail_unless(std::abs(out.value[2] - 49152) <= 2, "%d", out.value[2]);
}
GST_END_TEST;

GST_START_TEST(bad_luts_are_refused) {
  fail_if(refuses(nullptr));
  fail_if(refuses(cube_of(2)));
  fail_if(refuses(with_cube_entries(129, std::size_t{129} * 129 * 129)));
  fail_unless(refuses(with_cube_entries(1, 1)));
  fail_unless(refuses(with_cube_entries(-2, 8)));
  fail_unless(refuses(with_cube_entries(130, std::size_t{130} * 130 * 130)));
  fail_unless(refuses(with_cube_entries(3, 26)));
  fail_unless(refuses(with_cube_entries(0, 8)));
  fail_unless(refuses(curve_of({{0, 0, 0}})));
  fail_unless(refuses(curve_of(std::vector<LutColor>(65537))));
  const auto empty = curve_of({{0, 0, 0}, {1, 1, 1}});
  empty->curve_min[1] = 1;
  fail_unless(refuses(empty));
  empty->curve_min[1] = -std::numeric_limits<float>::infinity();
  fail_unless(refuses(empty));
  empty->curve_min[1] = std::nanf("");
  fail_unless(refuses(empty));
}
GST_END_TEST;

// A parameter that is animated costs only itself.
GST_START_TEST(tables_are_shared_with_the_operation_before) {
  ColorSettings settings;
  settings.gamma = 2;
  settings.lut = cube_of(17);
  const Operation first = prepare(settings);
  settings.contrast = 1.5;
  const Operation contrast = prepare(settings, &first);
  fail_unless(contrast.tables.gamma.entries == first.tables.gamma.entries);
  fail_unless(contrast.tables.cube.entries == first.tables.cube.entries);
  settings.gamma = 2.5;
  const Operation gamma = prepare(settings, &contrast);
  fail_if(gamma.tables.gamma.entries == first.tables.gamma.entries);
  fail_unless(gamma.tables.cube.entries == first.tables.cube.entries);
  settings.lut = cube_of(17);
  const Operation other = prepare(settings, &gamma);
  fail_unless(other.tables.gamma.entries == gamma.tables.gamma.entries);
  fail_if(other.tables.cube.entries == first.tables.cube.entries);
  settings.gamma = 1;
  fail_if(prepare(settings, &other).tables.gamma.entries);
  settings.lut = nullptr;
  fail_unless(prepare(settings, &other).kernel == Operation::Kernel::affine);
}
GST_END_TEST;

static Suite* color_tables_suite() {
  Suite* suite = suite_create("color-tables");
  TCase* cases = tcase_create("color-tables");
  suite_add_tcase(suite, cases);
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, gamma_is_a_power);
  tcase_add_test(cases, identity_cubes_change_nothing);
  tcase_add_test(cases, any_cube_is_tetrahedral);
  tcase_add_test(cases, curves_have_domains);
  tcase_add_test(cases, cubes_have_domains);
  tcase_add_test(cases, bad_luts_are_refused);
  tcase_add_test(cases, tables_are_shared_with_the_operation_before);
  return suite;
}

LIBRARY_CHECK_MAIN(color_tables)
