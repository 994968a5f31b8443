// SPDX-License-Identifier: LGPL-2.1-or-later

// Tiles: bands of rows that are cut into columns, n in all.

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <vector>

#include "cuda/plan.h"
#include "support/cover.h"
#include "support/library_main.h"

using stripe::make_plan;
using stripe::Rect;
using stripe::StripeLayout;
using stripe::StripeUnit;

namespace {

constexpr StripeUnit units[] = {{1, 1}, {2, 2}, {2, 4}, {3, 1}};

std::vector<Rect> tiles(int width, int height, int count, const StripeUnit& unit) {
  return make_plan({width, height, StripeLayout::tiles, count, unit});
}

int units_in(int length, int unit) { return length / unit + (length % unit ? 1 : 0); }

/// Where piece i of n of an axis begins; where i is n, its end.
int cut(int length, int unit, int i, int n) {
  return std::min(i * units_in(length, unit) / n * unit, length);
}

int root_of(int n) { return static_cast<int>(std::sqrt(static_cast<double>(n))); }

/// The words of the interface, for pictures with units enough both ways.
std::vector<Rect> by_the_formula(int width, int height, int n, const StripeUnit& unit) {
  const int r = root_of(n);
  std::vector<Rect> plan;
  for (int j = 0; j < r; ++j) {
    const int columns = (j + 1) * n / r - j * n / r;
    const int y = cut(height, unit.y, j, r);
    for (int i = 0; i < columns; ++i) {
      const int x = cut(width, unit.x, i, columns);
      plan.push_back(
          {x, y, cut(width, unit.x, i + 1, columns) - x, cut(height, unit.y, j + 1, r) - y});
    }
  }
  return plan;
}

/// A small picture, and what was made of it.
struct SmallPlan {
  int width, height;
  StripeUnit unit;
  int tile_count;  ///< as many as were asked for, or as there are units
  std::vector<Rect> plan;

  int across() const { return units_in(width, unit.x); }
  int down() const { return units_in(height, unit.y); }
};

/// Fails unless `holds` for every size up to 20x20, any unit, and counts beyond the units that
/// there are.
template <typename Holds>
void for_every_small_plan(Holds holds) {
  for (const StripeUnit& unit : units)
    for (int width = 1; width <= 20; ++width)
      for (int height = 1; height <= 20; ++height) {
        const int all = units_in(width, unit.x) * units_in(height, unit.y);
        for (int count = 1; count <= all + 2; ++count) {
          const SmallPlan small{width, height, unit, std::min(count, all),
                                tiles(width, height, count, unit)};
          // libcheck writes down each check that it is asked for.
          if (!holds(small))
            ck_abort_msg("%dx%d unit %dx%d count %d", width, height, unit.x, unit.y, count);
        }
      }
}

bool is_of_units(const Rect& tile, const SmallPlan& small) {
  const int right = tile.x + tile.width, bottom = tile.y + tile.height;
  return tile.width > 0 && tile.height > 0 && tile.x % small.unit.x == 0 &&
         tile.y % small.unit.y == 0 && (right == small.width || right % small.unit.x == 0) &&
         (bottom == small.height || bottom % small.unit.y == 0);
}

/// As many bands as the root of n, or as near to it as there are rows and columns for.
int wanted_bands(int n, int across, int down) {
  int best = 0;
  for (int bands = 1; bands <= down; ++bands) {
    const bool fits = (n + bands - 1) / bands <= across;
    if (fits && (best == 0 || std::abs(bands - root_of(n)) < std::abs(best - root_of(n))))
      best = bands;
  }
  return best;
}

int bands_of(const std::vector<Rect>& plan) {
  std::set<int> begins;
  for (const Rect& tile : plan) begins.insert(tile.y);
  return static_cast<int>(begins.size());
}

std::int64_t area_of(const std::vector<Rect>& plan) {
  std::int64_t area = 0;
  for (const Rect& tile : plan) area += std::int64_t{tile.width} * tile.height;
  return area;
}

}  // namespace

GST_START_TEST(tiles_follow_the_formula) {
  constexpr int sizes[][2] = {{68, 68}, {69, 71}, {200, 75}, {77, 300}, {1080, 1920}};
  for (const StripeUnit& unit : units)
    for (const auto& size : sizes)
      for (int n = 1; n <= 256; ++n)
        fail_unless(tiles(size[0], size[1], n, unit) == by_the_formula(size[0], size[1], n, unit),
                    "%dx%d unit %dx%d count %d", size[0], size[1], unit.x, unit.y, n);
}
GST_END_TEST;

