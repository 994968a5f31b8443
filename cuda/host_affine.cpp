// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/host_affine.h"

#include <algorithm>
#include <bit>

#include "cuda/host_loops.h"

namespace stripe {

namespace {

// --- rows, compiled for each instruction set

template <typename Loop>
STRIPE_INLINE void run_rows(const Loop& loop, const RowsJob& rows, int period) {
  const Loop own = loop;  // whose values no store can change: they stay in registers
  const std::size_t row_bytes = rows.pixels * static_cast<unsigned>(period);
  for (unsigned long long y = 0; y < rows.rows; ++y) {
    const auto row = static_cast<long long>(y);
    run_loop(own, rows.from + row * rows.from_pitch_bytes, rows.to + row * rows.to_pitch_bytes,
             row_bytes);
  }
}

template <int count>
struct PlanarRows {
  const Code* from[count];
  Code* to[count];
  long long from_pitch_bytes[count];
  long long to_pitch_bytes[count];
  int width, height;
};

template <int count>
STRIPE_INLINE void run_rows(const PlanarLoop<count>& loop, const PlanarRows<count>& rows, int) {
  const PlanarLoop<count> own = loop;
  for (int y = 0; y < rows.height; ++y) {
    const Code* from[count];
    Code* to[count];
    for (int k = 0; k < count; ++k) {
      from[k] = rows.from[k] + y * rows.from_pitch_bytes[k];
      to[k] = rows.to[k] + y * rows.to_pitch_bytes[k];
    }
    run_loop(own, from, to, static_cast<std::size_t>(rows.width));
  }
}

template <typename Loop, typename Rows>
void run_rows_baseline(const Loop& loop, const Rows& rows, int period) {
  run_rows(loop, rows, period);
}

#if defined(__x86_64__) || defined(__i386__)

// Chosen at the call and not by an ifunc, whose resolver would run before the sanitizers' start.
template <typename Loop, typename Rows>
[[gnu::target("avx2")]] void run_rows_avx2(const Loop& loop, const Rows& rows, int period) {
  run_rows(loop, rows, period);
}

template <typename Loop, typename Rows>
void run_best_rows(const Loop& loop, const Rows& rows, int period) {
  static const bool has_avx2 = __builtin_cpu_supports("avx2");
  (has_avx2 ? run_rows_avx2<Loop, Rows> : run_rows_baseline<Loop, Rows>)(loop, rows, period);
}

#else

template <typename Loop, typename Rows>
void run_best_rows(const Loop& loop, const Rows& rows, int period) {
  run_rows_baseline(loop, rows, period);
}

#endif

template <typename Loop, typename Rows>
void run_rows_with(InstructionSet instructions, const Loop& loop, const Rows& rows,
                   int period = 1) {
  (instructions == InstructionSet::best ? run_best_rows<Loop, Rows>
                                        : run_rows_baseline<Loop, Rows>)(loop, rows, period);
}

// --- maps of one plane

// The offset to whole codes, as adding it to a whole number of codes rounds.
int whole_codes(int offset) { return (offset + affine_one / 2) >> 16; }

bool is_whole(int factor) { return factor == affine_one || factor == 0 || factor == -affine_one; }

bool shifts_codes(const ByteMap& map) {
  for (int i = 0; i < map.period; ++i)
    if (!is_whole(map.coefficient[i][i])) return false;
  return true;
}

// Every pixel is treated as the first one of the block.
template <int bytes, typename Value>
void repeat_pixel(Value (&values)[bytes], int period) {
  for (int i = period; i < bytes; ++i) values[i] = values[i - period];
}

template <int bytes>
ShiftLoop<bytes> make_shift_loop(const ByteMap& map) {
  ShiftLoop<bytes> loop{};
  for (int i = 0; i < map.period; ++i) {
    const int factor = map.coefficient[i][i], codes = whole_codes(map.offset[i]);
    // The codes that don't saturate; all others come to what the nearest of them does.
    const int low = factor == 0 ? 0 : std::clamp(factor < 0 ? codes - 255 : -codes, 0, 255);
    const int high = factor == 0 ? 0 : std::clamp(factor < 0 ? codes : 255 - codes, low, 255);
    loop.low[i] = static_cast<Code>(low);
    loop.high[i] = static_cast<Code>(high);
    loop.flip[i] = factor < 0 ? 0xff : 0;
    loop.add[i] =
        static_cast<Code>(affine_code(factor * low + map.offset[i]) - (low ^ loop.flip[i]));
  }
  for (auto* values : {&loop.low, &loop.high, &loop.flip, &loop.add})
    repeat_pixel(*values, map.period);
  return loop;
}

template <int bytes>
DiagonalLoop<bytes> make_diagonal_loop(const ByteMap& map) {
  DiagonalLoop<bytes> loop{};
  for (int i = 0; i < map.period; ++i) {
    loop.factor[i] = map.coefficient[i][i];
    loop.offset[i] = map.offset[i];
  }
  repeat_pixel(loop.factor, map.period);
  repeat_pixel(loop.offset, map.period);
  return loop;
}

// The block is whole pixels.
template <int bytes>
void run_diagonal(const PlaneJob& job, InstructionSet instructions) {
  const int period = job.map.period;
  if (shifts_codes(job.map))
    run_rows_with(instructions, make_shift_loop<bytes>(job.map), job.rows, period);
  else
    run_rows_with(instructions, make_diagonal_loop<bytes>(job.map), job.rows, period);
}

// How far up in the number that it is a byte of a pixel is.
int place_of(int byte, int period) {
  return std::endian::native == std::endian::little ? byte : period - 1 - byte;
}

void run_pairs(const PlaneJob& job, InstructionSet instructions) {
  PairLoop loop{};
  for (int i = 0; i < 2; ++i) {
    const int to = place_of(i, 2);
    for (int k = 0; k < 2; ++k) loop.factor[to][place_of(k, 2)] = job.map.coefficient[i][k];
    loop.offset[to] = job.map.offset[i];
  }
  run_rows_with(instructions, loop, job.rows, 2);
}

void run_triples(const PlaneJob& job, InstructionSet instructions) {
  TripleLoop loop{};
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) loop.factor[i][k] = job.map.coefficient[i][k];
    loop.offset[i] = job.map.offset[i];
  }
  run_rows_with(instructions, loop, job.rows, 3);
}

