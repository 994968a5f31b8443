// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "program.h"

namespace benchmark {

// The engine where all frames are copied on the CPU first, and last, as `page-lock=stage` has it, over 32 touched
// buffers each way; told against one thread's memcpy of the same frames.
void measure_staging(Context& context);

}  // namespace benchmark
