// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

#include "report.h"

namespace benchmark {

// How fast the kernels of packed formats are on device memory, without the link.
std::vector<KernelRow> measure_kernels(stripe::Device& device, int launches, int rounds);

// What of that is promised: a share of what the device's own copy of such a frame takes.
std::vector<Verdict> judge_kernels(const std::vector<KernelRow>& rows);

}  // namespace benchmark
