// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/choice.h"
#include "cuda/overlap.h"

namespace stripe {

/// Why copies and kernels may not overlap.
enum class Cause {
  not_page_locked,  ///< page-lock=off
  single_stream,    ///< one stream, one frame in flight
  one_copy_engine,
  launch_blocking,  ///< CUDA_LAUNCH_BLOCKING
  one_connection,   ///< CUDA_DEVICE_MAX_CONNECTIONS=1
  small_frame,      ///< too small for so many stripes
  new_memory,       ///< upstream never recycles
  kernel_bound,
};

/// A reason, and what to do about it.
struct Advice {
  Cause cause;
  bool is_users_choice;  ///< and so no more than an information
  std::string text;
  std::string hint;
};

/// What advice is given on.
struct Situation {
  DeviceInfo device;
  ChoiceRequest request;  ///< what the user asked for
  Choice choice;          ///< what is done
  std::uint64_t frame_bytes = 0;
  int stripes = 0;              ///< that a frame of these caps is cut into
  std::string launch_blocking;  ///< the value of CUDA_LAUNCH_BLOCKING; empty: unset
  std::string max_connections;  ///< the value of CUDA_DEVICE_MAX_CONNECTIONS
};

/// A copy of so many bytes runs at half of the link's speed: below it more stripes cost more than
/// they give.
constexpr std::uint64_t small_copy_bytes = 170'000;

/// Inputs in a row that came in memory that was never seen before, until that is no beginning any
/// more.
constexpr int many_new_memories = 64;

/// What is known before the first frame.
///
/// Thread:  any, a pure function.
std::vector<Advice> advise(const Situation& situation);

/// What a sample of frames shows.
std::vector<Advice> advise(const Overlap& overlap, const DeviceInfo& device);

/// What is to be said of an upstream whose every frame is new memory.
Advice advise_on_new_memory();

/// The environment of this process, in a situation.
void read_environment(Situation& situation);

}  // namespace stripe
