// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// How an operation works on the samples of a stripe, shared by both backends' kernels. No host
// includes.

#include "cuda/affine.h"
#include "cuda/pixel_layout.h"

namespace stripe {

/// A plane as kernels see it.
///
/// Units:   bytes; 8-bit codes.
template <typename Byte>
struct KernelPlane {
  Byte* data;
  long long pitch_bytes;
};

/// The colour components of one subsampling (and the extra one, at full size): each thread reads
/// and writes one sample of each.
///
/// Units:   samples of these components, from the picture's first sample.
struct SampleGroup {
  int first_component;
  int component_count;  ///< 1, 2 (the chroma of subsampled YUV) or 3
  int x, y, width, height;
};

/// Both pictures of a kernel.
struct KernelImages {
  PixelLayout layout;
  KernelPlane<const unsigned char> input[max_planes];
  KernelPlane<unsigned char> output[max_planes];
};

/// What a kernel gets: a group of components in both pictures.
struct GroupJob : KernelImages {
  SampleGroup group;
};

STRIPE_HOST_DEVICE constexpr long long sample_offset(const Component& component,
                                                     long long pitch_bytes, int x, int y) {
  return y * pitch_bytes + static_cast<long long>(x) * component.step_bytes +
         component.offset_bytes;
}

STRIPE_HOST_DEVICE inline int read_sample(const KernelImages& job, int component, int x, int y) {
  const Component& c = job.layout.components[component];
  const KernelPlane<const unsigned char>& plane = job.input[c.plane];
  return plane.data[sample_offset(c, plane.pitch_bytes, x, y)];
}

STRIPE_HOST_DEVICE inline void write_sample(const KernelImages& job, int component, int x, int y,
                                            unsigned char code) {
  const Component& c = job.layout.components[component];
  const KernelPlane<unsigned char>& plane = job.output[c.plane];
  plane.data[sample_offset(c, plane.pitch_bytes, x, y)] = code;
}

/// The affine operation on the sample (x, y) of a group.
STRIPE_HOST_DEVICE inline void affine_sample(const Affine& affine, const GroupJob& job, int x,
                                             int y) {
  if (job.group.component_count == 3) {
    const int a = read_sample(job, 0, x, y);
    const int b = read_sample(job, 1, x, y);
    const int c = read_sample(job, 2, x, y);
    for (int row = 0; row < 3; ++row)
      write_sample(job, row, x, y, affine_row(affine, row, a, b, c));
    if (job.layout.has_extra)
      write_sample(job, 3, x, y, static_cast<unsigned char>(read_sample(job, 3, x, y)));
    return;
  }
  // Rows that reach into the other group are refused when the operation is prepared; chroma's two
  // components may mix.
  const int first = job.group.first_component;
  if (job.group.component_count == 1) {
    write_sample(job, first, x, y, affine_diagonal(affine, first, read_sample(job, first, x, y)));
    return;
  }
  const int u = read_sample(job, 1, x, y);
  const int v = read_sample(job, 2, x, y);
  write_sample(job, 1, x, y, affine_row(affine, 1, 0, u, v));
  write_sample(job, 2, x, y, affine_row(affine, 2, 0, u, v));
}

}  // namespace stripe
