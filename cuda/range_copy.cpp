// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/range_copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace stripe {

namespace {

#if defined(__SSE2__)

constexpr std::size_t line_bytes = 64;

// Below it, the ends that are not whole lines are too much of it.
constexpr std::size_t least_streamed_bytes = 16 * line_bytes;

// Whole lines, the first of which begins one.
void stream_lines(std::byte* to, const std::byte* from, std::size_t lines) noexcept {
  auto* out = reinterpret_cast<__m128i*>(to);
  const auto* in = reinterpret_cast<const __m128i*>(from);
  for (; lines != 0; --lines, in += 4, out += 4) {
    const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1);
    const __m128i c = _mm_loadu_si128(in + 2), d = _mm_loadu_si128(in + 3);
    _mm_stream_si128(out, a);
    _mm_stream_si128(out + 1, b);
    _mm_stream_si128(out + 2, c);
    _mm_stream_si128(out + 3, d);
  }
}

void copy_streaming(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  if (size < least_streamed_bytes) {
    std::memcpy(to, from, size);
    return;
  }
  const std::size_t head = -reinterpret_cast<std::uintptr_t>(to) % line_bytes;
  const std::size_t lines = (size - head) / line_bytes;
  const std::size_t tail = head + lines * line_bytes;
  std::memcpy(to, from, head);
  stream_lines(to + head, from + head, lines);
  std::memcpy(to + tail, from + tail, size - tail);
}

// Streaming stores are in no order with others.
void finish_streaming() noexcept { _mm_sfence(); }

#else

void copy_streaming(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  std::memcpy(to, from, size);
}

void finish_streaming() noexcept {}

#endif

}  // namespace

CopyJob in_few_rows(const CopyJob& job) noexcept {
  CopyJob few = job;
  const auto row_bytes = static_cast<std::ptrdiff_t>(job.row_bytes);
  if (job.to_pitch_bytes == row_bytes && job.from_pitch_bytes == row_bytes) {
    few.row_bytes *= job.rows;
    few.rows = 1;
  }
  return few;
}

void copy_range(const CopyJob& job, std::size_t begin, std::size_t end, Stores stores) noexcept {
  while (begin < end) {
    const std::size_t row = begin / job.row_bytes, x = begin % job.row_bytes;
    const std::size_t size = std::min(job.row_bytes - x, end - begin);
    // Of a single row the pitch means nothing.
    const auto steps = static_cast<std::ptrdiff_t>(row);
    std::byte* const to = job.to + (steps ? steps * job.to_pitch_bytes : 0) + x;
    const std::byte* const from = job.from + (steps ? steps * job.from_pitch_bytes : 0) + x;
    if (stores == Stores::streaming)
      copy_streaming(to, from, size);
    else
      std::memcpy(to, from, size);
    begin += size;
  }
  if (stores == Stores::streaming) finish_streaming();
}

}  // namespace stripe
