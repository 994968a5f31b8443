// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "cuda/device.h"
#include "cuda/host_clock.h"
#include "cuda/range_copy.h"

namespace stripe {

/// Copies rows on the CPU with several threads: one alone does not fill the memory's bandwidth. Each
/// takes a piece, and the next one when it is done; who comes late takes fewer.
///
/// Thread:  one at a time.
class CopyPool {
 public:
  /// `helpers`: threads beside the caller's. Where one can't be started, fewer do the work.
  /// `cache_bytes`: larger copies go past the caches, as all uploads do.
  explicit CopyPool(int helpers, std::size_t cache_bytes = core_cache_bytes());
  CopyPool(const CopyPool&) = delete;
  ~CopyPool();

  /// As many as are worth it on this machine, where there are two pools: memory is the limit.
  static int useful_helpers() noexcept;

  /// What a core has of caches that it shares with no other.
  static std::size_t core_cache_bytes() noexcept;

  /// Copies, and returns when all is copied. Small jobs stay on the calling thread.
  ///
  /// Units:   pitches of any sign.
  void copy(const CopyJob& job) noexcept;

 private:
  // What the helpers are to do. Only the caller writes it, and only while none of them is inside.
  struct Round {
    CopyJob job;
    std::size_t size_bytes;
    std::size_t piece_bytes;
    Stores stores;
  };

  static constexpr std::size_t line_bytes = 64;

  Stores stores_of(const CopyJob& job, std::size_t size_bytes) const noexcept;
  void share(const CopyJob& job, std::size_t size_bytes) noexcept;
  void open(Time begin) noexcept;
  void close(Time begin) noexcept;
  void work() noexcept;
  std::uint32_t wait_for_other(std::uint32_t state) noexcept;
  void wake_two() noexcept;
  void take_pieces() noexcept;
  void predict(Time begin) noexcept;

  const std::size_t cache_bytes_;

  // The caller's.
  Time opened_ = 0;
  Time closed_ = 0;
  Time usual_gap_ = 0;
  Time usual_period_ = 0;

  Round round_{};
  std::atomic<Time> spin_time_{0};  // of a helper that waits for the next round
  std::atomic<bool> stopping_{false};

  // Odd while a round is open, and never the same twice. A helper that is inside and finds the state
  // that it came for may use round_: either close sees it inside, or it sees that it is closed.
  alignas(line_bytes) std::atomic<std::uint32_t> state_{0};
  alignas(line_bytes) std::atomic<int> inside_{0};
  alignas(line_bytes) std::atomic<std::size_t> next_piece_{0};
  alignas(line_bytes) std::atomic<int> to_wake_{0};

  std::vector<std::thread> helpers_;  // last: they use the others
};

}  // namespace stripe
