// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <span>
#include <vector>

#include "cuda/frame_times.h"

namespace stripe {

/// How much of a device's work ran at the same time.
///
/// Units:   microseconds; ratios.
struct Overlap {
  double window = 0;
  double upload = 0;      ///< in which at least one upload ran
  double kernel = 0;      ///< the same for kernels
  double download = 0;    ///< and for downloads
  double overlap = 0;     ///< (upload + kernel + download) / window; 0: mapped, or nothing was seen
  double ceiling = 0;     ///< the same sum / the longest of the three: what overlap can be at most
  double link_share = 0;  ///< of the link's time in both directions, what was used
  double upload_bytes_per_second = 0;  ///< over the window
  double download_bytes_per_second = 0;
};

/// The length of the union of spans within `window`.
Time union_length(std::vector<Span> spans, const Span& window);

/// Measures consecutive frames. The window begins with the first frame's first download and ends
/// with the last frame's last upload: in it nearly all work belongs to one of these frames.
/// Where that is nothing (one frame, or mapped ones) it is from the first piece of work to the last.
///
/// Thread:  any, pure arithmetic.
Overlap measure_overlap(std::span<const FrameTimes> frames);

/// Whether kernels are what frames wait for, and not the link: the device is busy with them most of
/// the time, and with copies clearly less.
bool is_kernel_bound(const Overlap& overlap);

}  // namespace stripe
