// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cstdint>

#include "cuda/cuda_error.h"
#include "cuda/cuda_kernels.h"
#include "cuda/group_jobs.h"
#include "cuda/sample_group.h"

namespace stripe {

namespace {

constexpr unsigned int max_grid_y = 65535;

unsigned int blocks(unsigned long long count, unsigned int per_block) {
  return static_cast<unsigned int>((count + per_block - 1) / per_block);
}

// Rows of bytes; `Unit` is what a thread copies at once.
struct RowsJob {
  const unsigned char* from;
  unsigned char* to;
  long long from_pitch_bytes;
  long long to_pitch_bytes;
  unsigned long long row_bytes;
  unsigned long long rows;
};

template <typename Unit>
__global__ void copy_rows(const __grid_constant__ RowsJob job) {
  const unsigned long long begin =
      (static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x) * sizeof(Unit);
  if (begin >= job.row_bytes) return;
  const unsigned long long step = static_cast<unsigned long long>(gridDim.y) * blockDim.y;
  for (unsigned long long y = blockIdx.y * blockDim.y + threadIdx.y; y < job.rows; y += step) {
    const unsigned char* from = job.from + y * job.from_pitch_bytes + begin;
    unsigned char* to = job.to + y * job.to_pitch_bytes + begin;
    if (begin + sizeof(Unit) <= job.row_bytes) {
      *reinterpret_cast<Unit*>(to) = *reinterpret_cast<const Unit*>(from);
    } else {
      for (unsigned long long i = 0; begin + i < job.row_bytes; ++i) to[i] = from[i];
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

bool is_aligned(const RowsJob& job, std::size_t bytes) {
  const auto bits = reinterpret_cast<std::uintptr_t>(job.from) |
                    reinterpret_cast<std::uintptr_t>(job.to) |
                    static_cast<std::uintptr_t>(job.from_pitch_bytes) |
                    static_cast<std::uintptr_t>(job.to_pitch_bytes);
  return bits % bytes == 0;
}

template <typename Unit>
void launch_copy_rows(const RowsJob& job, cudaStream_t stream) {
  const dim3 block(128, 2);
  const dim3 grid(blocks((job.row_bytes + sizeof(Unit) - 1) / sizeof(Unit), block.x),
                  std::min(blocks(job.rows, block.y), max_grid_y));
  copy_rows<Unit><<<grid, block, 0, stream>>>(job);
  check_cuda(cudaPeekAtLastError(), "launch of copy_rows");
}

RowsJob make_rows_job(const KernelJob& job, int plane) {
  const PlaneArea area = plane_area(job.layout, plane, job.area);
  const ConstPlane from = sub_plane(job.input.planes[plane], area);
  const Plane to = sub_plane(job.output.planes[plane], area);
  RowsJob rows{reinterpret_cast<const unsigned char*>(from.data),
               reinterpret_cast<unsigned char*>(to.data),
               from.pitch_bytes,
               to.pitch_bytes,
               area.row_bytes,
               area.rows};
  const auto row_bytes = static_cast<long long>(rows.row_bytes);
  // Without gaps it is one long row: no threads idle at the ends of short ones.
  if (rows.from_pitch_bytes == row_bytes && rows.to_pitch_bytes == row_bytes) {
    rows.row_bytes *= rows.rows;
    rows.rows = 1;
  }
  if (rows.rows == 1) rows.from_pitch_bytes = rows.to_pitch_bytes = 0;
  return rows;
}

void launch_copy(const KernelJob& job, cudaStream_t stream) {
  for (int p = 0; p < job.layout.plane_count; ++p) {
    const RowsJob rows = make_rows_job(job, p);
    if (is_aligned(rows, sizeof(uint4)))
      launch_copy_rows<uint4>(rows, stream);
    else if (is_aligned(rows, sizeof(unsigned int)))
      launch_copy_rows<unsigned int>(rows, stream);
    else
      launch_copy_rows<unsigned char>(rows, stream);
  }
}

void launch_affine(const Affine& affine, const KernelJob& job, cudaStream_t stream) {
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

template <int... architectures>
constexpr int minimum() {
  return std::min({architectures...});
}

}  // namespace

void launch_cuda_kernels(const Operation& operation, const KernelJob& job, cudaStream_t stream) {
  switch (operation.kernel) {
    case Operation::Kernel::copy:
      launch_copy(job, stream);
      return;
    case Operation::Kernel::affine:
      launch_affine(operation.affine, job, stream);
      return;
  }
}

void load_cuda_kernels(const Operation& operation) {
  switch (operation.kernel) {
    case Operation::Kernel::copy:
      load(copy_rows<uint4>);
      load(copy_rows<unsigned int>);
      load(copy_rows<unsigned char>);
      return;
    case Operation::Kernel::affine:
      load(affine_samples);
      return;
  }
}

int oldest_cuda_architecture() noexcept {
  // The macro counts as 100 * major + 10 * minor.
  return minimum<__CUDA_ARCH_LIST__>() / 10;
}

}  // namespace stripe
