// SPDX-License-Identifier: LGPL-2.1-or-later

// Pure arithmetic: which pixels are in which stripe, and which bytes of a plane these are.

#include "cuda/plan.h"

#include <climits>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "support/cover.h"
#include "support/formats.h"
#include "support/layouts.h"
#include "support/library_main.h"

using stripe::make_plan;
using stripe::PlanRequest;
using stripe::Rect;
using stripe::StripeLayout;

namespace {

/// Those with one split axis; tiles have a file of their own.
constexpr StripeLayout layouts[] = {StripeLayout::rows, StripeLayout::columns};

/// The split axis of a plan, so that one body checks both layouts.
struct Axis {
  StripeLayout layout;

  bool down() const { return layout == StripeLayout::rows; }
  int begin(const Rect& rect) const { return down() ? rect.y : rect.x; }
  int length(const Rect& rect) const { return down() ? rect.height : rect.width; }
  int other_begin(const Rect& rect) const { return down() ? rect.x : rect.y; }
  int other_length(const Rect& rect) const { return down() ? rect.width : rect.height; }

  PlanRequest request(int length, int other, int count, int unit, int other_unit) const {
    PlanRequest request{down() ? other : length, down() ? length : other, layout, count, {}};
    request.unit =
        down() ? stripe::StripeUnit{other_unit, unit} : stripe::StripeUnit{unit, other_unit};
    return request;
  }
};

/// Every split axis 1..65, other axis {1, 2, 17}, unit 1..4, count 1..n+2, n being the units there
/// are.
template <typename Check>
void for_every_plan(StripeLayout layout, Check check) {
  const Axis axis{layout};
  for (int length = 1; length <= 65; ++length)
    for (int other : {1, 2, 17})
      for (int unit = 1; unit <= 4; ++unit)
        for (int count = 1; count <= (length + unit - 1) / unit + 2; ++count) {
          const int other_unit = 1 + (length + count) % 4;
          check(axis, length, other, unit, count,
                make_plan(axis.request(length, other, count, unit, other_unit)));
        }
}

void expect_each_pixel_once(const Axis& axis, int length, int other, int unit, int count,
                            const std::vector<Rect>& plan) {
  const int width = axis.down() ? other : length;
  const int height = axis.down() ? length : other;
  fail_unless(test::all_once(test::cover(plan, width, height)), "%dx%d unit %d count %d", width,
              height, unit, count);
}

void expect_formula(const Axis& axis, int length, int other, int unit, int count,
                    const std::vector<Rect>& plan) {
  const int units = length / unit + (length % unit ? 1 : 0);
  const int n = count < units ? count : units;
  fail_unless_equals_int(static_cast<int>(plan.size()), n);
  for (int i = 0; i < n; ++i) {
    const int begin = i * units / n * unit;
    const int end = i == n - 1 ? length : (i + 1) * units / n * unit;
    fail_unless(axis.begin(plan[i]) == begin && axis.length(plan[i]) == end - begin,
                "length %d unit %d stripe %d of %d: [%d, +%d), expected [%d, %d)", length, unit, i,
                n, axis.begin(plan[i]), axis.length(plan[i]), begin, end);
    fail_unless(axis.other_begin(plan[i]) == 0 && axis.other_length(plan[i]) == other);
  }
}

bool throws_invalid(const PlanRequest& request) {
  try {
    make_plan(request);
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

/// A plane's bytes, counted by the areas of all stripes.
bool areas_partition_plane(const test::Format& format, int plane, const PlanRequest& request) {
  const int row_bytes = test::row_bytes(format, plane, request.width);
  const int rows = test::row_count(format, plane, request.height);
  std::vector<Rect> areas;
  for (const Rect& stripe : make_plan(request)) {
    const stripe::PlaneArea area = plane_area(test::layout_of(format), plane, stripe);
    areas.push_back({static_cast<int>(area.x_bytes), static_cast<int>(area.y),
                     static_cast<int>(area.row_bytes), static_cast<int>(area.rows)});
  }
  return test::all_once(test::cover(areas, row_bytes, rows));
}

void expect_planes_partitioned(const test::Format& format, int width, int height, bool interlaced) {
  for (const StripeLayout layout : test::stripe_layouts)
    for (const int count : {1, 2, 3, 7, 256}) {
      const PlanRequest request{width, height, layout, count,
                                stripe_unit(test::layout_of(format), interlaced)};
      for (int plane = 0; plane < format.planes; ++plane)
        fail_unless(areas_partition_plane(format, plane, request),
                    "%s %dx%d plane %d layout %d count %d", format.name, width, height, plane,
                    static_cast<int>(layout), count);
    }
}

}  // namespace

GST_START_TEST(each_pixel_is_in_one_stripe) {
  for_every_plan(layouts[__i__], expect_each_pixel_once);
}
GST_END_TEST;

GST_START_TEST(boundaries_follow_the_formula) { for_every_plan(layouts[__i__], expect_formula); }
GST_END_TEST;

GST_START_TEST(count_is_clamped) {
  fail_unless_equals_int(make_plan({7, 5, StripeLayout::rows, INT_MAX, {2, 2}}).size(), 3);
  fail_unless_equals_int(make_plan({7, 5, StripeLayout::columns, INT_MAX, {2, 2}}).size(), 4);
  fail_unless_equals_int(make_plan({1, 1, StripeLayout::columns, 256, {4, 4}}).size(), 1);
}
GST_END_TEST;

// Index times length is past int for pictures far smaller than an int allows.
GST_START_TEST(largest_pictures_do_not_overflow) {
  for (const StripeLayout layout : layouts) {
    const Axis axis{layout};
    for (int unit = 1; unit <= 4; ++unit) {
      const std::vector<Rect> plan = make_plan(axis.request(INT_MAX, 1, 256, unit, 1));
      const std::int64_t units = (std::int64_t{INT_MAX} + unit - 1) / unit;
      fail_unless_equals_int(static_cast<int>(plan.size()), 256);
      for (std::int64_t i = 0; i < 256; ++i)
        fail_unless_equals_int64(axis.begin(plan[i]), i * units / 256 * unit);
      fail_unless_equals_int64(std::int64_t{axis.begin(plan[255])} + axis.length(plan[255]),
                               INT_MAX);
    }
  }
}
GST_END_TEST;

GST_START_TEST(values_below_one_throw) {
  const PlanRequest good{4, 4, StripeLayout::rows, 2, {1, 1}};
  fail_if(throws_invalid(good));
  for (const int bad : {0, -1, INT_MIN}) {
    fail_unless(throws_invalid({bad, 4, StripeLayout::rows, 2, {1, 1}}));
    fail_unless(throws_invalid({4, bad, StripeLayout::rows, 2, {1, 1}}));
    fail_unless(throws_invalid({4, 4, StripeLayout::columns, bad, {1, 1}}));
    fail_unless(throws_invalid({4, 4, StripeLayout::rows, 2, {bad, 1}}));
    fail_unless(throws_invalid({4, 4, StripeLayout::rows, 2, {1, bad}}));
  }
}
GST_END_TEST;

GST_START_TEST(unit_is_the_chroma_block) {
  for (const test::Format& format : test::formats) {
    const bool subsampled = format.model == test::Model::yuv;
    const auto progressive = stripe_unit(test::layout_of(format), false);
    const auto interlaced = stripe_unit(test::layout_of(format), true);
    fail_unless_equals_int(progressive.x, subsampled ? 2 : 1);
    fail_unless_equals_int(progressive.y, subsampled ? 2 : 1);
    fail_unless_equals_int(interlaced.x, subsampled ? 2 : 1);
    fail_unless_equals_int(interlaced.y, subsampled ? 4 : 2);
  }
}
GST_END_TEST;

GST_START_TEST(stripes_partition_every_plane) {
  const test::Format& format = test::formats[__i__];
  constexpr int sizes[][2] = {{1, 1}, {1, 17},  {17, 1},  {2, 2},
                              {3, 5}, {16, 16}, {65, 63}, {33, 30}};
  for (const auto& size : sizes)
    for (const bool interlaced : {false, true})
      expect_planes_partitioned(format, size[0], size[1], interlaced);
}
GST_END_TEST;

GST_START_TEST(areas_are_in_bytes_and_rows) {
  const Rect rect{4, 6, 3, 5};
  const auto bgr = plane_area(test::layout_of(test::format_named("BGR")), 0, rect);
  fail_unless(bgr.x_bytes == 12 && bgr.y == 6 && bgr.row_bytes == 9 && bgr.rows == 5);
  const auto nv12 = plane_area(test::layout_of(test::format_named("NV12")), 1, rect);
  fail_unless(nv12.x_bytes == 4 && nv12.y == 3 && nv12.row_bytes == 4 && nv12.rows == 3);
  const auto i420 = plane_area(test::layout_of(test::format_named("I420")), 2, rect);
  fail_unless(i420.x_bytes == 2 && i420.y == 3 && i420.row_bytes == 2 && i420.rows == 3);
}
GST_END_TEST;

GST_START_TEST(extent_ends_with_the_last_row) {
  fail_unless_equals_uint64(stripe::extent_bytes({0, 0, 10, 1}, 64), 10);
  fail_unless_equals_uint64(stripe::extent_bytes({3, 2, 10, 4}, 64), 3 * 64 + 10);
  fail_unless_equals_uint64(stripe::extent_bytes({3, 2, 10, 4}, -64), 3 * 64 + 10);
  fail_unless_equals_uint64(stripe::extent_bytes({0, 0, 7, 1}, -64), 7);
  fail_unless_equals_uint64(stripe::extent_bytes({0, 0, 100000, 100001}, 100000), 10000100000);
}
GST_END_TEST;

static Suite* plan_suite() {
  Suite* suite = suite_create("plan");
  TCase* cases = tcase_create("plan");
  suite_add_tcase(suite, cases);
  tcase_set_timeout(cases, 60);
  tcase_add_loop_test(cases, each_pixel_is_in_one_stripe, 0, 2);
  tcase_add_loop_test(cases, boundaries_follow_the_formula, 0, 2);
  tcase_add_test(cases, count_is_clamped);
  tcase_add_test(cases, largest_pictures_do_not_overflow);
  tcase_add_test(cases, values_below_one_throw);
  tcase_add_test(cases, unit_is_the_chroma_block);
  tcase_add_loop_test(cases, stripes_partition_every_plane, 0, test::format_count);
  tcase_add_test(cases, areas_are_in_bytes_and_rows);
  tcase_add_test(cases, extent_ends_with_the_last_row);
  return suite;
}

LIBRARY_CHECK_MAIN(plan)
