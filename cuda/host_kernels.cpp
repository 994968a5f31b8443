// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/host_kernels.h"

#include <cstring>

#include "cuda/group_jobs.h"
#include "cuda/packed_matrix.h"

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

// A row of each component of a group, and of the extra one behind the three of a packed pixel.
struct RowPointers {
  const unsigned char* from[max_components];
  unsigned char* to[max_components];
};

RowPointers row_pointers(const GroupJob& job, int y) noexcept {
  RowPointers row{};
  const int begin = job.group.first_component;
  const int end = job.group.component_count == 3 ? job.layout.component_count()
                                                 : begin + job.group.component_count;
  for (int c = begin; c < end; ++c) {
    const Component& component = job.layout.components[c];
    const auto& from = job.input[component.plane];
    const auto& to = job.output[component.plane];
    row.from[c] = from.data + sample_offset(component, from.pitch_bytes, job.group.x, y);
    row.to[c] = to.data + sample_offset(component, to.pitch_bytes, job.group.x, y);
  }
  return row;
}

// The loops below know their step when compiled, and hold the matrix in registers: bytes may alias
// everything, and a reference to it would be read again after each store.
template <int step>
void run_three(const Affine affine, const RowPointers row, int width) noexcept {
  for (int x = 0; x < width * step; x += step) {
    const int a = row.from[0][x], b = row.from[1][x], c = row.from[2][x];
    row.to[0][x] = affine_row(affine, 0, a, b, c);
    row.to[1][x] = affine_row(affine, 1, a, b, c);
    row.to[2][x] = affine_row(affine, 2, a, b, c);
    if (row.to[3]) row.to[3][x] = row.from[3][x];
  }
}

template <int step>
void run_chroma(const Affine affine, const RowPointers row, int width) noexcept {
  for (int x = 0; x < width * step; x += step) {
    const int u = row.from[1][x], v = row.from[2][x];
    row.to[1][x] = affine_row(affine, 1, 0, u, v);
    row.to[2][x] = affine_row(affine, 2, 0, u, v);
  }
}

void run_luma(const Affine affine, const RowPointers row, int width) noexcept {
  for (int x = 0; x < width; ++x) row.to[0][x] = affine_diagonal(affine, 0, row.from[0][x]);
}

using RunRow = void (*)(Affine, RowPointers, int);

// What runs a row of the group, nullptr where no loop was made for its layout.
RunRow find_run_row(const GroupJob& job) noexcept {
  const int step = job.layout.components[job.group.first_component].step_bytes;
  const int count = job.group.component_count;
  if (count == 1 && step == 1) return run_luma;
  if (count == 2 && step == 1) return run_chroma<1>;
  if (count == 2 && step == 2) return run_chroma<2>;
  if (count == 3 && step == 3) return run_three<3>;
  if (count == 3 && step == 4) return run_three<4>;
  return nullptr;
}

// Smaller areas are done before the tables are made.
constexpr int least_pixels_for_tables = 2048;

bool is_packed(const GroupJob& job) noexcept {
  const PixelLayout& layout = job.layout;
  return job.group.component_count == 3 && layout.plane_count == 1 &&
         (layout.components[0].step_bytes == 3 || layout.components[0].step_bytes == 4);
}

void run_packed(const Affine& affine, const GroupJob& job) noexcept {
  const PackedMatrix matrix(affine, job.layout);
  const SampleGroup& group = job.group;
  const Component first{0, 0, job.layout.components[0].step_bytes, 0, 0};
  for (int y = group.y; y < group.y + group.height; ++y)
    matrix.run_row(job.input[0].data + sample_offset(first, job.input[0].pitch_bytes, group.x, y),
                   job.output[0].data + sample_offset(first, job.output[0].pitch_bytes, group.x, y),
                   group.width);
}

void run_affine(const Affine& affine, const GroupJob& job) noexcept {
  const SampleGroup& group = job.group;
  if (PackedMatrix::is_fast() && is_packed(job) &&
      static_cast<long long>(group.width) * group.height >= least_pixels_for_tables)
    return run_packed(affine, job);
  const RunRow run_row = find_run_row(job);
  for (int y = group.y; y < group.y + group.height; ++y) {
    if (run_row) {
      run_row(affine, row_pointers(job, y), group.width);
      continue;
    }
    for (int x = group.x; x < group.x + group.width; ++x) affine_sample(affine, job, x, y);
  }
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
    case Operation::Kernel::affine: {
      const GroupJobs groups = make_group_jobs(job);
      for (int i = 0; i < groups.count; ++i) run_affine(operation.affine, groups.jobs[i]);
      return;
    }
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
