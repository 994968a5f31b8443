// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "program.h"

namespace benchmark {

// The element's host backend, and what GStreamer has for the CPU, each on as many CPUs as it is told, so that the
// ratios mean the same on a small machine and a large one.
void measure_on_cpu(Context& context);

// The child named "on-cpu", which is kept to some CPUs and prints figures.
void on_cpu_as_child(const std::vector<std::string>& arguments);

}  // namespace benchmark
