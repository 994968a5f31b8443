// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/cuda_row_kernels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>

#include "cuda/cuda_error.h"
#include "cuda/cuda_load.h"
#include "cuda/cuda_row_units.cuh"

namespace stripe {

namespace {

using namespace row_units;

// A grid's blocks are counted in 31 bits.
constexpr unsigned int most_blocks_across = 32768;
constexpr unsigned int most_blocks_down = 8192;

// A kernel over the link is slowed by the link: more blocks only get into each other's way.
constexpr unsigned int most_blocks_over_link = 32;

unsigned int blocks(unsigned long long count, unsigned int per_block, unsigned int most) {
  return static_cast<unsigned int>(
      std::clamp<unsigned long long>((count + per_block - 1) / per_block, 1, most));
}

// The blocks of a plane, in rows, behind those of the planes before it.
struct PlaneGrid {
  unsigned int first;
  unsigned int across;
  unsigned int down;
  unsigned int log2_threads_across;  // of a block; at least 5: whole warps
};

// The units and rows of a plane that a thread has: each `step`th.
struct Share {
  unsigned long long unit;
  unsigned long long unit_step;
  unsigned long long row;
  unsigned long long row_step;
};

__device__ Share share_of(const PlaneGrid& grid) {
  const unsigned int block = blockIdx.x - grid.first;
  // A thread has so little to do that a division would be felt; most planes are one long row.
  const unsigned int down = grid.down == 1 ? 0 : block / grid.across;
  const unsigned int across = block - down * grid.across;
  const unsigned int threads_across = 1u << grid.log2_threads_across;
  const unsigned int threads_down = threads_a_block >> grid.log2_threads_across;
  const unsigned int x = threadIdx.x & (threads_across - 1);
  const unsigned int y = threadIdx.x >> grid.log2_threads_across;
  return {static_cast<unsigned long long>(across) * threads_across + x,
          static_cast<unsigned long long>(grid.across) * threads_across,
          static_cast<unsigned long long>(down) * threads_down + y,
          static_cast<unsigned long long>(grid.down) * threads_down};
}

// A tile takes all threads of a block, side by side.
__device__ bool has_tiles(const PlaneGrid& grid) {
  return 1u << grid.log2_threads_across == threads_a_block;
}

template <int period, bool over_link, typename Map, typename Word>
__device__ void map_words(const Map& map, const Word* from, Word* to, unsigned long long units,
                          const Share& share, bool by_tiles) {
  if constexpr (Unit<period, Word>::words > 1)
    map_wide_units<period>(map, from, to, units, share.unit, share.unit_step);
  else if (over_link && by_tiles)
    map_tiles<period>(map, from, to, units, share.unit / threads_a_block,
                      share.unit_step / threads_a_block);
  else
    map_units<period>(map, from, to, units, share.unit, share.unit_step);
}

template <typename Word, bool over_link, typename Map>
__device__ void map_rows(const Map& map, const RowsJob& job, const PlaneGrid& grid) {
  constexpr int period = Map::period;
  using U = Unit<period, Word>;
  const Share share = share_of(grid);
  for (unsigned long long y = share.row; y < job.rows; y += share.row_step) {
    const unsigned char* from = job.from + static_cast<long long>(y) * job.from_pitch_bytes;
    unsigned char* to = job.to + static_cast<long long>(y) * job.to_pitch_bytes;
    const RowSplit split = split_row<period, Word>(from, to, job.pixels);
    const auto* words = reinterpret_cast<const Word*>(from + split.head * period);
    auto* to_words = reinterpret_cast<Word*>(to + split.head * period);
    map_words<period, over_link>(map, words, to_words, split.units, share, has_tiles(grid));
    const unsigned long long rest = job.pixels - split.units * U::pixels;
    for (unsigned long long i = share.unit; i < rest; i += share.unit_step) {
      const unsigned long long at = (i < split.head ? i : i + split.units * U::pixels) * period;
      map_pixel<period>(map, from + at, to + at);
    }
  }
}

// Where there is but one plane.
struct Nothing {
  Nothing() = default;
  explicit Nothing(const ByteMap&) {}
};

template <typename First, typename Rest>
struct PlanesJob {
  First first;
  Rest rest[max_planes - 1];
  RowsJob rows[max_planes];
  PlaneGrid grids[max_planes];
  int count;
};

// Over a link by tiles: what these need of a multiprocessor would cost kernels that don't need it.
template <typename First, typename Rest, typename Word, bool over_link>
__global__ void map_planes(const __grid_constant__ PlanesJob<First, Rest> job) {
  int plane = 0;
  if constexpr (!std::is_same_v<Rest, Nothing>) {
    while (plane + 1 < job.count && blockIdx.x >= job.grids[plane + 1].first) ++plane;
    if (plane > 0)
      return map_rows<Word, over_link>(job.rest[plane - 1], job.rows[plane], job.grids[plane]);
  }
  map_rows<Word, over_link>(job.first, job.rows[plane], job.grids[plane]);
}

// Whether in each row input and output are equally far from such an alignment.
bool are_aligned_alike(const RowsJob& rows, std::size_t bytes) {
  const auto difference =
      reinterpret_cast<std::uintptr_t>(rows.from) ^ reinterpret_cast<std::uintptr_t>(rows.to);
  const auto pitch_difference = static_cast<std::uintptr_t>(rows.from_pitch_bytes) ^
                                static_cast<std::uintptr_t>(rows.to_pitch_bytes);
  return (difference | pitch_difference) % bytes == 0;
}

// A plane that is not has all of them go by shorter words: those of a frame mostly are alike.
bool are_aligned_alike(const PlaneJobs& planes, std::size_t bytes) {
  for (int p = 0; p < planes.count; ++p)
    if (!are_aligned_alike(planes.jobs[p].rows, bytes)) return false;
  return true;
}

unsigned long long bytes_of(const PlaneJob& job) {
  return job.rows.pixels * job.rows.rows * job.map.period;
}

// Threads of a block lie side by side in a row as far as it is long enough.
PlaneGrid grid_for(const PlaneJob& job, std::size_t word_bytes) {
  const unsigned long long units = job.rows.pixels * job.map.period / word_bytes;
  unsigned int log2_across = 5;
  while (1u << log2_across < threads_a_block && 1u << log2_across < units) ++log2_across;
  return {0, blocks(units, 1u << log2_across, most_blocks_across),
          blocks(job.rows.rows, threads_a_block >> log2_across, most_blocks_down), log2_across};
}

// Planes share the few blocks by their sizes.
void limit(PlaneGrid& grid, unsigned long long bytes, unsigned long long all_bytes) {
  const auto most = static_cast<unsigned int>(
      std::max(most_blocks_over_link * bytes / std::max(all_bytes, 1ull), 1ull));
  grid.across = std::min(grid.across, most);
  grid.down = std::min(grid.down, std::max(most / grid.across, 1u));
}

// Returns the number of blocks of all planes.
unsigned int set_grids(PlaneGrid* grids, const PlaneJobs& planes, std::size_t word_bytes,
                       bool over_link) {
  unsigned long long all_bytes = 0;
  for (int p = 0; p < planes.count; ++p) all_bytes += bytes_of(planes.jobs[p]);
  unsigned int next = 0;
  for (int p = 0; p < planes.count; ++p) {
    grids[p] = grid_for(planes.jobs[p], word_bytes);
    if (over_link) limit(grids[p], bytes_of(planes.jobs[p]), all_bytes);
    grids[p].first = next;
    next += grids[p].across * grids[p].down;
  }
  return next;
}

template <typename Map>
bool is_for(const ByteMap& map) {
  if constexpr (std::is_same_v<Map, Nothing>)
    return false;
  else
    return map.kind == Map::kind && map.period == Map::period;
}

// The maps of a kernel: of the first plane, and of all others.
template <typename First, typename Rest>
struct Maps {
  // Units of three words go by a warp's tiles everywhere.
  static constexpr bool has_kernel_over_link = First::period != 3;

