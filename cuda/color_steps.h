// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The arithmetic of the steps that are not affine, shared by both backends: integers alone, so that
// both give the same. No host includes.

#include "cuda/affine.h"

namespace stripe {

/// R'G'B' of a pixel.
///
/// Units:   0..65535 stand for 0..1.
struct Rgb16 {
  int value[3];
};

constexpr int rgb16_one = 65535;

// The curve of gamma is steepest at its foot: up to 2^12 each input has an entry, then each power
// of 2 has half as many.
constexpr int gamma_octave_entries = 1 << 11;
constexpr int gamma_octaves = 5;  ///< the first one is all inputs below 2^12
constexpr int gamma_entries = (gamma_octaves + 1) * gamma_octave_entries;

constexpr int curve_entries = rgb16_one + 1;  ///< of one component

/// What happens to a pixel: codes to R'G'B' with all affine steps, clamped; gamma; threshold, or
/// a table of curves and a cube; back to codes.
///
/// Units:   `to_rgb` in 2^-16 of an Rgb16 unit a code, `from_rgb` in 2^-24 of a code an Rgb16
///          unit, `luma` in 2^-15; `least_white` in 2^-15 of an Rgb16 unit of luma.
struct ColorSteps {
  int to_rgb[3][3];
  long long to_rgb_offset[3];
  int from_rgb[3][3];
  long long from_rgb_offset[3];
  bool has_gamma;
  bool has_threshold;
  bool has_curves;
  int cube_size;  ///< 0: none
  int luma[3];
  int least_white;
  Rgb16 black, white;  ///< what threshold makes, after the LUT
};

/// The tables where a device finds them; nullptr where there is none. An entry of gamma is a value
/// and, above 16 bits, how much greater the next one is.
struct LookUpTables {
  const unsigned int* gamma;       ///< gamma_entries
  const unsigned short* curves;    ///< curve_entries of R', then of G', then of B'
  const unsigned long long* cube;  ///< red fastest: R' in the lowest 16 bits, then G', then B'
};

/// What pixels that share chroma have in common on the way to R'G'B'.
///
/// Units:   2^-16 of an Rgb16 unit.
struct SharedPart {
  long long sum[3];
};

/// For the codes of the second and third component; 0 where there are none.
STRIPE_HOST_DEVICE constexpr SharedPart shared_part(const ColorSteps& steps, int b, int c) {
  SharedPart part{};
  for (int i = 0; i < 3; ++i)
    part.sum[i] = static_cast<long long>(steps.to_rgb[i][1]) * b +
                  static_cast<long long>(steps.to_rgb[i][2]) * c + steps.to_rgb_offset[i];
  return part;
}

/// A pixel with this code of the first component as R'G'B', rounded half up and clamped.
STRIPE_HOST_DEVICE constexpr Rgb16 rgb_from(const ColorSteps& steps, int a,
                                            const SharedPart& part) {
  Rgb16 rgb{};
  for (int i = 0; i < 3; ++i) {
    const long long sum = static_cast<long long>(steps.to_rgb[i][0]) * a + part.sum[i];
    // The bounds of the factors keep it below 2^24.
    const int value = static_cast<int>((sum + (1 << 15)) >> 16);
    rgb.value[i] = value < 0 ? 0 : value > rgb16_one ? rgb16_one : value;
  }
  return rgb;
}

/// The code of component `row` of the mean of 2^`log2_pixels` pixels whose values are added up in
/// `sum`, rounded half up once and saturated.
STRIPE_HOST_DEVICE constexpr unsigned char code_from(const ColorSteps& steps, int row,
                                                     const Rgb16& sum, int log2_pixels) {
  long long total = steps.from_rgb_offset[row] << log2_pixels;
  for (int i = 0; i < 3; ++i)
    total += static_cast<long long>(steps.from_rgb[row][i]) * sum.value[i];
  const int shift = 24 + log2_pixels;
  // Below 2^16, as its factors are those of a colour space.
  const int code = static_cast<int>((total + (1ll << (shift - 1))) >> shift);
  return static_cast<unsigned char>(code < 0 ? 0 : code > 255 ? 255 : code);
}

/// How many bits a positive number has.
STRIPE_HOST_DEVICE constexpr int bits_of(int value) {
#if defined(__CUDA_ARCH__)
  return 32 - __clz(value);
#else
  return 32 - __builtin_clz(static_cast<unsigned int>(value));
#endif
}

/// Linear between the entries.
STRIPE_HOST_DEVICE constexpr int gamma_at(const unsigned int* table, int value) {
  const int octave = bits_of(value | (2 * gamma_octave_entries - 1)) - 12;
  const unsigned int entry = table[octave * gamma_octave_entries + (value >> octave)];
  const unsigned int one = 1u << octave;
  const unsigned int fraction = static_cast<unsigned int>(value) & (one - 1);
  const unsigned int rise = ((entry >> 16) * fraction + one / 2) >> octave;
  return static_cast<int>((entry & 0xffff) + rise);
}

STRIPE_HOST_DEVICE constexpr bool is_white(const ColorSteps& steps, const Rgb16& rgb) {
  return steps.luma[0] * rgb.value[0] + steps.luma[1] * rgb.value[1] +
             steps.luma[2] * rgb.value[2] >=
         steps.least_white;
}

/// Where a value lies on one axis of a cube: between which entries, and how far.
///
/// Units:   `stride` of the axis in entries; `fraction` in 1/65535 of the way.
struct CubeAxis {
  int cell;
  int stride;
  unsigned int fraction;
};

STRIPE_HOST_DEVICE constexpr CubeAxis cube_axis(int value, int size, int stride) {
  const auto position = static_cast<unsigned int>(value) * static_cast<unsigned int>(size - 1);
  int cell = static_cast<int>(position / rgb16_one);
  // The last entry is the far end of the last cell.
  if (cell == size - 1) --cell;
  return {cell, stride, position - static_cast<unsigned int>(cell) * rgb16_one};
}

STRIPE_HOST_DEVICE constexpr void put_greater_first(CubeAxis& a, CubeAxis& b) {
  if (a.fraction >= b.fraction) return;
  const CubeAxis first = b;
  b = a;
  a = first;
}

/// Tetrahedral: from the cell's darkest corner along the axes, the one with the greatest fraction
/// first.
STRIPE_HOST_DEVICE constexpr Rgb16 cube_at(const unsigned long long* cube, int size,
                                           const Rgb16& rgb) {
  CubeAxis a = cube_axis(rgb.value[0], size, 1);
  CubeAxis b = cube_axis(rgb.value[1], size, size);
  CubeAxis c = cube_axis(rgb.value[2], size, size * size);
  const int first = a.cell + b.cell * b.stride + c.cell * c.stride;
  put_greater_first(a, b);
  put_greater_first(b, c);
  put_greater_first(a, b);
  const int second = first + a.stride, third = second + b.stride, last = third + c.stride;
  const unsigned long long entries[4] = {cube[first], cube[second], cube[third], cube[last]};
  const unsigned int weights[4] = {rgb16_one - a.fraction, a.fraction - b.fraction,
                                   b.fraction - c.fraction, c.fraction};
  Rgb16 out{};
  for (int i = 0; i < 3; ++i) {
    // The weights add up to 65535, so the sum is below 2^32.
    unsigned int sum = rgb16_one / 2;
    for (int k = 0; k < 4; ++k)
      sum += weights[k] * static_cast<unsigned int>(entries[k] >> (16 * i) & 0xffff);
    out.value[i] = static_cast<int>(sum / rgb16_one);
  }
  return out;
}

/// The LUT's part of the steps.
STRIPE_HOST_DEVICE constexpr Rgb16 run_lut(const ColorSteps& steps, const LookUpTables& tables,
                                           Rgb16 rgb) {
  if (steps.has_curves)
    for (int i = 0; i < 3; ++i) rgb.value[i] = tables.curves[i * curve_entries + rgb.value[i]];
  if (steps.cube_size != 0) rgb = cube_at(tables.cube, steps.cube_size, rgb);
  return rgb;
}

/// All steps on R'G'B'.
STRIPE_HOST_DEVICE constexpr Rgb16 run_steps(const ColorSteps& steps, const LookUpTables& tables,
                                             Rgb16 rgb) {
  if (steps.has_gamma)
    for (int i = 0; i < 3; ++i) rgb.value[i] = gamma_at(tables.gamma, rgb.value[i]);
  if (steps.has_threshold) return is_white(steps, rgb) ? steps.white : steps.black;
  return run_lut(steps, tables, rgb);
}

}  // namespace stripe
