// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "cuda/device.h"
#include "support/random.h"

namespace test {

enum class Call {
  allocate,
  allocate_pinned,
  create_queue,
  create_event,
  copy,
  launch,
  record,
  synchronize,
  wait,
  page_lock,
  create_stamp,
  create_clock,
  stamp,
  anchor,
  time_of,
};
inline constexpr int call_kinds = 15;

/// A kernel that was queued, and in which queue: numbered in the order of their creation.
struct Launched {
  int queue;
  stripe::Rect area;
  bool over_link;
};

/// What a decorated device does wrong or slowly, and what it saw. Shared by all that the device
/// makes.
///
/// Thread: the plan (first block) is set while nobody uses the device; the rest may be read any
/// time.
class Script {
 public:
  int fail_at = 0;               ///< the n-th call fails, from 1; 0: none
  bool fail_ever_after = false;  ///< and so do all later ones, as after a sticky error
  Call fail_kind = Call::wait;   ///< with `fail_this_kind`: count calls of this kind alone
  bool fail_this_kind = false;
  int most_delay_us = 0;         ///< callers sleep at random up to this long
  int work_delay_kib = 0;        ///< before each piece of work a queue copies up to so much in vain
  int synchronize_delay_us = 0;  ///< synchronize returns so much too late
  /// Kernels can't reach host memory so often, at random; 1: never can, 0: always can. May change
  /// between frames.
  std::atomic<int> unmapped_one_in{0};

  /// Forgets the plan and the count of calls.
  void disarm();

  bool fired() const { return fired_; }
  int count(Call kind) const { return counts_[static_cast<int>(kind)]; }
  int live_objects() const { return live_; }
  std::vector<Launched> launched() const;

  /// Kernels that got an address which the device did not give: neither of its memory nor mapped.
  int strangers() const { return strangers_; }

  /// Counts, sleeps, throws DeviceError if it is this call's turn to fail.
  void call(Call kind);

 private:
  friend class Live;
  friend class DecoratedMemory;
  friend class DecoratedQueue;
  friend class DecoratedDevice;

  bool is_to_fail(Call kind);
  bool is_unmapped();
  int random_up_to(int most);
  void log_launch(int queue, const stripe::KernelJob& job);
  void note_mapped(const std::byte* address);
  void note_memory(const std::byte* begin, std::size_t size_bytes);
  bool gave(const std::byte* address) const;

  std::atomic<int> calls_{0};
  std::atomic<bool> fired_{false};
  std::array<std::atomic<int>, call_kinds> counts_{};
  std::atomic<int> live_{0};
  std::atomic<int> next_queue_{0};
  std::atomic<int> strangers_{0};
  mutable std::mutex mutex_;  // guards all below
  std::vector<Launched> launched_;
  std::set<const std::byte*> mapped_;
  std::map<const std::byte*, std::size_t> memories_;
  Random random_{0xdec0};
};

/// The message of the error that a script throws.
inline constexpr const char* injected_error = "injected failure";

/// The kind of error that a failing call of this kind throws.
stripe::DeviceErrorKind error_kind_of(Call kind);

/// A device that does as `inner` does, but by the script.
std::shared_ptr<stripe::Device> decorate(std::shared_ptr<stripe::Device> inner,
                                         std::shared_ptr<Script> script);

}  // namespace test
