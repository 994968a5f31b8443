// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "cuda/cuda_block_kernels.h"
#include "cuda/cuda_error.h"
#include "cuda/cuda_kernels.h"
#include "cuda/cuda_load.h"
#include "cuda/cuda_row_kernels.h"
#include "cuda/group_jobs.h"
#include "cuda/plane_jobs.h"
#include "cuda/sample_group.h"

namespace stripe {

namespace {

constexpr unsigned int max_grid_y = 65535;

unsigned int blocks(unsigned long long count, unsigned int per_block) {
  return static_cast<unsigned int>((count + per_block - 1) / per_block);
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
  launch_cuda_rows(planes, job.over_link, stream);
}

void load_cuda_kernels(const Operation& operation) {
  if (works_on_blocks(operation)) return load_cuda_blocks(operation);
  const bool copies = operation.kernel == Operation::Kernel::copy;
  load_cuda_rows(copies);  // which of them a layout needs is not known here
  if (!copies) load_cuda_kernel(affine_samples);
}

void launch_cuda_mark(cudaStream_t stream) {
  mark<<<1, 1, 0, stream>>>();
  check_cuda(cudaPeekAtLastError(), "launch of mark");
}

void load_cuda_mark() { load_cuda_kernel(mark); }

int oldest_cuda_architecture() noexcept {
  // The macro counts as 100 * major + 10 * minor.
  return minimum<__CUDA_ARCH_LIST__>() / 10;
}

}  // namespace stripe
