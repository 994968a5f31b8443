// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>

#include "cuda/device.h"
#include "cuda/pixel_block.h"
#include "cuda/sample_group.h"

namespace stripe {

/// The groups that a stripe's components fall into: one, or luma and subsampled chroma.
struct GroupJobs {
  std::array<GroupJob, 2> jobs;
  int count;
};

/// What an affine kernel has to do for a stripe.
///
/// Thread:  any, pure arithmetic.
GroupJobs make_group_jobs(const KernelJob& job);

/// The same for the kernels that work on blocks.
BlockJob make_block_job(const KernelJob& job);

}  // namespace stripe
