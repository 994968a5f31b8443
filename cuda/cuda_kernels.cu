// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cstdint>

#include "cuda/cuda_block_kernels.h"
#include "cuda/cuda_error.h"
#include "cuda/cuda_kernels.h"
#include "cuda/group_jobs.h"
#include "cuda/plane_jobs.h"
#include "cuda/sample_group.h"

namespace stripe {

namespace {

constexpr unsigned int max_grid_y = 65535;
constexpr unsigned int threads_a_block = 256;

// A kernel over the link is slowed by the link: more blocks only get into each other's way.
constexpr unsigned int most_blocks_over_link = 32;

unsigned int blocks(unsigned long long count, unsigned int per_block) {
  return static_cast<unsigned int>((count + per_block - 1) / per_block);
}

// What happens to the `period` bytes of a pixel. One type a kind of map, so that a kernel carries
// no more than it needs.
struct Copy {
  explicit Copy(const ByteMap&) {}
  __device__ unsigned int operator()(const unsigned int* pixel, int i) const { return pixel[i]; }
};

template <int period>
struct Diagonal {
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

template <int period>
struct Matrix {
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
  U* const tile = &tiles[(threadIdx.y * blockDim.x + threadIdx.x) - lane];
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

template <int period, typename Map, typename Word>
__global__ void map_rows(const __grid_constant__ Map map, const __grid_constant__ RowsJob job) {
  using U = Unit<period, Word>;
  const unsigned long long row_step = static_cast<unsigned long long>(gridDim.y) * blockDim.y;
  const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  const unsigned long long first =
      static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (unsigned long long y = blockIdx.y * blockDim.y + threadIdx.y; y < job.rows; y += row_step) {
    const unsigned char* from = job.from + static_cast<long long>(y) * job.from_pitch_bytes;
    unsigned char* to = job.to + static_cast<long long>(y) * job.to_pitch_bytes;
    const RowSplit split = split_row<period, Word>(from, to, job.pixels);
    const auto* words = reinterpret_cast<const Word*>(from + split.head * period);
    auto* to_words = reinterpret_cast<Word*>(to + split.head * period);
    if constexpr (U::words == 1)
      map_units<period>(map, words, to_words, split.units, first, step);
    else
      map_wide_units<period>(map, words, to_words, split.units, first, step);
    const unsigned long long rest = job.pixels - split.units * U::pixels;
    for (unsigned long long i = first; i < rest; i += step) {
      const unsigned long long at = (i < split.head ? i : i + split.units * U::pixels) * period;
      map_pixel<period>(map, from + at, to + at);
    }
  }
}

__global__ void affine_samples(const __grid_constant__ Affine affine,
                               const __grid_constant__ GroupJob job) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= job.group.width) return;
  const int step = gridDim.y * blockDim.y;
  for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < job.group.height; y += step)
    affine_sample(affine, job, job.group.x + x, job.group.y + y);
}

__global__ void mark() {}

// Whether in each row input and output are equally far from such an alignment.
bool are_aligned_alike(const RowsJob& rows, std::size_t bytes) {
  const auto difference =
      reinterpret_cast<std::uintptr_t>(rows.from) ^ reinterpret_cast<std::uintptr_t>(rows.to);
  const auto pitch_difference = static_cast<std::uintptr_t>(rows.from_pitch_bytes) ^
                                static_cast<std::uintptr_t>(rows.to_pitch_bytes);
  return (difference | pitch_difference) % bytes == 0;
}

// Calls visit with the kernel for a map and words of this size.
template <typename Word, typename Visit>
void with_kernel(const ByteMap& map, Visit visit) {
  if (map.kind == ByteMap::Kind::copy) return visit(map_rows<1, Copy, Word>, Copy(map));
  if (map.kind == ByteMap::Kind::diagonal) {
    if (map.period == 1) return visit(map_rows<1, Diagonal<1>, Word>, Diagonal<1>(map));
    if (map.period == 2) return visit(map_rows<2, Diagonal<2>, Word>, Diagonal<2>(map));
    if (map.period == 3) return visit(map_rows<3, Diagonal<3>, Word>, Diagonal<3>(map));
    return visit(map_rows<4, Diagonal<4>, Word>, Diagonal<4>(map));
  }
  if (map.period == 2) return visit(map_rows<2, Matrix<2>, Word>, Matrix<2>(map));
  if (map.period == 3) return visit(map_rows<3, Matrix<3>, Word>, Matrix<3>(map));
  return visit(map_rows<4, Matrix<4>, Word>, Matrix<4>(map));
}

// Threads of a block lie side by side in a row as far as it is long enough.
dim3 block_for(unsigned long long units) {
  unsigned int x = 32;
  while (x < threads_a_block && x < units) x *= 2;
  return dim3(x, threads_a_block / x);
}

dim3 grid_for(const RowsJob& rows, unsigned long long units, const dim3& block, bool over_link) {
  dim3 grid(blocks(std::max(units, 1ull), block.x),
            std::min(blocks(rows.rows, block.y), max_grid_y));
  if (over_link) {
    grid.x = std::min(grid.x, most_blocks_over_link);
    grid.y = std::min(grid.y, std::max(most_blocks_over_link / grid.x, 1u));
  }
  return grid;
}

template <typename Word>
void launch_rows(const PlaneJob& job, bool over_link, cudaStream_t stream) {
  const unsigned long long units = job.rows.pixels * job.map.period / sizeof(Word);
  const dim3 block = block_for(units);
  const dim3 grid = grid_for(job.rows, units, block, over_link);
  with_kernel<Word>(job.map, [&](auto kernel, const auto& map) {
    kernel<<<grid, block, 0, stream>>>(map, job.rows);
    check_cuda(cudaPeekAtLastError(), "launch of map_rows");
  });
}

void launch_groups(const Affine& affine, const KernelJob& job, cudaStream_t stream) {
  const dim3 block(32, 8);
  const GroupJobs groups = make_group_jobs(job);
  for (int i = 0; i < groups.count; ++i) {
    const SampleGroup& group = groups.jobs[i].group;
    const dim3 grid(blocks(group.width, block.x),
                    std::min(blocks(group.height, block.y), max_grid_y));
    affine_samples<<<grid, block, 0, stream>>>(affine, groups.jobs[i]);
    check_cuda(cudaPeekAtLastError(), "launch of affine_samples");
  }
}

template <typename Kernel>
void load(Kernel kernel) {
  cudaFuncAttributes attributes;
  STRIPE_CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
}

template <typename Word>
void load_rows(const ByteMap& map) {
  with_kernel<Word>(map, [](auto kernel, const auto&) { load(kernel); });
}

bool works_on_blocks(const Operation& operation) {
  return operation.kernel == Operation::Kernel::affine_blocks ||
         operation.kernel == Operation::Kernel::color_blocks;
}

template <int... architectures>
constexpr int minimum() {
  return std::min({architectures...});
}

}  // namespace

