// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/formats.h"
#include "support/random.h"
#include "support/reference.h"

namespace test {

/// How one plane lies in its memory.
///
/// Units: bytes. `padding` is added to the row bytes to give the stride; `before` and `after` are
/// guard
///        bytes around the plane.
struct PlaneGeometry {
  int before = 0;
  int padding = 0;
  int after = 0;
  bool upside_down = false;  ///< negative stride: the first row is the last one in memory
};

/// Geometry of all planes; the default is as tight as can be.
struct Geometry {
  PlaneGeometry planes[3];
};

/// Odd offsets and strides, now and then none at all, so that a plane touches the end of its
/// memory.
Geometry random_geometry(Random& random, bool may_be_upside_down);

/// Planes and strides in multiples of 64 bytes, for kernels that are faster where memory is
/// aligned.
Geometry aligned_geometry(const Format& format, int width);

/// Takes memory for an image; the deleter gives it back.
using Allocate = std::function<std::shared_ptr<std::uint8_t>(std::size_t size_bytes)>;

/// Memory of exactly that size, so that ASan sees the first byte behind it.
std::shared_ptr<std::uint8_t> allocate_on_heap(std::size_t size_bytes);

/// A picture in memory of its own, all planes in one block, filled with random bytes; remembers
/// them and so sees whether anything but samples was written.
class GuardedImage {
 public:
  GuardedImage(const Format& format, int width, int height, const Geometry& geometry,
               Random& random, const Allocate& allocate = allocate_on_heap);

  const Picture& picture() const { return picture_; }
  ConstPicture view() const { return as_const(picture_); }
  std::size_t size_bytes() const { return original_.size(); }
  std::uint8_t* memory() const { return memory_.get(); }

  /// What was written that is not a sample, in words; empty if nothing.
  std::string guard_damage() const;

  /// What was written at all, in words; empty if nothing.
  std::string any_damage() const;

  /// Fills everything, guards too, and remembers that.
  void refill(Random& random);

  /// Gives every sample byte a value that `expected` does not have there, so that whatever stays
  /// unwritten is found out.
  void spoil(const ConstPicture& expected);

 private:
  void place_planes(const Geometry& geometry);
  void mark_samples();
  std::string damage(bool samples_too) const;

  Picture picture_;
  std::shared_ptr<std::uint8_t> memory_;
  std::vector<std::uint8_t> original_;
  std::vector<bool> is_sample_;
};

/// The first byte of `got` further than `tolerance` from `expected`: format, size, plane, byte, row
/// and both values in words; empty if there is none. Every byte of every row counts.
std::string difference(const ConstPicture& expected, const ConstPicture& got, int tolerance = 0);

}  // namespace test