// Whether the byte keeps its value and no other one depends on it.
bool stands_alone(const ByteMap& map, int byte) {
  if (map.coefficient[byte][byte] != affine_one || map.offset[byte] != 0) return false;
  for (int i = 0; i < map.period; ++i)
    if (i != byte && (map.coefficient[i][byte] != 0 || map.coefficient[byte][i] != 0)) return false;
  return true;
}

void run_quads(const PlaneJob& job, int alone, InstructionSet instructions) {
  QuadLoop loop{};
  loop.kept = std::uint32_t{0xff} << 8 * place_of(alone, 4);
  for (int i = 0; i < 3; ++i) {
    const int to = i + (i >= alone);
    for (int k = 0; k < 3; ++k) loop.factor[i][k] = job.map.coefficient[to][k + (k >= alone)];
    loop.offset[i] = job.map.offset[to];
    loop.shift[i] = 8 * place_of(to, 4);
  }
  run_rows_with(instructions, loop, job.rows, 4);
}

// Any matrix.
void run_bytes(const PlaneJob& job) {
  const ByteMap& map = job.map;
  for (unsigned long long y = 0; y < job.rows.rows; ++y) {
    const Code* from = job.rows.from + static_cast<long long>(y) * job.rows.from_pitch_bytes;
    Code* to = job.rows.to + static_cast<long long>(y) * job.rows.to_pitch_bytes;
    for (unsigned long long x = 0; x < job.rows.pixels; ++x, from += map.period, to += map.period)
      for (int i = 0; i < map.period; ++i) {
        int sum = map.offset[i];
        for (int k = 0; k < map.period; ++k) sum += map.coefficient[i][k] * from[k];
        to[i] = affine_code(sum);
      }
  }
}

