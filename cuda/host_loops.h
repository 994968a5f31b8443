// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The loops of the host's affine kernels, written so that compilers make vector instructions of
// them: blocks of a fixed length without a branch, and a row's rest through a block of its own.
// They are inlined into functions that are compiled for different instruction sets, of which a
// machine runs one.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cuda/affine.h"

#define STRIPE_INLINE inline __attribute__((always_inline))

namespace stripe {

using Code = unsigned char;

// Numbers that lie at any address: loads by way of memcpy to an array would go through memory.
using UnalignedPair [[gnu::aligned(1), gnu::may_alias]] = std::uint16_t;
using UnalignedQuad [[gnu::aligned(1), gnu::may_alias]] = std::uint32_t;

/// Samples or pixels of a block; whole vectors, whatever their length.
inline constexpr int block_length = 32;

STRIPE_INLINE Code clamp_code(Code value, Code low, Code high) {
  const Code raised = value < low ? low : value;
  return raised > high ? high : raised;
}

/// v + k, k - v or k, k whole, for each byte of a pixel of `period` bytes. 8 bits hold it: what
/// would leave the range of codes is clamped before.
template <int bytes>
struct ShiftLoop {
  static constexpr int block_bytes = bytes;
  Code low[bytes], high[bytes], flip[bytes], add[bytes];

  STRIPE_INLINE void operator()(const Code* __restrict from, Code* __restrict to) const {
    for (int i = 0; i < bytes; ++i)
      to[i] = static_cast<Code>((clamp_code(from[i], low[i], high[i]) ^ flip[i]) + add[i]);
  }
};

/// A diagonal, with the factors of each byte of the block.
template <int bytes>
struct DiagonalLoop {
  static constexpr int block_bytes = bytes;
  int factor[bytes], offset[bytes];

  STRIPE_INLINE void operator()(const Code* __restrict from, Code* __restrict to) const {
    for (int i = 0; i < bytes; ++i) to[i] = affine_code(factor[i] * from[i] + offset[i]);
  }
};

/// A matrix on pixels of two bytes. Each is taken as one number, so that no bytes change places;
/// byte 0 is the number's low one.
struct PairLoop {
  static constexpr int block_bytes = 2 * block_length;
  int factor[2][2], offset[2];

  STRIPE_INLINE void operator()(const Code* __restrict from, Code* __restrict to) const {
    const auto* const in = reinterpret_cast<const UnalignedPair*>(from);
    auto* const out = reinterpret_cast<UnalignedPair*>(to);
    for (int i = 0; i < block_length; ++i) {
      const int a = in[i] & 0xff, b = in[i] >> 8;
      out[i] = static_cast<std::uint16_t>(
          affine_code(factor[0][0] * a + factor[0][1] * b + offset[0]) |
          affine_code(factor[1][0] * a + factor[1][1] * b + offset[1]) << 8);
    }
  }
};

/// A matrix on three of the four bytes of a pixel, which is taken as one number; byte i of the
/// three is `shift[i]` bits up in it, and `kept` is the mask of the fourth one.
struct QuadLoop {
  static constexpr int block_bytes = 4 * block_length;
  int factor[3][3], offset[3];
  int shift[3];
  std::uint32_t kept;

  STRIPE_INLINE void operator()(const Code* __restrict from, Code* __restrict to) const {
    const auto* const in = reinterpret_cast<const UnalignedQuad*>(from);
    auto* const out = reinterpret_cast<UnalignedQuad*>(to);
    for (int i = 0; i < block_length; ++i) {
      const int a = static_cast<int>(in[i] >> shift[0] & 0xff);
      const int b = static_cast<int>(in[i] >> shift[1] & 0xff);
      const int c = static_cast<int>(in[i] >> shift[2] & 0xff);
      std::uint32_t pixel = in[i] & kept;
      for (int k = 0; k < 3; ++k)
        pixel |= std::uint32_t{affine_code(factor[k][0] * a + factor[k][1] * b + factor[k][2] * c +
                                           offset[k])}
                 << shift[k];
      out[i] = pixel;
    }
  }
};

/// A matrix on pixels of three bytes.
struct TripleLoop {
  static constexpr int block_bytes = 3 * block_length;
  int factor[3][3], offset[3];

  STRIPE_INLINE void operator()(const Code* __restrict from, Code* __restrict to) const {
    int in[3][block_length];
    Code out[3][block_length];
    for (int i = 0; i < block_length; ++i)
      for (int k = 0; k < 3; ++k) in[k][i] = from[3 * i + k];
    for (int i = 0; i < block_length; ++i)
      for (int k = 0; k < 3; ++k)
        out[k][i] = affine_code(factor[k][0] * in[0][i] + factor[k][1] * in[1][i] +
                                factor[k][2] * in[2][i] + offset[k]);
    for (int i = 0; i < block_length; ++i)
      for (int k = 0; k < 3; ++k) to[3 * i + k] = out[k][i];
  }
};

/// A matrix on the samples of two or three planes.
template <int count>
struct PlanarLoop {
  int factor[count][count], offset[count];

  STRIPE_INLINE Code code(int row, int a, int b, int c) const {
    const int sum = factor[row][0] * a + factor[row][1] * b + offset[row];
    if constexpr (count == 2)
      return affine_code(sum);
    else
      return affine_code(sum + factor[row][2] * c);
  }

  STRIPE_INLINE void operator()(const Code* __restrict a, const Code* __restrict b,
                                const Code* __restrict c, Code* __restrict to_a,
                                Code* __restrict to_b, Code* __restrict to_c) const {
    for (int i = 0; i < block_length; ++i) {
      const int third = count == 3 ? c[i] : 0;
      to_a[i] = code(0, a[i], b[i], third);
      to_b[i] = code(1, a[i], b[i], third);
      if constexpr (count == 3) to_c[i] = code(2, a[i], b[i], third);
    }
  }

  STRIPE_INLINE void run(const Code* const* from, Code* const* to, std::size_t at) const {
    if constexpr (count == 3)
      (*this)(from[0] + at, from[1] + at, from[2] + at, to[0] + at, to[1] + at, to[2] + at);
    else
      (*this)(from[0] + at, from[1] + at, nullptr, to[0] + at, to[1] + at, nullptr);
  }
};

/// Runs a loop over a row of bytes.
template <typename Loop>
STRIPE_INLINE void run_loop(const Loop& loop, const Code* from, Code* to, std::size_t bytes) {
  constexpr std::size_t block = Loop::block_bytes;
  std::size_t i = 0;
  for (; i + block <= bytes; i += block) loop(from + i, to + i);
  if (i == bytes) return;
  Code rest[block] = {}, done[block];
  std::memcpy(rest, from + i, bytes - i);
  loop(rest, done);
  std::memcpy(to + i, done, bytes - i);
}

/// Runs a loop over a row of samples in each of several planes.
template <int count>
STRIPE_INLINE void run_loop(const PlanarLoop<count>& loop, const Code* const (&from)[count],
                            Code* const (&to)[count], std::size_t samples) {
  std::size_t i = 0;
  for (; i + block_length <= samples; i += block_length) loop.run(from, to, i);
  if (i == samples) return;
  Code rest[count][block_length] = {}, done[count][block_length];
  const Code* rest_of[count];
  Code* done_of[count];
  for (int k = 0; k < count; ++k) {
    std::memcpy(rest[k], from[k] + i, samples - i);
    rest_of[k] = rest[k];
    done_of[k] = done[k];
  }
  loop.run(rest_of, done_of, 0);
  for (int k = 0; k < count; ++k) std::memcpy(to[k] + i, done[k], samples - i);
}

}  // namespace stripe
