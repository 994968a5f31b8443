// SPDX-License-Identifier: LGPL-2.1-or-later

// The three faults of the kernel that this project began with, each by its name. People keep making
// them.

#include "cuda/engine.h"
#include "support/engine_rig.h"
#include "support/library_main.h"

using stripe::StripeLayout;
using test::Setting;
using test::Treatment;

namespace {

constexpr const char* edge_formats[] = {"BGR", "GRAY8", "RGBA", "NV12", "I420"};

/// One frame of each format; what stays unwritten differs from what is expected.
void expect_whole_picture(int width, int height, StripeLayout layout, int count, int streams) {
  const auto device = test::open_test_device();
  test::Random random;
  for (const char* format : edge_formats) {
    const Setting setting{&test::format_named(format), width, height, false, {streams, 1}};
    const Treatment treatment{test::Effect::invert, test::bt601_limited, layout, count};
    fail_unless_empty(test::feed_alike(device, setting, test::direct, treatment, 1, random));
  }
}

}  // namespace

// A grid of w/20 x h/20 blocks leaves the right and bottom pixels out.
GST_START_TEST(truncated_grid) {
  constexpr int sizes[][2] = {{1, 1},   {19, 19},   {21, 41},   {31, 33},  {33, 31},
                              {39, 59}, {641, 479}, {385, 289}, {255, 257}};
  for (const auto& size : sizes)
    for (const StripeLayout layout : test::stripe_layouts)
      for (const int count : {1, 3}) expect_whole_picture(size[0], size[1], layout, count, 3);
}
GST_END_TEST;

// height / 3 rows a stripe lose the rest.
GST_START_TEST(height_divided_by_three) {
  for (const int height : {1079, 1081}) expect_whole_picture(64, height, StripeLayout::rows, 3, 3);
  for (const int width : {1079, 1081}) expect_whole_picture(width, 64, StripeLayout::columns, 3, 3);
  expect_whole_picture(1080, 1920, StripeLayout::rows, 3, 3);
  for (const int count : {7, 11, 13}) expect_whole_picture(40, 100, StripeLayout::rows, count, 3);
}
GST_END_TEST;

// Where x is taken for y, a square picture looks right.
GST_START_TEST(rows_and_columns_swapped) {
  constexpr int sizes[][2] = {{2500, 3}, {3, 2500}, {1999, 1}, {1, 1999}, {4097, 2}, {2, 4097}};
  for (const auto& size : sizes)
    for (const StripeLayout layout : test::stripe_layouts)
      for (const int count : {1, 3}) expect_whole_picture(size[0], size[1], layout, count, 2);
}
GST_END_TEST;

static Suite* engine_edges_suite() {
  Suite* suite = suite_create("engine-edges");
  TCase* cases = tcase_create(test::backend_name());
  suite_add_tcase(suite, cases);
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, truncated_grid);
  tcase_add_test(cases, height_divided_by_three);
  tcase_add_test(cases, rows_and_columns_swapped);
  return suite;
}

LIBRARY_CHECK_MAIN(engine_edges)
