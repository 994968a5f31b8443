// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What a kernel does with the words of a row. Device code, for cuda_row_kernels.cu alone.

#include <cstdint>

#include "cuda/affine.h"
#include "cuda/plane_jobs.h"

namespace stripe::row_units {

constexpr unsigned int threads_a_block = 256;  // a power of two

// What happens to the `period` bytes of a pixel. One type a kind of map, so that a kernel carries
// no more than it needs.
struct Copy {
  static constexpr ByteMap::Kind kind = ByteMap::Kind::copy;
  static constexpr int period = 1;

  Copy() = default;
  explicit Copy(const ByteMap&) {}
  __device__ unsigned int operator()(const unsigned int* pixel, int i) const { return pixel[i]; }
};

template <int bytes>
struct Diagonal {
  static constexpr ByteMap::Kind kind = ByteMap::Kind::diagonal;
  static constexpr int period = bytes;

  Diagonal() = default;
  explicit Diagonal(const ByteMap& map) {
    for (int i = 0; i < period; ++i) {
      coefficient[i] = map.coefficient[i][i];
      offset[i] = map.offset[i];
    }
  }
  __device__ unsigned int operator()(const unsigned int* pixel, int i) const {
    return affine_code(coefficient[i] * static_cast<int>(pixel[i]) + offset[i]);
  }
  int coefficient[period];
  int offset[period];
};

template <int bytes>
struct Matrix {
  static constexpr ByteMap::Kind kind = ByteMap::Kind::matrix;
  static constexpr int period = bytes;

  Matrix() = default;
  explicit Matrix(const ByteMap& map) {
    for (int i = 0; i < period; ++i) {
      for (int k = 0; k < period; ++k) coefficient[i][k] = map.coefficient[i][k];
      offset[i] = map.offset[i];
    }
  }
  __device__ unsigned int operator()(const unsigned int* pixel, int i) const {
    int sum = offset[i];
#pragma unroll
    for (int k = 0; k < period; ++k) sum += coefficient[i][k] * static_cast<int>(pixel[k]);
    return affine_code(sum);
  }
  int coefficient[period][period];
  int offset[period];
};

// What a thread reads at once: as few words as hold whole pixels.
template <int period, typename Word>
struct Unit {
  static constexpr int words = period == 3 ? 3 : 1;
  static constexpr int bytes = words * static_cast<int>(sizeof(Word));
  static constexpr int pixels = bytes / period;
  union {
    Word word[words];
    unsigned int quad[bytes / 4];
  };

