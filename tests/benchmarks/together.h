// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "pipeline.h"

namespace benchmark {

// Runs several pipelines at once, and measures at least so many frames of them all, from when each of them has warmed
// up. The sample is of one frame of any of them.
Sample run_together(const Chain& chain, int pipelines, int frames);

}  // namespace benchmark
