// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

#include "report.h"

namespace benchmark {

// What should be true of the element in pipelines on a GPU on PCIe, from what was measured of one size.
std::vector<Verdict> judge_pipelines(const Size& size, const std::vector<Row>& rows,
                                     const std::vector<Row>& peers,
                                     const std::vector<OverlapRow>& overlaps);

}  // namespace benchmark
