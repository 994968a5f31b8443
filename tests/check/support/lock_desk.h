// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What the tests of page_lock.h have in common.

#include <memory>

#include "cuda/page_lock.h"
#include "support/booked_device.h"

namespace test {

using Budget = std::shared_ptr<stripe::LockBudget>;

inline Budget make_budget(std::uint64_t bound_bytes = 0) {
  return std::make_shared<stripe::LockBudget>(bound_bytes);
}

/// The n-th of some addresses that a device of books tells apart: far enough apart for ranges that
/// don't overlap. Nobody reads there.
inline const std::byte* address(std::size_t n) {
  constexpr std::size_t apart_bytes = 4096;
  static std::byte memory[1024 * apart_bytes];
  return memory + n * apart_bytes;
}

/// A frame comes and goes.
inline stripe::LockState show(stripe::HostRange& range, stripe::Device& device,
                              const Budget& budget,
                              stripe::LockWhen when = stripe::LockWhen::second_sight) {
  return range.use(device, budget, when).state;
}

/// Ranges of 100 bytes, one at each address, over a device of books; one element's bound.
struct Desk {
  static constexpr std::size_t range_bytes = 100;

  explicit Desk(std::uint64_t bound_bytes, int count) : budget(make_budget(bound_bytes)) {
    for (int i = 0; i < count; ++i)
      ranges.push_back(std::make_unique<stripe::HostRange>(address(i), range_bytes, false));
  }

  /// A frame in range `i` comes and goes, `times` times; the state of the last one.
  stripe::LockState come(int i, int times = 1) {
    stripe::LockState state = stripe::LockState::refused;
    for (int n = 0; n < times; ++n) state = show(*ranges[i], device, budget);
    return state;
  }

  stripe::LockAnswer hold(int i) {
    return ranges[i]->use(device, budget, stripe::LockWhen::second_sight);
  }

  bool is_locked(int i) const { return device.books()->is_locked(address(i)); }

  BookedDevice device{true};
  Budget budget;
  std::vector<std::unique_ptr<stripe::HostRange>> ranges;
};

}  // namespace test
