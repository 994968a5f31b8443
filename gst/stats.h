// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <string>

#include "cuda/calibration.h"
#include "cuda/sampling.h"

namespace gst_stripe {

/// What the `stats` property shows: a copy of all counters at one time.
///
/// Units:   counts since READY to PAUSED; bytes.
struct Stats {
  std::string backend;
  std::string device_name;
  std::uint64_t frames_in = 0;
  std::uint64_t frames_out = 0;
  std::uint64_t bytes_uploaded = 0;
  std::uint64_t bytes_downloaded = 0;
  std::uint64_t input_pinned_frames = 0;
  std::uint64_t output_pinned_frames = 0;
  std::uint64_t staged_frames = 0;
  std::uint64_t pinned_bytes = 0;
  std::uint64_t pinned_bytes_peak = 0;
  std::uint64_t registrations = 0;
  std::uint64_t refusals = 0;
  std::uint64_t evictions = 0;
  std::uint64_t staged_bytes = 0;    ///< copied on the CPU, both ways
  std::uint64_t frames_dropped = 0;  ///< by QoS, a flush or downstream's refusal
  std::string transfer_mode;
  guint frames_in_flight = 0;
  guint frames_in_flight_peak = 0;
  guint stripes_per_frame = 0;
  guint streams = 0;
  bool upstream_uses_pool = false;
  stripe::SampledTimes times;
  stripe::Calibration calibration;
};

/// The structure `cuda-stripe-stats`; the caller owns it.
GstStructure* to_structure(const Stats& stats);

}  // namespace gst_stripe
