// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "cuda/device.h"

namespace stripe {

/// Copies rows on the CPU with several threads: one alone does not fill the memory's bandwidth.
///
/// Thread:  one at a time.
class CopyPool {
 public:
  /// `helpers`: threads beside the caller's. Where one can't be started, fewer do the work.
  explicit CopyPool(int helpers);
  CopyPool(const CopyPool&) = delete;
  ~CopyPool();

  /// As many as are worth it on this machine: memory is the limit, not the cores.
  static int useful_helpers() noexcept;

  /// Copies, and returns when all is copied. Small jobs stay on the calling thread.
  ///
  /// Units:   pitches of any sign.
  void copy(const CopyJob& job) noexcept;

 private:
  void work(std::size_t part) noexcept;

  std::mutex mutex_;  // guards all below; a leaf
  std::condition_variable changed_;
  CopyJob job_{};
  std::uint64_t round_ = 0;
  std::size_t unfinished_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> helpers_;  // last: they use the others
};

}  // namespace stripe
