// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/plane_jobs.h"
#include "cuda/sample_group.h"

namespace stripe {

/// What of the machine's instructions a kernel on the CPU makes use of.
enum class InstructionSet {
  best,      ///< whatever this machine has
  baseline,  ///< what every machine of its kind has
};

/// Runs a map on rows of one plane, on the calling thread. Input and output do not overlap.
///
/// Thread:  any.
void run_plane_on_host(const PlaneJob& job,
                       InstructionSet instructions = InstructionSet::best) noexcept;

/// Runs a matrix on a group of components, on the calling thread: fast where each has a plane of
/// its own, right everywhere.
///
/// Thread:  any.
void run_group_on_host(const Affine& affine, const GroupJob& job,
                       InstructionSet instructions = InstructionSet::best) noexcept;

}  // namespace stripe
