// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/host_kernels.h"

#include <cstring>

#include "cuda/group_jobs.h"
#include "cuda/host_affine.h"
#include "cuda/plane_jobs.h"

namespace stripe {

namespace {

void copy_stripe(const KernelJob& job) noexcept {
  for (int p = 0; p < job.layout.plane_count; ++p) {
    const PlaneArea area = plane_area(job.layout, p, job.area);
    const ConstPlane from = sub_plane(job.input.planes[p], area);
    const Plane to = sub_plane(job.output.planes[p], area);
    copy_rows_on_host({to.data, to.pitch_bytes, from.data, from.pitch_bytes, area.row_bytes,
                       area.rows, CopyDirection::upload});
  }
}

void run_affine(const Operation& operation, const KernelJob& job) noexcept {
  const PlaneJobs planes = make_plane_jobs(operation, job);
  for (int i = 0; i < planes.count; ++i)
    run_plane_on_host(planes.jobs[static_cast<std::size_t>(i)]);
  if (planes.count != 0) return;
  const GroupJobs groups = make_group_jobs(job);
  for (int i = 0; i < groups.count; ++i)
    run_group_on_host(operation.affine, groups.jobs[static_cast<std::size_t>(i)]);
}

template <typename Visit>
void for_each_block(const BlockJob& job, Visit visit) noexcept {
  for (int down = 0; down < job.blocks_down(); ++down)
    for (int across = 0; across < job.blocks_across(); ++across) visit(job, across, down);
}

}  // namespace

void copy_rows_on_host(const CopyJob& job) noexcept {
  const auto row_bytes = static_cast<std::ptrdiff_t>(job.row_bytes);
  if (job.to_pitch_bytes == row_bytes && job.from_pitch_bytes == row_bytes) {
    std::memcpy(job.to, job.from, job.row_bytes * job.rows);
    return;
  }
  std::byte* to = job.to;
  const std::byte* from = job.from;
  for (std::size_t row = 0; row < job.rows; ++row) {
    std::memcpy(to, from, job.row_bytes);
    // The address behind the last row may lie outside of the memory: don't form it.
    if (row + 1 == job.rows) break;
    to += job.to_pitch_bytes;
    from += job.from_pitch_bytes;
  }
}

void run_on_host(const Operation& operation, const KernelJob& job) noexcept {
  switch (operation.kernel) {
    case Operation::Kernel::copy:
      copy_stripe(job);
      return;
    case Operation::Kernel::affine:
      run_affine(operation, job);
      return;
    case Operation::Kernel::affine_blocks:
      for_each_block(make_block_job(job), [&](const BlockJob& blocks, int across, int down) {
        affine_block(operation.affine, blocks, across, down);
      });
      return;
    case Operation::Kernel::color_blocks: {
      const ColorSteps steps = operation.steps;
      const LookUpTables tables = operation.tables.on_host();
      for_each_block(make_block_job(job), [&](const BlockJob& blocks, int across, int down) {
        color_block(steps, tables, blocks, across, down);
      });
      return;
    }
  }
}

}  // namespace stripe
