// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "cuda/choice.h"
#include "cuda/engine.h"
#include "cuda/host_clock.h"

namespace stripe {

/// How long a calibration may take in all.
inline constexpr Time calibration_budget = 60'000'000;

/// What was decided for frames of one shape, and what was tried for it.
struct Calibration {
  Choice choice;
  std::vector<Candidate> tried;  ///< with their times, in the order of trying; empty: nothing was
  bool from_cache = false;
};

/// The time of a candidate in us a frame; nothing where no time is left to measure it, and what
/// could not be measured is infinite.
using MeasureCandidate = std::function<std::optional<double>(const Candidate&)>;

/// Tries candidates in their order, those that are not far behind in up to three more rounds while there
/// is time, and takes the one with the shortest time; of those within 5 % of it the one that costs the
/// CPU the fewest calls a frame; of those the fastest. Where one makes the best one that costs more calls
/// than the best before, that one is measured again at once, since for large frames there is no second
/// round. Where there is no time even for that, it has to be faster by a tenth, or does not count.
///
/// Thread:  any.
Calibration try_candidates(const Choice& guess, const std::vector<Candidate>& candidates,
                           const MeasureCandidate& measure);

/// Decides what the user left open by trying it on this device, in page-locked memory of this shape,
/// within `budget`; it runs out before the last candidate where frames are large. Where there is
/// nothing to try (all is asked for, the device shares the CPU's memory, frames stay pageable), or
/// no time for it, `choose` decides.
///
/// The result is kept for the process: the same question is answered at once the next time. One
/// calibration runs at a time; who has to wait for longer than the budget goes without.
///
/// Units:   `budget` in nanoseconds.
/// Thread:  any.
/// Errors:  none: what fails is not chosen, and the caller meets the same error where it matters.
Calibration calibrate(const std::shared_ptr<Device>& device, const FrameShape& shape,
                      const ChoiceRequest& request, Time budget = calibration_budget);

}  // namespace stripe
