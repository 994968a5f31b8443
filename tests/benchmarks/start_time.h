// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "program.h"

namespace benchmark {

// Time from making a pipeline, by which plugins are loaded, to its first frame at the sink: of the element, of
// nvcodec's pair, and of an identity in the same place, in turn, each in a process of its own.
void measure_start(Context& context);

// The child named "start", which prints the milliseconds of a pipeline.
void start_as_child(const std::vector<std::string>& arguments);

}  // namespace benchmark
