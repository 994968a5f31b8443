// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/plane_jobs.h"

namespace stripe {

namespace {

bool mixes_planes(const Affine& affine, const PixelLayout& layout) {
  for (int row = 0; row < layout.color_count; ++row)
    for (int column = 0; column < layout.color_count; ++column)
      if (layout.components[row].plane != layout.components[column].plane &&
          affine.coefficient[row][column] != 0)
        return true;
  return false;
}

ByteMap copy_map() { return {ByteMap::Kind::copy, 1, {{affine_one}}, {}}; }

// Where a component is within its pixel.
int byte_of(const Component& component) { return component.offset_bytes; }

ByteMap identity_map(int period) {
  ByteMap map{ByteMap::Kind::diagonal, period, {}, {}};
  for (int i = 0; i < period; ++i) map.coefficient[i][i] = affine_one;
  return map;
}

void set_row(ByteMap& map, const Affine& affine, const PixelLayout& layout, int component) {
  const Component& target = layout.components[component];
  for (int c = 0; c < layout.color_count; ++c) {
    const Component& source = layout.components[c];
    if (source.plane != target.plane) continue;
    map.coefficient[byte_of(target)][byte_of(source)] = affine.coefficient[component][c];
    if (c != component && affine.coefficient[component][c] != 0) map.kind = ByteMap::Kind::matrix;
  }
  map.offset[byte_of(target)] = affine.offset[component];
}

bool treats_bytes_alike(const ByteMap& map) {
  if (map.kind != ByteMap::Kind::diagonal) return false;
  for (int i = 1; i < map.period; ++i)
    if (map.coefficient[i][i] != map.coefficient[0][0] || map.offset[i] != map.offset[0])
      return false;
  return true;
}

ByteMap plane_map(const Affine& affine, const PixelLayout& layout, int plane) {
  ByteMap map{};
  for (int c = 0; c < layout.component_count(); ++c) {
    const Component& component = layout.components[c];
    if (component.plane != plane) continue;
    if (map.period == 0) map = identity_map(component.step_bytes);
    if (c < layout.color_count) set_row(map, affine, layout, c);
  }
  if (treats_bytes_alike(map)) map.period = 1;
  return map;
}

RowsJob rows_of(const KernelJob& job, int plane, int period) {
  const PlaneArea area = plane_area(job.layout, plane, job.area);
  const ConstPlane from = sub_plane(job.input.planes[plane], area);
  const Plane to = sub_plane(job.output.planes[plane], area);
  RowsJob rows{reinterpret_cast<const unsigned char*>(from.data),
               reinterpret_cast<unsigned char*>(to.data),
               from.pitch_bytes,
               to.pitch_bytes,
               area.row_bytes / static_cast<unsigned>(period),
               area.rows};
  const auto row_bytes = static_cast<long long>(area.row_bytes);
  if (rows.from_pitch_bytes == row_bytes && rows.to_pitch_bytes == row_bytes) {
    rows.pixels *= rows.rows;
    rows.rows = 1;
  }
  if (rows.rows == 1) rows.from_pitch_bytes = rows.to_pitch_bytes = 0;
  return rows;
}

}  // namespace

PlaneJobs make_plane_jobs(const Operation& operation, const KernelJob& job) {
  const bool copies = operation.kernel == Operation::Kernel::copy;
  PlaneJobs plane_jobs;
  if (!copies && mixes_planes(operation.affine, job.layout)) return plane_jobs;
  for (int p = 0; p < job.layout.plane_count; ++p) {
    const ByteMap map = copies ? copy_map() : plane_map(operation.affine, job.layout, p);
    plane_jobs.jobs[static_cast<std::size_t>(plane_jobs.count++)] = {map,
                                                                     rows_of(job, p, map.period)};
  }
  return plane_jobs;
}

}  // namespace stripe
