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

std::vector<Span> split(int length, int unit, int count) {
  const std::int64_t units = (std::int64_t{length} + unit - 1) / unit;
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
  }
  return stripes;
}

}  // namespace stripe
