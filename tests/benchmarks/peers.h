// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What else GStreamer has for a frame up to the GPU and down again, or for the same work on the CPU.

#include <string>
#include <vector>

#include "pipeline.h"
#include "report.h"

namespace benchmark {

// Without the caps between them they hand frames through.
inline constexpr const char* nvcodec_config = "cudaupload ! cudadownload";
inline constexpr const char* nvcodec_elements =
    "cudaupload ! video/x-raw(memory:CUDAMemory) ! cudadownload ! video/x-raw";

// Settings that change something: with neutral ones a videobalance hands frames through.
inline constexpr const char* balance_settings = "saturation=1.5 contrast=1.2";

// Adds the peers that work on pictures of this size here, to take turns with others. Those that this machine lacks, or
// that fail in a first try in a process of their own, are told instead.
void add_peers(const Size& size, int frames, std::vector<Contestant>& contestants,
               std::vector<Absence>& absences);

// The child named "try", which runs a pipeline.
void try_as_child(const std::vector<std::string>& arguments);

// What OpenGL needs where there is no display.
void set_gl_environment();

}  // namespace benchmark