// Bands of two and three tiles.
GST_START_TEST(five_tiles_by_hand) {
  const std::vector<Rect> wanted = {
      {0, 0, 5, 3}, {5, 0, 5, 3}, {0, 3, 3, 4}, {3, 3, 3, 4}, {6, 3, 4, 4}};
  const std::vector<Rect> whole = {{0, 0, 10, 7}};
  const StripeUnit pixels{1, 1};
  fail_unless(tiles(10, 7, 5, pixels) == wanted);
  fail_unless(tiles(10, 7, 1, pixels) == whole);
}
GST_END_TEST;

GST_START_TEST(each_pixel_is_in_one_tile) {
  for_every_small_plan([](const SmallPlan& small) {
    return static_cast<int>(small.plan.size()) == small.tile_count &&
           test::all_once(test::cover(small.plan, small.width, small.height));
  });
}
GST_END_TEST;

GST_START_TEST(tiles_begin_and_end_on_units) {
  for_every_small_plan([](const SmallPlan& small) {
    return std::all_of(small.plan.begin(), small.plan.end(),
                       [&](const Rect& tile) { return is_of_units(tile, small); });
  });
}
GST_END_TEST;

GST_START_TEST(bands_are_as_near_to_the_root_as_they_can_be) {
  for_every_small_plan([](const SmallPlan& small) {
    return bands_of(small.plan) == wanted_bands(small.tile_count, small.across(), small.down());
  });
}
GST_END_TEST;

GST_START_TEST(lines_of_pixels_are_cut_as_rows_or_columns) {
  for (const StripeUnit& unit : units)
    for (int length = 1; length <= 70; ++length)
      for (int count = 1; count <= length + 2; ++count) {
        fail_unless(tiles(1, length, count, unit) ==
                    make_plan({1, length, StripeLayout::rows, count, unit}));
        fail_unless(tiles(length, 1, count, unit) ==
                    make_plan({length, 1, StripeLayout::columns, count, unit}));
      }
}
GST_END_TEST;

GST_START_TEST(count_of_tiles_is_clamped) {
  const auto tile_count = [](int width, int height, int count, int unit_x, int unit_y) {
    return static_cast<int>(tiles(width, height, count, {unit_x, unit_y}).size());
  };
  fail_unless_equals_int(tile_count(7, 5, INT_MAX, 2, 2), 12);
  fail_unless_equals_int(tile_count(1, 1, 256, 4, 4), 1);
  fail_unless_equals_int(tile_count(INT_MAX, 3, 256, INT_MAX - 1, 1), 6);
  fail_unless_equals_int(tile_count(INT_MAX, INT_MAX, INT_MAX, INT_MAX, INT_MAX), 1);
}
GST_END_TEST;

// Units times index, and the area, are past int for pictures far smaller than an int allows.
GST_START_TEST(largest_tiles_do_not_overflow) {
  constexpr int sizes[][2] = {{INT_MAX, INT_MAX}, {INT_MAX, 1}, {1, INT_MAX}, {INT_MAX, 17}};
  for (const StripeUnit& unit : units)
    for (const auto& size : sizes)
      for (const int count : {1, 3, 255, 256}) {
        const std::vector<Rect> plan = tiles(size[0], size[1], count, unit);
        fail_unless_equals_int(static_cast<int>(plan.size()), count);
        fail_unless_equals_int64(area_of(plan), std::int64_t{size[0]} * size[1]);
        const Rect& last = plan.back();
        fail_unless(last.x + std::int64_t{last.width} == size[0] &&
                    last.y + std::int64_t{last.height} == size[1]);
        for (const Rect& tile : plan)
          fail_unless(tile.x >= 0 && tile.y >= 0 && tile.width > 0 && tile.height > 0);
      }
}
GST_END_TEST;

GST_START_TEST(values_below_one_throw) {
  for (const int bad : {0, -1, INT_MIN}) {
    bool thrown = false;
    try {
      tiles(4, 4, bad, {1, 1});
    } catch (const std::invalid_argument&) {
      thrown = true;
    }
    fail_unless(thrown);
  }
}
GST_END_TEST;

static Suite* plan_tiles_suite() {
  Suite* suite = suite_create("plan-tiles");
  TCase* cases = tcase_create("tiles");
  suite_add_tcase(suite, cases);
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, tiles_follow_the_formula);
  tcase_add_test(cases, five_tiles_by_hand);
  tcase_add_test(cases, each_pixel_is_in_one_tile);
  tcase_add_test(cases, tiles_begin_and_end_on_units);
  tcase_add_test(cases, bands_are_as_near_to_the_root_as_they_can_be);
  tcase_add_test(cases, lines_of_pixels_are_cut_as_rows_or_columns);
  tcase_add_test(cases, count_of_tiles_is_clamped);
  tcase_add_test(cases, largest_tiles_do_not_overflow);
  tcase_add_test(cases, values_below_one_throw);
  return suite;
}

LIBRARY_CHECK_MAIN(plan_tiles)
