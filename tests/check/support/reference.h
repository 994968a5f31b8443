// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What the effects mean, written twice and slowly: the oracles that outputs are compared with.

#include <array>
#include <cstddef>
#include <cstdint>

#include "support/formats.h"

namespace test {

/// Rows of a plane; `stride` in bytes, negative where rows go up in memory.
template <typename Byte>
struct BasicPlane {
  Byte* data = nullptr;
  std::ptrdiff_t stride = 0;
};

/// A view of a whole picture. Owner: somebody else.
template <typename Byte>
struct BasicPicture {
  const Format* format = nullptr;
  int width = 0;
  int height = 0;
  BasicPlane<Byte> planes[3];

  /// The sample of component `component` that pixel (x, y), in luma samples, uses.
  Byte& sample(int component, int x, int y) const {
    const Place& place = format->places[component];
    const BasicPlane<Byte>& plane = planes[place.plane];
    return plane
        .data[(y / place.sub_y) * plane.stride + (x / place.sub_x) * place.step + place.offset];
  }
};

using Picture = BasicPicture<std::uint8_t>;
using ConstPicture = BasicPicture<const std::uint8_t>;

inline ConstPicture as_const(const Picture& picture) {
  ConstPicture view{picture.format, picture.width, picture.height, {}};
  for (int i = 0; i < 3; ++i) view.planes[i] = {picture.planes[i].data, picture.planes[i].stride};
  return view;
}

enum class Effect { none, invert, gray };

inline constexpr Effect effects[] = {Effect::none, Effect::invert, Effect::gray};

const char* effect_name(Effect effect);

/// The luma coefficients of red and blue; `full_range` is codes 0..255, else luma and R'G'B' lie in
/// 16..235 and chroma in 16..240.
struct Colors {
  double kr;
  double kb;
  bool full_range;
};

inline constexpr Colors bt601_limited{0.299, 0.114, false};
inline constexpr Colors bt601_full{0.299, 0.114, true};
inline constexpr Colors bt709_limited{0.2126, 0.0722, false};
inline constexpr Colors bt709_full{0.2126, 0.0722, true};
inline constexpr Colors bt2020_limited{0.2627, 0.0593, false};
inline constexpr Colors bt2020_full{0.2627, 0.0593, true};

/// A matrix on codes: each row has three coefficients and an offset, in 2^-16.
using Matrix = std::array<std::array<std::int64_t, 4>, 3>;

/// The 8-bit affine formula with any matrix. On subsampled formats it must not mix luma with
/// chroma.
void affine(const Matrix& matrix, const ConstPicture& in, const Picture& out);

/// The part of a picture that begins at (x, y), a whole block of the format, in luma samples.
template <typename Byte>
BasicPicture<Byte> sub_picture(const BasicPicture<Byte>& picture, int x, int y, int width,
                               int height) {
  BasicPicture<Byte> part{picture.format, width, height, {}};
  for (int i = 0; i < picture.format->planes; ++i) {
    const Place& place = first_place(*picture.format, i);
    const BasicPlane<Byte>& plane = picture.planes[i];
    part.planes[i] = {
        plane.data + (y / place.sub_y) * plane.stride + (x / place.sub_x) * place.step,
        plane.stride};
  }
  return part;
}

/// The effect by the 8-bit affine formula: outputs must equal it to the bit. Format and size of
/// both pictures are equal.
void exact(Effect effect, const Colors& colors, const ConstPicture& in, const Picture& out);

/// The meaning on R'G'B' in double precision, rounded to codes at the end: outputs must be
/// within 1.
void in_double(Effect effect, const Colors& colors, const ConstPicture& in, const Picture& out);

}  // namespace test