  __device__ unsigned int byte(int i) const { return quad[i / 4] >> (8 * (i % 4)) & 0xff; }
};

template <int period, typename Map, typename Word>
__device__ Unit<period, Word> map_unit(const Map& map, const Unit<period, Word>& in) {
  using U = Unit<period, Word>;
  U out;
#pragma unroll
  for (int q = 0; q < U::bytes / 4; ++q) out.quad[q] = 0;
#pragma unroll
  for (int p = 0; p < U::pixels; ++p) {
    unsigned int pixel[period];
#pragma unroll
    for (int i = 0; i < period; ++i) pixel[i] = in.byte(p * period + i);
#pragma unroll
    for (int i = 0; i < period; ++i) {
      const int at = p * period + i;
      out.quad[at / 4] |= map(pixel, i) << (8 * (at % 4));
    }
  }
  return out;
}

// Units `first`, `first + step`, ... of a row, one word each.
template <int period, typename Map, typename Word>
__device__ void map_units(const Map& map, const Word* from, Word* to, unsigned long long units,
                          unsigned long long first, unsigned long long step) {
  using U = Unit<period, Word>;
  for (unsigned long long i = first; i < units; i += step) {
    U unit;
    unit.word[0] = from[i];
    to[i] = map_unit<period, Map, Word>(map, unit).word[0];
  }
}

// The same for units of three words. A warp reads and writes words side by side and trades them in
// shared memory: over the link, accesses with gaps take four times as long.
template <int period, typename Map, typename Word>
__device__ void map_wide_units(const Map& map, const Word* from, Word* to, unsigned long long units,
                               unsigned long long first, unsigned long long step) {
  using U = Unit<period, Word>;
  __shared__ U tiles[threads_a_block];
  const unsigned int lane = threadIdx.x % 32;
  U* const tile = &tiles[threadIdx.x - lane];
  Word* const words = tile->word;
  for (unsigned long long base = first - lane; base < units; base += step) {
    const auto here = static_cast<unsigned int>(min(units - base, 32ull));
    for (unsigned int w = lane; w < here * U::words; w += 32) words[w] = from[base * U::words + w];
    __syncwarp();
    if (lane < here) tile[lane] = map_unit<period, Map, Word>(map, tile[lane]);
    __syncwarp();
    for (unsigned int w = lane; w < here * U::words; w += 32) to[base * U::words + w] = words[w];
    __syncwarp();
  }
}

// The same for words that lie over a link: both sides are read and written by whole lines, however
// they lie to each other, and traded in shared memory. Accesses that straddle lines take a tenth
// longer. All threads of a block are at the same row; the block takes every `step`th tile.
template <int period, typename Map, typename Word>
__device__ void map_tiles(const Map& map, const Word* from, Word* to, unsigned long long units,
                          unsigned long long first_tile, unsigned long long step) {
  using U = Unit<period, Word>;
  constexpr unsigned int line_words = 128 / sizeof(Word);
  constexpr unsigned int per_thread = 2;
  constexpr unsigned int tile_words = per_thread * threads_a_block;
  __shared__ Word tile[tile_words + line_words];
  const auto place = [](const Word* word) {
    return static_cast<unsigned int>(reinterpret_cast<std::uintptr_t>(word) / sizeof(Word)) %
           line_words;
  };
  const unsigned int lead = place(to);  // words of the first line that are not the row's
  const unsigned int shift = (place(from) - lead) % line_words;
  const auto is_in_row = [&](long long i) {
    return i >= 0 && static_cast<unsigned long long>(i) < units;
  };
  for (unsigned long long t = first_tile; t * tile_words < units + lead; t += step) {
    const long long begin = static_cast<long long>(t * tile_words) - lead;
    const long long read_begin = begin - shift;
    Word read[per_thread + 1] = {};  // all on their way at once
#pragma unroll
    for (unsigned int p = 0; p <= per_thread; ++p) {
      const unsigned int k = threadIdx.x + p * threads_a_block;
      if (k < tile_words + shift && is_in_row(read_begin + k)) read[p] = from[read_begin + k];
    }
    __syncthreads();  // the tile before was written
#pragma unroll
    for (unsigned int p = 0; p <= per_thread; ++p) {
      const unsigned int k = threadIdx.x + p * threads_a_block;
      if (k < tile_words + shift) tile[k] = read[p];
    }
    __syncthreads();
#pragma unroll
    for (unsigned int p = 0; p < per_thread; ++p) {
      const unsigned int k = threadIdx.x + p * threads_a_block;
      if (!is_in_row(begin + k)) continue;
      U unit;
      unit.word[0] = tile[k + shift];
      to[begin + k] = map_unit<period, Map, Word>(map, unit).word[0];
    }
  }
}

template <int period, typename Map>
__device__ void map_pixel(const Map& map, const unsigned char* from, unsigned char* to) {
  unsigned int pixel[period];
#pragma unroll
  for (int i = 0; i < period; ++i) pixel[i] = from[i];
#pragma unroll
  for (int i = 0; i < period; ++i) to[i] = static_cast<unsigned char>(map(pixel, i));
}

// How a row falls into units: pixels before the first aligned word, units, pixels behind them.
// Without units where input and output are not aligned alike, or never on a whole pixel.
struct RowSplit {
  unsigned long long head;
  unsigned long long units;
};

template <int period, typename Word>
__device__ RowSplit split_row(const unsigned char* from, const unsigned char* to,
                              unsigned long long pixels) {
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  const std::uintptr_t mask = sizeof(Word) - 1;
  if (((address ^ reinterpret_cast<std::uintptr_t>(to)) & mask) != 0) return {0, 0};
  // For 3 it is the h with address + 3 * h = 0 modulo the word, since 3 * 5 = -1 modulo 4 and 16.
  if (period != 3 && (0 - address) % period != 0) return {0, 0};
  const unsigned long long head =
      period == 3 ? (address * 5) & mask : ((0 - address) & mask) / period;
  if (head >= pixels) return {0, 0};
  return {head, (pixels - head) / Unit<period, Word>::pixels};
}

}  // namespace stripe::row_units