void launch_cuda_kernels(const Operation& operation, const KernelJob& job, cudaStream_t stream) {
  if (works_on_blocks(operation)) return launch_cuda_blocks(operation, job, stream);
  const PlaneJobs planes = make_plane_jobs(operation, job);
  if (planes.count == 0) return launch_groups(operation.affine, job, stream);
  for (int i = 0; i < planes.count; ++i) {
    if (are_aligned_alike(planes.jobs[i].rows, sizeof(uint4)))
      launch_rows<uint4>(planes.jobs[i], job.over_link, stream);
    else
      launch_rows<unsigned int>(planes.jobs[i], job.over_link, stream);
  }
}

void load_cuda_kernels(const Operation& operation) {
  if (works_on_blocks(operation)) return load_cuda_blocks(operation);
  // Which of them a layout needs is not known here; loading one takes microseconds.
  using Kind = ByteMap::Kind;
  const bool copies = operation.kernel == Operation::Kernel::copy;
  for (const Kind kind : {Kind::copy, Kind::diagonal, Kind::matrix}) {
    if (copies != (kind == Kind::copy)) continue;
    for (int period = kind == Kind::matrix ? 2 : 1; period <= (copies ? 1 : 4); ++period) {
      const ByteMap map{kind, period, {}, {}};
      load_rows<uint4>(map);
      load_rows<unsigned int>(map);
    }
  }
  if (!copies) load(affine_samples);
}

void launch_cuda_mark(cudaStream_t stream) {
  mark<<<1, 1, 0, stream>>>();
  check_cuda(cudaPeekAtLastError(), "launch of mark");
}

void load_cuda_mark() { load(mark); }

int oldest_cuda_architecture() noexcept {
  // The macro counts as 100 * major + 10 * minor.
  return minimum<__CUDA_ARCH_LIST__>() / 10;
}

}  // namespace stripe
