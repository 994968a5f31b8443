// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>

#include "cuda/device.h"

namespace stripe {

/// A matrix on the bytes of one pixel in one plane, in the order in which they lie in memory. A
/// byte that is no colour has the row of the identity, so no format needs a case of its own.
///
/// Units:   as Affine's; `period` is the bytes of a pixel, 1 to 4.
struct ByteMap {
  enum class Kind { copy, diagonal, matrix };

  Kind kind;
  int period;
  int coefficient[4][4];
  int offset[4];
};

/// Rows of pixels of one plane.
///
/// Units:   bytes between rows; `pixels` of a row, of as many bytes as the map's period.
struct RowsJob {
  const unsigned char* from;
  unsigned char* to;
  long long from_pitch_bytes;
  long long to_pitch_bytes;
  unsigned long long pixels;
  unsigned long long rows;
};

struct PlaneJob {
  ByteMap map;
  RowsJob rows;
};

struct PlaneJobs {
  std::array<PlaneJob, max_planes> jobs;
  int count = 0;  ///< 0: the operation mixes components of different planes
};

/// What a kernel has to do for a stripe, plane by plane. Rows without gaps between them become one
/// long row, and bytes that are all treated alike become pixels of one byte.
///
/// Thread:  any, pure arithmetic.
PlaneJobs make_plane_jobs(const Operation& operation, const KernelJob& job);

}  // namespace stripe
