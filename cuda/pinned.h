// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

namespace stripe {

class PinnedCache;

/// A block as its source made it.
struct PinnedStorage {
  std::byte* data = nullptr;
  std::size_t size_bytes = 0;
  bool page_locked = false;  ///< false: plain memory, where no device can lock pages
};

/// Where page-locked memory comes from.
///
/// Thread:  any.
class PinnedSource {
 public:
  virtual ~PinnedSource() = default;

  /// Takes `size_bytes` bytes of page-locked memory, aligned to a page.
  /// Errors:  throws DeviceError, out_of_pinned_memory.
  virtual PinnedStorage allocate(std::size_t size_bytes) = 0;

  /// Gives it back. Memory that the driver refuses to free stays allocated.
  virtual void release(const PinnedStorage& storage) noexcept = 0;
};

/// One block of page-locked memory; goes back to its cache when destroyed.
///
/// Owner:   moves, never copies. May outlive everything but its cache.
/// Thread:  any, one at a time.
class PinnedBlock {
 public:
  PinnedBlock() = default;
  PinnedBlock(PinnedBlock&& other) noexcept;
  PinnedBlock& operator=(PinnedBlock&& other) noexcept;
  ~PinnedBlock();

  std::byte* data() const noexcept { return storage_.data; }
  std::size_t size_bytes() const noexcept { return storage_.size_bytes; }
  bool is_page_locked() const noexcept { return storage_.page_locked; }
  explicit operator bool() const noexcept { return storage_.data != nullptr; }

 private:
  friend class PinnedCache;
  PinnedBlock(PinnedCache* cache, const PinnedStorage& storage) noexcept
      : cache_(cache), storage_(storage) {}

  PinnedCache* cache_ = nullptr;
  PinnedStorage storage_;
};

/// Page-locked blocks that nobody uses right now, kept by size: page-locking costs more than a
/// frame's copy, and buffer pools give memory back and ask for the same size again all the time.
///
/// Units:   sizes are rounded up to whole pages.
/// Thread:  any. Its mutex is a leaf: nothing is called under it, not even the source.
class PinnedCache {
 public:
  static constexpr std::size_t page_bytes = 4096;

  /// The size of the block that holds `size_bytes`: whole pages, one at least.
  static constexpr std::size_t rounded_bytes(std::size_t size_bytes) noexcept {
    return size_bytes == 0 ? page_bytes : (size_bytes + page_bytes - 1) / page_bytes * page_bytes;
  }

  /// `idle_bound_bytes`: what may lie idle; the least recently used blocks go first.
  PinnedCache(std::unique_ptr<PinnedSource> source, std::size_t idle_bound_bytes);
  PinnedCache(const PinnedCache&) = delete;
  ~PinnedCache();

  /// A block of at least `size_bytes`, contents undefined.
  /// Errors:  throws DeviceError, out_of_pinned_memory, after every idle block was let go in
  ///          vain.
  PinnedBlock acquire(std::size_t size_bytes);

  /// Frees every idle block.
  void trim() noexcept;

  std::size_t idle_bytes() const noexcept;

  /// How often the source was asked, since the start: a steady state asks no more.
  std::uint64_t allocations() const noexcept;

 private:
  friend class PinnedBlock;
  struct Idle {
    std::uint64_t age;  // smaller: put back earlier
    PinnedStorage storage;
  };

  PinnedBlock ask_source(std::size_t size_bytes);
  void put_back(const PinnedStorage& storage) noexcept;
  PinnedStorage take_idle(std::size_t size_bytes) noexcept;
  void forget_empty(std::size_t size_bytes) noexcept;
  void shrink_to(std::size_t bound_bytes) noexcept;
  PinnedStorage take_oldest_above(std::size_t bound_bytes) noexcept;

  const std::unique_ptr<PinnedSource> source_;
  const std::size_t idle_bound_bytes_;
  mutable std::mutex mutex_;
  std::map<std::size_t, std::deque<Idle>> idle_;  // by size, the oldest first; no empty deques
  std::uint64_t next_age_ = 0;
  std::size_t idle_bytes_ = 0;
  std::uint64_t allocations_ = 0;
};

/// The process's cache for CUDA: cudaHostAlloc (portable) where a device is usable, else, or
/// where the driver can't, plain aligned memory. 256 MiB may lie idle. Never destroyed, since
/// memory outlives elements and plugins.
PinnedCache& pinned_cache();

/// The process's cache for the host device, which is to run where CUDA is broken: plain aligned
/// memory, and CUDA is never asked. Bound and life as above.
PinnedCache& plain_cache();

}  // namespace stripe
