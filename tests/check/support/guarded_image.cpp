// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/guarded_image.h"

#include <cstdio>
#include <cstdlib>

namespace test {
namespace {

constexpr int offsets[] = {0, 1, 3, 16, 37, 67};
constexpr int paddings[] = {0, 0, 1, 2, 3, 5, 13, 31};

template <typename... Args>
std::string words(const char* text, Args... args) {
  char buffer[200];
  std::snprintf(buffer, sizeof buffer, text, args...);
  return buffer;
}

int stride_of(const Format& format, int plane, int width, const PlaneGeometry& geometry) {
  return row_bytes(format, plane, width) + geometry.padding;
}

/// The last row has no padding behind it: nothing is owed there.
std::size_t extent_of(const Picture& picture, int plane, const PlaneGeometry& geometry) {
  const std::size_t rows = row_count(*picture.format, plane, picture.height);
  return (rows - 1) * stride_of(*picture.format, plane, picture.width, geometry) +
         row_bytes(*picture.format, plane, picture.width);
}

}  // namespace

Geometry random_geometry(Random& random, bool may_be_upside_down) {
  Geometry geometry;
  for (PlaneGeometry& plane : geometry.planes)
    plane = {random.pick(offsets), random.pick(paddings), random.pick(offsets),
             may_be_upside_down && random.one_in(3)};
  return geometry;
}

Geometry aligned_geometry(const Format& format, int width) {
  Geometry geometry;
  for (int i = 0; i < format.planes; ++i) {
    const int padding = (64 - row_bytes(format, i, width) % 64) % 64;
    geometry.planes[i] = {0, padding, padding, false};
  }
  return geometry;
}

std::shared_ptr<std::uint8_t> allocate_on_heap(std::size_t size_bytes) {
  return {static_cast<std::uint8_t*>(std::malloc(size_bytes)), std::free};
}

GuardedImage::GuardedImage(const Format& format, int width, int height, const Geometry& geometry,
                           Random& random, const Allocate& allocate)
    : picture_{&format, width, height, {}} {
  std::size_t size_bytes = 0;
  for (int i = 0; i < format.planes; ++i)
    size_bytes += geometry.planes[i].before + extent_of(picture_, i, geometry.planes[i]) +
                  geometry.planes[i].after;
  memory_ = allocate(size_bytes);
  original_.resize(size_bytes);
  is_sample_.resize(size_bytes);
  place_planes(geometry);
  mark_samples();
  refill(random);
}

void GuardedImage::place_planes(const Geometry& geometry) {
  std::uint8_t* next = memory_.get();
  for (int i = 0; i < picture_.format->planes; ++i) {
    const PlaneGeometry& plane = geometry.planes[i];
    const std::ptrdiff_t stride = stride_of(*picture_.format, i, picture_.width, plane);
    const std::ptrdiff_t rows = row_count(*picture_.format, i, picture_.height);
    next += plane.before;
    picture_.planes[i] = plane.upside_down
                             ? BasicPlane<std::uint8_t>{next + stride * (rows - 1), -stride}
                             : BasicPlane<std::uint8_t>{next, stride};
    next += extent_of(picture_, i, plane) + plane.after;
  }
}

void GuardedImage::mark_samples() {
  for (int i = 0; i < picture_.format->planes; ++i)
    for (int y = 0; y < row_count(*picture_.format, i, picture_.height); ++y)
      for (int x = 0; x < row_bytes(*picture_.format, i, picture_.width); ++x)
        is_sample_[picture_.planes[i].data + y * picture_.planes[i].stride + x - memory_.get()] =
            true;
}

void GuardedImage::refill(Random& random) {
  random.fill(memory_.get(), size_bytes());
  original_.assign(memory_.get(), memory_.get() + size_bytes());
}

void GuardedImage::spoil(const ConstPicture& expected) {
  for (int i = 0; i < picture_.format->planes; ++i)
    for (int y = 0; y < row_count(*picture_.format, i, picture_.height); ++y)
      for (int x = 0; x < row_bytes(*picture_.format, i, picture_.width); ++x)
        picture_.planes[i].data[y * picture_.planes[i].stride + x] =
            expected.planes[i].data[y * expected.planes[i].stride + x] ^ 0x55;
  original_.assign(memory_.get(), memory_.get() + size_bytes());
}

std::string GuardedImage::damage(bool samples_too) const {
  for (std::size_t i = 0; i < size_bytes(); ++i) {
    if (memory_.get()[i] == original_[i] || (is_sample_[i] && !samples_too)) continue;
    return words(
        "%s %dx%d: byte %zu of the memory was written, 0x%02x -> 0x%02x, plane 0 begins at %td",
        picture_.format->name, picture_.width, picture_.height, i, original_[i], memory_.get()[i],
        picture_.planes[0].data - memory_.get());
  }
  return {};
}

std::string GuardedImage::guard_damage() const { return damage(false); }

std::string GuardedImage::any_damage() const { return damage(true); }

std::string difference(const ConstPicture& expected, const ConstPicture& got, int tolerance) {
  const Format& format = *expected.format;
  for (int i = 0; i < format.planes; ++i) {
    for (int y = 0; y < row_count(format, i, expected.height); ++y) {
      const std::uint8_t* want = expected.planes[i].data + y * expected.planes[i].stride;
      const std::uint8_t* have = got.planes[i].data + y * got.planes[i].stride;
      for (int x = 0; x < row_bytes(format, i, expected.width); ++x)
        if (std::abs(want[x] - have[x]) > tolerance)
          return words("%s %dx%d plane %d byte %d of row %d: expected %d, got %d", format.name,
                       expected.width, expected.height, i, x, y, want[x], have[x]);
    }
  }
  return {};
}

}  // namespace test
