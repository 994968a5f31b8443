// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <chrono>
#include <cstdint>

namespace stripe {

/// A time on std::chrono::steady_clock, in nanoseconds since its epoch.
using Time = std::int64_t;

inline Time now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

inline double microseconds(Time length) noexcept { return static_cast<double>(length) / 1e3; }

}  // namespace stripe
