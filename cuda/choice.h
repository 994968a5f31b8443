// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "cuda/device.h"

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
  int stream_count;
  int stripe_count;
  Transfer transfer;
};

/// Decides what the user left open; what was asked for stays, but that pageable memory is copied
/// even where mapped was asked for.
///
/// Thread:  any, a pure function.
Choice choose(const ChoiceRequest& request, const DeviceInfo& device);

/// Why `choose` decides so, as a sentence for people.
std::string explain_choice(const ChoiceRequest& request, const DeviceInfo& device);

const char* name_of(Transfer transfer) noexcept;

}  // namespace stripe
