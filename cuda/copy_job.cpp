// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/copy_job.h"

namespace stripe {

bool is_contiguous(const CopyJob& job) noexcept {
  const auto row_bytes = static_cast<std::ptrdiff_t>(job.row_bytes);
  return job.rows == 1 || (job.to_pitch_bytes == row_bytes && job.from_pitch_bytes == row_bytes);
}

bool join(CopyJob& job, const CopyJob& next) noexcept {
  const std::size_t size = job.row_bytes * job.rows;
  if (!is_contiguous(job) || !is_contiguous(next) || job.direction != next.direction ||
      next.to != job.to + size || next.from != job.from + size)
    return false;
  job.row_bytes = size + next.row_bytes * next.rows;
  job.rows = 1;
  return true;
}

}  // namespace stripe
