// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "program.h"

namespace benchmark {

// Stripes x frames in flight x sizes of frames, copied, with mapped frames beside them; and what the model of a single
// frame says, of the time of one copy and of the time that a further stripe costs, which are measured by themselves.
void measure_sweep(Context& context);

}  // namespace benchmark
