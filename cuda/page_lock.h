// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "cuda/device.h"

namespace stripe {

class HostRange;
class LockLane;

/// What one element may have page-locked, and what it did.
///
/// Units:   bytes; a bound of 0 is none.
/// Owner:   shared by the element, its allocator's memories and the ranges that it registered,
///          all of which may outlive it.
/// Thread:  any.
class LockBudget {
 public:
  explicit LockBudget(std::uint64_t bound_bytes);
  LockBudget(const LockBudget&) = delete;
  ~LockBudget();

  /// Counts `size_bytes` as page-locked if the bound allows it, after letting go ranges that this
  /// element registered and that come no more: those that no frame uses and none has used while
  /// 64 others did, the least recently used first. Letting go what still comes, to register it
  /// again with its next frame, would cost more than staging does.
  ///
  /// Errors:  false where the bound stands in the way.
  bool charge(std::uint64_t size_bytes);
  void refund(std::uint64_t size_bytes) noexcept;

  /// Lets go every range that this element registered and no frame uses.
  void let_go_idle();

  std::uint64_t used_bytes() const noexcept { return used_bytes_; }
  /// Of what was charged, a registration that was then refused included.
  std::uint64_t peak_bytes() const noexcept { return peak_bytes_; }
  std::uint64_t registrations() const noexcept { return registrations_; }
  std::uint64_t refusals() const noexcept { return refusals_; }
  std::uint64_t evictions() const noexcept { return evictions_; }

 private:
  friend class HostRange;
  friend class LockLane;

  bool try_add(std::uint64_t size_bytes) noexcept;
  bool is_old(const LockLane& lane) const noexcept;
  LockLane* take_old(std::uint64_t size_bytes, std::unique_ptr<PageLock>& lock);
  LockLane* take_any(std::unique_ptr<PageLock>& lock);

  const std::uint64_t bound_bytes_;
  const std::uint64_t id_;  // never used again, unlike an address
  std::atomic<std::uint64_t> used_bytes_{0};
  std::atomic<std::uint64_t> peak_bytes_{0};
  std::atomic<std::uint64_t> registrations_{0};
  std::atomic<std::uint64_t> refusals_{0};
  std::atomic<std::uint64_t> evictions_{0};
  std::atomic<std::uint64_t> uses_{0};
  std::list<LockLane*> registered_;  // under the registry's mutex
};

/// When memory of others is registered.
enum class LockWhen {
  first_sight,
  second_sight,  ///< seen twice by one element: a pool recycles it
};

enum class LockState {
  locked,  ///< use it directly while the LockUse lives
  unseen,  ///< not yet: it may never come again
  busy,    ///< its bytes are being registered or let go, or are of another range that is registered
  refused,     ///< it can't be page-locked
  over_bound,  ///< the element's bound stands in the way
};

/// Keeps a range page-locked. Moves, never copies; the range outlives it.
///
/// Thread:  any, one at a time; its destructor takes the registry's lock.
class LockUse {
 public:
  LockUse() = default;
  LockUse(LockUse&& other) noexcept;
  LockUse& operator=(LockUse&& other) noexcept;
  ~LockUse();

 private:
  friend class LockLane;
  explicit LockUse(LockLane* lane) noexcept : lane_(lane) {}

  LockLane* lane_ = nullptr;
};

struct LockAnswer {
  LockState state = LockState::refused;
  LockUse use;         ///< holds the range where `state` is locked
  std::string reason;  ///< of a refusal that was not reported before; else empty
};

/// Memory that somebody else allocated, for as long as that memory lives: whether it was seen, is
/// page-locked, refused to be. It is never found by its address: the same address can be other
/// memory tomorrow, and a copy from a registration that outlived its memory delivers the old
/// bytes.
///
/// Owner:   whoever knows when the memory dies; destroyed before the memory is freed.
/// Thread:  any. A range that is locked is used without a lock. All else is under the registry's
///          mutex, a leaf: no driver call is made under it.
class HostRange {
 public:
  /// `read_only`: the pages can't be written.
  HostRange(const std::byte* base, std::size_t size_bytes, bool read_only);
  HostRange(const HostRange&) = delete;

  /// Lets its registrations go. No LockUse is alive.
  ~HostRange();

  /// Whether a frame may use the memory directly now; registers it where its time has come, and
  /// charges `budget` for it. What somebody else page-locked is locked as it is.
  ///
  /// Errors:  none; a failure is a refusal, remembered as long as the range.
  LockAnswer use(Device& device, const std::shared_ptr<LockBudget>& budget, LockWhen when);

  /// Whether it can't be page-locked, as far as is known.
  bool is_refused(const Device& device) const noexcept;

  /// Remembers that the memory is of a kind that is never registered. True the first time.
  bool refuse(Device& device, LockBudget& budget);

 private:
  LockLane& lane_of(const Device& device) const noexcept;

  std::array<std::unique_ptr<LockLane>, 2> lanes_;  // for the host device, for CUDA

  // Counts up with each call and is read by the destructor: whichever thread lets the memory go, what
  // the others did here comes first, whatever counts the references to it.
  mutable std::atomic<std::uint32_t> calls_{0};
};

}  // namespace stripe
