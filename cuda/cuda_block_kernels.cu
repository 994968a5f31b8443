// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <stdexcept>

#include "cuda/cuda_block_kernels.h"
#include "cuda/cuda_error.h"
#include "cuda/cuda_load.h"
#include "cuda/group_jobs.h"
#include "cuda/pixel_block.h"

namespace stripe {

namespace {

constexpr unsigned int max_grid_y = 65535;

// Calls visit for each block that this thread is to work on.
template <typename Visit>
__device__ void for_each_block(const BlockJob& job, Visit visit) {
  const int across = blockIdx.x * blockDim.x + threadIdx.x;
  if (across >= job.blocks_across()) return;
  const int step = gridDim.y * blockDim.y;
  for (int down = blockIdx.y * blockDim.y + threadIdx.y; down < job.blocks_down(); down += step)
    visit(across, down);
}

__global__ void affine_blocks(const __grid_constant__ Affine affine,
                              const __grid_constant__ BlockJob job) {
  for_each_block(job, [&](int across, int down) { affine_block(affine, job, across, down); });
}

__global__ void color_blocks(const __grid_constant__ ColorSteps steps,
                             const __grid_constant__ LookUpTables tables,
                             const __grid_constant__ BlockJob job) {
  for_each_block(job, [&](int across, int down) { color_block(steps, tables, job, across, down); });
}

template <typename Entry>
const Entry* on_device(const SharedTable<Entry>& table) {
  if (!table.entries) return nullptr;
  if (!table.on_device) throw std::logic_error("an operation that was not prepared for its device");
  return reinterpret_cast<const Entry*>(table.on_device->data());
}

unsigned int rounded_up(int count, unsigned int per_block) {
  return (static_cast<unsigned int>(count) + per_block - 1) / per_block;
}

}  // namespace

void launch_cuda_blocks(const Operation& operation, const KernelJob& job, cudaStream_t stream) {
  const BlockJob blocks = make_block_job(job);
  const dim3 block(32, 8);
  const dim3 grid(rounded_up(blocks.blocks_across(), block.x),
                  std::min(rounded_up(blocks.blocks_down(), block.y), max_grid_y));
  if (operation.kernel == Operation::Kernel::affine_blocks) {
    affine_blocks<<<grid, block, 0, stream>>>(operation.affine, blocks);
    check_cuda(cudaPeekAtLastError(), "launch of affine_blocks");
    return;
  }
  const ColorTables& tables = operation.tables;
  const LookUpTables pointers{on_device(tables.gamma), on_device(tables.curves),
                              on_device(tables.cube)};
  color_blocks<<<grid, block, 0, stream>>>(operation.steps, pointers, blocks);
  check_cuda(cudaPeekAtLastError(), "launch of color_blocks");
}

void load_cuda_blocks(const Operation& operation) {
  if (operation.kernel == Operation::Kernel::affine_blocks)
    load_cuda_kernel(affine_blocks);
  else
    load_cuda_kernel(color_blocks);
}

}  // namespace stripe
