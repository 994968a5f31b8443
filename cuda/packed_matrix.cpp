// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/packed_matrix.h"

#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace stripe {

PackedMatrix::PackedMatrix(const Affine& affine, const PixelLayout& layout) noexcept
    : sums_{}, kept_{}, step_(layout.components[0].step_bytes), offset_{} {
  for (int c = 0; c < 3; ++c) {
    offset_[c] = layout.components[c].offset_bytes;
    for (int row = 0; row < 3; ++row) {
      const int byte = layout.components[row].offset_bytes;
      for (int value = 0; value < 256; ++value)
        sums_[c][value][byte] =
            affine.coefficient[row][c] * value + (c == 0 ? affine.offset[row] + affine_one / 2 : 0);
    }
  }
  if (layout.has_extra)
    for (int pixel = 0; pixel < 4; ++pixel)
      kept_[4 * pixel + layout.components[3].offset_bytes] = 255;
}

#if defined(__SSE2__)

bool PackedMatrix::is_fast() noexcept { return true; }

namespace {

__m128i load(const void* data) { return _mm_load_si128(static_cast<const __m128i*>(data)); }

// 4 bytes each: the fourth one of a pixel is written again by the next.
void store_threes(unsigned char* to, __m128i pixels) {
  for (int i = 0; i < 3; ++i) {
    const int pixel = _mm_cvtsi128_si32(pixels);
    std::memcpy(to + 3 * i, &pixel, 4);
    pixels = _mm_srli_si128(pixels, 4);
  }
  const int last = _mm_cvtsi128_si32(pixels);
  std::memcpy(to + 9, &last, 3);
}

}  // namespace

void PackedMatrix::run_row(const unsigned char* from, unsigned char* to, int width) const noexcept {
  const int step = step_, first = offset_[0], second = offset_[1], third = offset_[2];
  const __m128i kept = load(kept_);
  // The codes of a pixel, not yet saturated; sums are at most 2^31, so they fit into 16 bits.
  const auto codes = [&](const unsigned char* pixel) {
    const __m128i sum =
        _mm_add_epi32(_mm_add_epi32(load(sums_[0][pixel[first]]), load(sums_[1][pixel[second]])),
                      load(sums_[2][pixel[third]]));
    return _mm_srai_epi32(sum, 16);
  };
  const auto four = [&](const unsigned char* a, const unsigned char* b, const unsigned char* c,
                        const unsigned char* d) {
    return _mm_packus_epi16(_mm_packs_epi32(codes(a), codes(b)),
                            _mm_packs_epi32(codes(c), codes(d)));
  };
  int x = 0;
  for (; x + 4 <= width; x += 4, from += 4 * step, to += 4 * step) {
    const __m128i out = four(from, from + step, from + 2 * step, from + 3 * step);
    if (step == 3) {
      store_threes(to, out);
      continue;
    }
    const __m128i in = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm_or_si128(_mm_andnot_si128(kept, out), _mm_and_si128(kept, in)));
  }
  for (; x < width; ++x, from += step, to += step) {
    const int pixel = _mm_cvtsi128_si32(four(from, from, from, from));
    unsigned char bytes[4];
    std::memcpy(bytes, &pixel, 4);
    for (int i = 0; i < step; ++i) to[i] = kept_[i] ? from[i] : bytes[i];
  }
}

#else

bool PackedMatrix::is_fast() noexcept { return false; }

void PackedMatrix::run_row(const unsigned char* from, unsigned char* to, int width) const noexcept {
  for (int x = 0; x < width; ++x, from += step_, to += step_)
    for (int i = 0; i < step_; ++i) {
      const int sum = sums_[0][from[offset_[0]]][i] + sums_[1][from[offset_[1]]][i] +
                      sums_[2][from[offset_[2]]][i];
      to[i] = kept_[i] ? from[i] : affine_code(sum - affine_one / 2);
    }
}

#endif

}  // namespace stripe
