// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/plan.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

namespace stripe {

namespace {

// A piece of one axis, in samples.
struct Span {
  int begin;
  int length;
};

void check(const PlanRequest& request) {
  if (request.width < 1 || request.height < 1 || request.count < 1 || request.unit.x < 1 ||
      request.unit.y < 1)
    throw std::invalid_argument("a plan needs a size, a count and units of at least 1");
}

std::int64_t units_in(int length, int unit) { return (std::int64_t{length} + unit - 1) / unit; }

std::vector<Span> split(int length, int unit, int count) {
  const std::int64_t units = units_in(length, unit);
  const std::int64_t n = std::min<std::int64_t>(count, units);
  const auto boundary = [&](std::int64_t i) {
    return static_cast<int>(std::min<std::int64_t>(i * units / n * unit, length));
  };
  std::vector<Span> spans;
  spans.reserve(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i)
    spans.push_back({boundary(i), boundary(i + 1) - boundary(i)});
  return spans;
}

std::int64_t square_root(std::int64_t n) {
  std::int64_t root = 1;
  while ((root + 1) * (root + 1) <= n) ++root;
  return root;
}

std::vector<Rect> make_tiles(const PlanRequest& request) {
  const std::int64_t across = units_in(request.width, request.unit.x);
  const std::int64_t down = units_in(request.height, request.unit.y);
  const std::int64_t n = std::min<std::int64_t>(request.count, across * down);
  const std::int64_t bands = std::min(down, std::max(square_root(n), (n + across - 1) / across));
  std::vector<Rect> tiles;
  tiles.reserve(static_cast<std::size_t>(n));
  std::int64_t j = 0;
  for (const Span& band : split(request.height, request.unit.y, static_cast<int>(bands))) {
    const auto columns = static_cast<int>((j + 1) * n / bands - j * n / bands);
    for (const Span& column : split(request.width, request.unit.x, columns))
      tiles.push_back({column.begin, band.begin, column.length, band.length});
    ++j;
  }
  return tiles;
}

}  // namespace

StripeUnit stripe_unit(const PixelLayout& layout, bool interlaced) {
  StripeUnit unit;
  for (int c = 0; c < layout.component_count(); ++c) {
    unit.x = std::max(unit.x, 1 << layout.components[c].log2_sub_x);
    unit.y = std::max(unit.y, 1 << layout.components[c].log2_sub_y);
  }
  if (interlaced) unit.y *= 2;
  return unit;
}

std::vector<Rect> make_plan(const PlanRequest& request) {
  check(request);
  std::vector<Rect> stripes;
  switch (request.layout) {
    case StripeLayout::rows:
      for (const Span& s : split(request.height, request.unit.y, request.count))
        stripes.push_back({0, s.begin, request.width, s.length});
      break;
    case StripeLayout::columns:
      for (const Span& s : split(request.width, request.unit.x, request.count))
        stripes.push_back({s.begin, 0, s.length, request.height});
      break;
    case StripeLayout::tiles:
      return make_tiles(request);
  }
  return stripes;
}

}  // namespace stripe