void run_matrix(const PlaneJob& job, InstructionSet instructions) {
  if (job.map.period == 2) return run_pairs(job, instructions);
  if (job.map.period == 3) return run_triples(job, instructions);
  if (job.map.period == 4)
    for (const int byte : {3, 0, 1, 2})
      if (stands_alone(job.map, byte)) return run_quads(job, byte, instructions);
  run_bytes(job);
}

// --- groups of planes

// Whether each component has a plane of its own, whose samples are bytes behind each other.
bool is_planar(const GroupJob& job) {
  const SampleGroup& group = job.group;
  if (group.component_count == 3 && job.layout.has_extra) return false;
  for (int i = 0; i < group.component_count; ++i) {
    const Component& component = job.layout.components[group.first_component + i];
    if (component.step_bytes != 1) return false;
  }
  return true;
}

// The rows of component `first` + i, and how far they are apart.
template <int count>
PlanarRows<count> planar_rows(const GroupJob& job) {
  PlanarRows<count> rows{};
  for (int k = 0; k < count; ++k) {
    const SampleGroup& group = job.group;
    const Component& component = job.layout.components[group.first_component + k];
    const auto& from = job.input[component.plane];
    const auto& to = job.output[component.plane];
    rows.from[k] = from.data + sample_offset(component, from.pitch_bytes, group.x, group.y);
    rows.to[k] = to.data + sample_offset(component, to.pitch_bytes, group.x, group.y);
    rows.from_pitch_bytes[k] = from.pitch_bytes;
    rows.to_pitch_bytes[k] = to.pitch_bytes;
  }
  rows.width = job.group.width;
  rows.height = job.group.height;
  return rows;
}

template <int count>
void run_planar(const Affine& affine, const GroupJob& job, InstructionSet instructions) {
  const int first = job.group.first_component;
  PlanarLoop<count> loop{};
  for (int k = 0; k < count; ++k) {
    for (int j = 0; j < count; ++j) loop.factor[k][j] = affine.coefficient[first + k][first + j];
    loop.offset[k] = affine.offset[first + k];
  }
  run_rows_with(instructions, loop, planar_rows<count>(job));
}

void run_alone(const Affine& affine, const GroupJob& job, InstructionSet instructions) {
  const int c = job.group.first_component;
  const PlanarRows<1> rows = planar_rows<1>(job);
  run_plane_on_host({{ByteMap::Kind::diagonal, 1, {{affine.coefficient[c][c]}}, {affine.offset[c]}},
                     {rows.from[0], rows.to[0], rows.from_pitch_bytes[0], rows.to_pitch_bytes[0],
                      static_cast<unsigned>(rows.width), static_cast<unsigned>(rows.height)}},
                    instructions);
}

}  // namespace

void run_plane_on_host(const PlaneJob& job, InstructionSet instructions) noexcept {
  if (job.map.kind == ByteMap::Kind::matrix) return run_matrix(job, instructions);
  if (job.map.period == 3) return run_diagonal<3 * block_length>(job, instructions);
  run_diagonal<block_length>(job, instructions);
}

void run_group_on_host(const Affine& affine, const GroupJob& job,
                       InstructionSet instructions) noexcept {
  const SampleGroup& group = job.group;
  if (is_planar(job)) {
    if (group.component_count == 1) return run_alone(affine, job, instructions);
    if (group.component_count == 2) return run_planar<2>(affine, job, instructions);
    return run_planar<3>(affine, job, instructions);
  }
  for (int y = group.y; y < group.y + group.height; ++y)
    for (int x = group.x; x < group.x + group.width; ++x) affine_sample(affine, job, x, y);
}

}  // namespace stripe