  static bool fit(const PlaneJobs& planes) {
    for (int p = 1; p < planes.count; ++p)
      if (!is_for<Rest>(planes.jobs[p].map)) return false;
    return is_for<First>(planes.jobs[0].map);
  }

  template <typename Word>
  static void launch(const PlaneJobs& planes, bool over_link, cudaStream_t stream) {
    PlanesJob<First, Rest> job{};
    job.first = First(planes.jobs[0].map);
    for (int p = 0; p < planes.count; ++p) {
      if (p > 0) job.rest[p - 1] = Rest(planes.jobs[p].map);
      job.rows[p] = planes.jobs[p].rows;
    }
    job.count = planes.count;
    const unsigned int grid = set_grids(job.grids, planes, sizeof(Word), over_link);
    const auto kernel = over_link ? map_planes<First, Rest, Word, has_kernel_over_link>
                                  : map_planes<First, Rest, Word, false>;
    kernel<<<grid, threads_a_block, 0, stream>>>(job);
    check_cuda(cudaPeekAtLastError(), "launch of map_planes");
  }

  template <typename Word>
  static void load() {
    load_cuda_kernel(map_planes<First, Rest, Word, false>);
    if constexpr (has_kernel_over_link) load_cuda_kernel(map_planes<First, Rest, Word, true>);
  }
};

template <typename... Each>
struct Kernels {
  template <typename Word>
  static bool launch(const PlaneJobs& planes, bool over_link, cudaStream_t stream) {
    return ((Each::fit(planes) && (Each::template launch<Word>(planes, over_link, stream), true)) ||
            ...);
  }

  static void load() {
    (Each::template load<uint4>(), ...);
    (Each::template load<unsigned int>(), ...);
  }
};

using CopyKernels = Kernels<Maps<Copy, Copy>>;

// The first of several planes has a byte a pixel; those of chroma are alike.
using MapKernels =
    Kernels<Maps<Diagonal<1>, Diagonal<1>>, Maps<Diagonal<1>, Diagonal<2>>,
            Maps<Diagonal<1>, Matrix<2>>, Maps<Diagonal<2>, Nothing>, Maps<Diagonal<3>, Nothing>,
            Maps<Diagonal<4>, Nothing>, Maps<Matrix<2>, Nothing>, Maps<Matrix<3>, Nothing>,
            Maps<Matrix<4>, Nothing>>;

template <typename Word>
void launch_words(const PlaneJobs& planes, bool over_link, cudaStream_t stream) {
  if (!CopyKernels::launch<Word>(planes, over_link, stream) &&
      !MapKernels::launch<Word>(planes, over_link, stream))
    throw std::logic_error("no kernel for the maps of these planes");
}

}  // namespace

void launch_cuda_rows(const PlaneJobs& planes, bool over_link, cudaStream_t stream) {
  if (are_aligned_alike(planes, sizeof(uint4)))
    launch_words<uint4>(planes, over_link, stream);
  else
    launch_words<unsigned int>(planes, over_link, stream);
}

void load_cuda_rows(bool copies) { copies ? CopyKernels::load() : MapKernels::load(); }

}  // namespace stripe
