// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cuda/device.h"
#include "cuda/host_clock.h"

namespace stripe {

/// How the device reaches a frame's host memory, or the block that it is staged through.
enum class Transfer {
  copy,    ///< stripes are copied up and down by the copy engines
  mapped,  ///< kernels read and write the host memory themselves
};

/// What the user asks for.
enum class TransferMode { automatic, copy, mapped };

/// What is to be decided. 0 and `automatic` stand for a choice.
struct ChoiceRequest {
  int stream_count = 0;
  int stripe_count = 0;
  int depth = 1;  ///< most frames in flight
  TransferMode transfer = TransferMode::automatic;
  bool page_locked = true;  ///< frames are page-locked or staged, and not left pageable
};

/// What was decided, for an engine and its frames.
struct Choice {
  int stream_count = 0;
  int stripe_count = 0;
  Transfer transfer = Transfer::copy;
};

/// A way to treat frames that may be the fastest.
struct Candidate {
  Transfer transfer;
  int stripe_count;
  double us = 0;  ///< a frame; 0: not measured
};

/// What is worth trying where the user left something open, the most promising first: by a model of
/// what copies, their issue and kernels over the link take. One or none where there is nothing to
/// find out.
///
/// Thread:  any, a pure function.
std::vector<Candidate> list_candidates(const ChoiceRequest& request, const DeviceInfo& device,
                                       std::size_t frame_bytes);

/// How long it takes to allocate page-locked memory, about.
Time page_lock_time(std::size_t size_bytes) noexcept;

/// Decides what the user left open, without a measurement; what was asked for stays, but that pageable memory is copied
/// even where mapped was asked for.
///
/// Thread:  any, a pure function.
Choice choose(const ChoiceRequest& request, const DeviceInfo& device);

/// Why `choose` decides so, as a sentence for people.
std::string explain_choice(const ChoiceRequest& request, const DeviceInfo& device);

const char* name_of(Transfer transfer) noexcept;

}  // namespace stripe
