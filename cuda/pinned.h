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

/// Where page-locked memory comes from.
///
/// Thread: any.
class PinnedSource {
 public:
  virtual ~PinnedSource() = default;

  /// Takes `size_bytes` bytes of page-locked memory, aligned to a page.
  /// Errors: throws DeviceError, out_of_pinned_memory.
  virtual std::byte* allocate(std::size_t size_bytes) = 0;

  /// Gives it back. Memory that the driver refuses to free stays allocated.
  virtual void release(std::byte* data, std::size_t size_bytes) noexcept = 0;
};

/// One block of page-locked memory; goes back to its cache when destroyed.
///
/// Owner:  moves, never copies. May outlive everything but its cache.
/// Thread: any, one at a time.
class PinnedBlock {
 public:
  PinnedBlock() = default;
  PinnedBlock(PinnedBlock&& other) noexcept;
  PinnedBlock& operator=(PinnedBlock&& other) noexcept;
  ~PinnedBlock();

  std::byte* data() const noexcept { return data_; }
  std::size_t size_bytes() const noexcept { return size_bytes_; }
  explicit operator bool() const noexcept { return data_ != nullptr; }

 private:
  friend class PinnedCache;
  PinnedBlock(PinnedCache* cache, std::byte* data, std::size_t size_bytes) noexcept
      : cache_(cache), data_(data), size_bytes_(size_bytes) {}

  PinnedCache* cache_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t size_bytes_ = 0;
};

/// Page-locked blocks that nobody uses right now, kept by size: page-locking costs more than a
/// frame's copy, and buffer pools give memory back and ask for the same size again all the time.
///
/// Units:  sizes are rounded up to whole pages.
/// Thread: any. Its mutex is a leaf: nothing is called under it, not even the source.
class PinnedCache {
 public:
  static constexpr std::size_t page_bytes = 4096;

  /// `idle_bound_bytes`: what may lie idle; the least recently used blocks go first.
  PinnedCache(std::unique_ptr<PinnedSource> source, std::size_t idle_bound_bytes);
  PinnedCache(const PinnedCache&) = delete;
  ~PinnedCache();

  /// A block of at least `size_bytes`, contents undefined.
  /// Errors: throws DeviceError, out_of_pinned_memory, after every idle block was let go in vain.
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
    std::byte* data;
  };

  PinnedBlock ask_source(std::size_t size_bytes);
  void put_back(std::byte* data, std::size_t size_bytes) noexcept;
  std::byte* take_idle(std::size_t size_bytes) noexcept;
  void shrink_to(std::size_t bound_bytes) noexcept;
  std::byte* take_oldest_above(std::size_t bound_bytes, std::size_t& size_bytes) noexcept;

  const std::unique_ptr<PinnedSource> source_;
  const std::size_t idle_bound_bytes_;
  mutable std::mutex mutex_;
  std::map<std::size_t, std::deque<Idle>> idle_;  // by size, the oldest first; no empty deques
  std::uint64_t next_age_ = 0;
  std::size_t idle_bytes_ = 0;
  std::uint64_t allocations_ = 0;
};

/// The process's cache: cudaHostAlloc (portable) when a CUDA device is usable, else plain aligned
/// memory. 256 MiB may lie idle. Never destroyed, since memory outlives elements and plugins.
PinnedCache& pinned_cache();

}  // namespace stripe
