// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/group_jobs.h"

namespace stripe {

namespace {

GroupJob make_group_job(const KernelJob& job, int first_component, int component_count) {
  const Component& component = job.layout.components[first_component];
  const PlaneArea area = plane_area(job.layout, component.plane, job.area);
  GroupJob out{};
  out.layout = job.layout;
  for (int p = 0; p < job.layout.plane_count; ++p) {
    out.input[p] = {reinterpret_cast<const unsigned char*>(job.input.planes[p].data),
                    job.input.planes[p].pitch_bytes};
    out.output[p] = {reinterpret_cast<unsigned char*>(job.output.planes[p].data),
                     job.output.planes[p].pitch_bytes};
  }
  out.group = {first_component,
               component_count,
               static_cast<int>(area.x_bytes / component.step_bytes),
               static_cast<int>(area.y),
               static_cast<int>(area.row_bytes / component.step_bytes),
               static_cast<int>(area.rows)};
  return out;
}

bool is_subsampled(const Component& component) {
  return component.log2_sub_x != 0 || component.log2_sub_y != 0;
}

}  // namespace

GroupJobs make_group_jobs(const KernelJob& job) {
  const int colors = job.layout.color_count;
  if (colors == 3 && is_subsampled(job.layout.components[1]))
    return {{make_group_job(job, 0, 1), make_group_job(job, 1, 2)}, 2};
  return {{make_group_job(job, 0, colors), {}}, 1};
}

}  // namespace stripe
