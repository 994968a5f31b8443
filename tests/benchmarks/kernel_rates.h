// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

#include "report.h"

namespace benchmark {

// How fast the kernels of packed formats are on device memory, without the link.
std::vector<KernelRow> measure_kernels(stripe::Device& device, int launches, int rounds);

}  // namespace benchmark
