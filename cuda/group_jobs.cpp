// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/group_jobs.h"

namespace stripe {

namespace {

void set_images(KernelImages& out, const KernelJob& job) {
  out.layout = job.layout;
  for (int p = 0; p < job.layout.plane_count; ++p) {
    const auto plane = static_cast<std::size_t>(p);
    out.input[p] = {reinterpret_cast<const unsigned char*>(job.input.planes[plane].data),
                    job.input.planes[plane].pitch_bytes};
    out.output[p] = {reinterpret_cast<unsigned char*>(job.output.planes[plane].data),
                     job.output.planes[plane].pitch_bytes};
  }
}

GroupJob make_group_job(const KernelJob& job, int first_component, int component_count) {
  const Component& component = job.layout.components[first_component];
  const PlaneArea area = plane_area(job.layout, component.plane, job.area);
  GroupJob out{};
  set_images(out, job);
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

BlockJob make_block_job(const KernelJob& job) {
  BlockJob out{};
  set_images(out, job);
  out.x = job.area.x;
  out.y = job.area.y;
  out.width = job.area.width;
  out.height = job.area.height;
  if (job.layout.color_count == 3) {
    out.log2_block_width = job.layout.components[1].log2_sub_x;
    out.log2_block_height = job.layout.components[1].log2_sub_y;
  }
  return out;
}

}  // namespace stripe
