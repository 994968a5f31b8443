// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>

#include "cuda/device.h"
#include "tests/doctor/examination.h"

namespace doctor {

/// Copies a frame of `size_bytes` every way, from page-locked and from pageable memory, and
/// page-locks one; about half a second.
///
/// Errors:  none are thrown; what fails is told in its place, and the rest is measured.
FrameTimes time_frame(stripe::Device& device, std::size_t size_bytes);

}  // namespace doctor
