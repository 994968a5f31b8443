// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Operations whose components depend on each other, on blocks of pixels that share chroma; a block
// is one pixel where none is shared. Shared by both backends' kernels. No host includes.

#include "cuda/color_steps.h"
#include "cuda/sample_group.h"

namespace stripe {

/// A stripe as blocks of 1, 2 or 4 pixels: each thread works on one.
///
/// Units:   pixels from the picture's first one; the stripe begins on a whole block, and may end
///          within one.
struct BlockJob : KernelImages {
  int x, y, width, height;
  int log2_block_width, log2_block_height;

  STRIPE_HOST_DEVICE constexpr int blocks_across() const {
    return (width + (1 << log2_block_width) - 1) >> log2_block_width;
  }
  STRIPE_HOST_DEVICE constexpr int blocks_down() const {
    return (height + (1 << log2_block_height) - 1) >> log2_block_height;
  }
};

/// The pixels of a block that exist, and their chroma's place.
struct PixelBlock {
  int x, y, x_end, y_end;
  int chroma_x, chroma_y;

  /// 1, 2 or 4 pixels.
  STRIPE_HOST_DEVICE constexpr int log2_pixels() const {
    return (x_end - x == 2 ? 1 : 0) + (y_end - y == 2 ? 1 : 0);
  }
};

STRIPE_HOST_DEVICE constexpr PixelBlock block_at(const BlockJob& job, int across, int down) {
  const int x = job.x + (across << job.log2_block_width);
  const int y = job.y + (down << job.log2_block_height);
  const int x_end = x + (1 << job.log2_block_width), y_end = y + (1 << job.log2_block_height);
  const int job_x_end = job.x + job.width, job_y_end = job.y + job.height;
  return {x,
          y,
          x_end < job_x_end ? x_end : job_x_end,
          y_end < job_y_end ? y_end : job_y_end,
          x >> job.log2_block_width,
          y >> job.log2_block_height};
}

/// A sum over 2^`log2_pixels` pixels in 2^-16 of a code: the mean, rounded half up and saturated.
STRIPE_HOST_DEVICE constexpr unsigned char affine_mean(long long sum, int log2_pixels) {
  const int shift = 16 + log2_pixels;
  const long long code = (sum + (1ll << (shift - 1))) >> shift;
  return static_cast<unsigned char>(code < 0 ? 0 : code > 255 ? 255 : code);
}

/// A matrix that mixes luma with chroma that pixels share: luma pixel by pixel, chroma the mean of
/// what the pixels come to before they are saturated.
STRIPE_HOST_DEVICE inline void affine_block(const Affine& affine, const BlockJob& job, int across,
                                            int down) {
  const PixelBlock block = block_at(job, across, down);
  const int u = read_sample(job, 1, block.chroma_x, block.chroma_y);
  const int v = read_sample(job, 2, block.chroma_x, block.chroma_y);
  int lumas = 0;
  for (int y = block.y; y < block.y_end; ++y)
    for (int x = block.x; x < block.x_end; ++x) {
      const int luma = read_sample(job, 0, x, y);
      lumas += luma;
      write_sample(job, 0, x, y, affine_row(affine, 0, luma, u, v));
    }
  const int log2_pixels = block.log2_pixels();
  for (int row = 1; row < 3; ++row) {
    const int of_chroma =
        affine.coefficient[row][1] * u + affine.coefficient[row][2] * v + affine.offset[row];
    const long long sum = static_cast<long long>(affine.coefficient[row][0]) * lumas +
                          (static_cast<long long>(of_chroma) << log2_pixels);
    write_sample(job, row, block.chroma_x, block.chroma_y, affine_mean(sum, log2_pixels));
  }
}

/// All steps: the first component pixel by pixel, the others from the mean of the pixels' R'G'B'.
STRIPE_HOST_DEVICE inline void color_block(const ColorSteps& steps, const LookUpTables& tables,
                                           const BlockJob& job, int across, int down) {
  const PixelBlock block = block_at(job, across, down);
  const bool has_others = job.layout.color_count == 3;
  const SharedPart part =
      has_others ? shared_part(steps, read_sample(job, 1, block.chroma_x, block.chroma_y),
                               read_sample(job, 2, block.chroma_x, block.chroma_y))
                 : shared_part(steps, 0, 0);
  Rgb16 sum{};
  for (int y = block.y; y < block.y_end; ++y)
    for (int x = block.x; x < block.x_end; ++x) {
      const Rgb16 rgb = run_steps(steps, tables, rgb_from(steps, read_sample(job, 0, x, y), part));
      write_sample(job, 0, x, y, code_from(steps, 0, rgb, 0));
      for (int i = 0; i < 3; ++i) sum.value[i] += rgb.value[i];
      if (job.layout.has_extra)
        write_sample(job, 3, x, y, static_cast<unsigned char>(read_sample(job, 3, x, y)));
    }
  if (!has_others) return;
  for (int row = 1; row < 3; ++row)
    write_sample(job, row, block.chroma_x, block.chroma_y,
                 code_from(steps, row, sum, block.log2_pixels()));
}

}  // namespace stripe
