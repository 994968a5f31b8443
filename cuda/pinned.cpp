// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/pinned.h"

#include <algorithm>
#include <new>
#include <utility>

#include "cuda/cuda_device.h"
#include "cuda/error.h"
#include "cuda/plain_memory.h"

namespace stripe {

PinnedBlock::PinnedBlock(PinnedBlock&& other) noexcept
    : cache_(std::exchange(other.cache_, nullptr)), storage_(std::exchange(other.storage_, {})) {}

PinnedBlock& PinnedBlock::operator=(PinnedBlock&& other) noexcept {
  std::swap(cache_, other.cache_);
  std::swap(storage_, other.storage_);
  return *this;
}

PinnedBlock::~PinnedBlock() {
  if (storage_.data) cache_->put_back(storage_);
}

PinnedCache::PinnedCache(std::unique_ptr<PinnedSource> source, std::size_t idle_bound_bytes)
    : source_(std::move(source)), idle_bound_bytes_(idle_bound_bytes) {}

PinnedCache::~PinnedCache() { trim(); }

PinnedBlock PinnedCache::acquire(std::size_t size_bytes) {
  if (size_bytes > SIZE_MAX - page_bytes)
    throw DeviceError(DeviceErrorKind::out_of_pinned_memory,
                      "a block larger than the address space");
  const std::size_t block_bytes = rounded_bytes(size_bytes);
  if (const PinnedStorage idle = take_idle(block_bytes); idle.data) return {this, idle};
  try {
    return ask_source(block_bytes);
  } catch (const DeviceError& error) {
    if (error.kind() != DeviceErrorKind::out_of_pinned_memory || idle_bytes() == 0) throw;
  }
  // Blocks of other sizes may be what stands in the way.
  trim();
  return ask_source(block_bytes);
}

PinnedBlock PinnedCache::ask_source(std::size_t size_bytes) {
  {
    const std::lock_guard lock(mutex_);
    ++allocations_;
  }
  return {this, source_->allocate(size_bytes)};
}

void PinnedCache::trim() noexcept { shrink_to(0); }

std::size_t PinnedCache::idle_bytes() const noexcept {
  const std::lock_guard lock(mutex_);
  return idle_bytes_;
}

std::uint64_t PinnedCache::allocations() const noexcept {
  const std::lock_guard lock(mutex_);
  return allocations_;
}

PinnedStorage PinnedCache::take_idle(std::size_t size_bytes) noexcept {
  const std::lock_guard lock(mutex_);
  const auto same_size = idle_.find(size_bytes);
  if (same_size == idle_.end()) return {};
  // The newest: its pages are the likeliest to be in a cache of the CPU.
  const PinnedStorage storage = same_size->second.back().storage;
  same_size->second.pop_back();
  if (same_size->second.empty()) idle_.erase(same_size);
  idle_bytes_ -= size_bytes;
  return storage;
}

void PinnedCache::put_back(const PinnedStorage& storage) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    idle_[storage.size_bytes].push_back({next_age_++, storage});
    idle_bytes_ += storage.size_bytes;
  } catch (const std::bad_alloc&) {  // no memory to remember it with
    forget_empty(storage.size_bytes);
    source_->release(storage);
    return;
  }
  shrink_to(idle_bound_bytes_);
}

void PinnedCache::forget_empty(std::size_t size_bytes) noexcept {
  const std::lock_guard lock(mutex_);
  const auto same_size = idle_.find(size_bytes);
  if (same_size != idle_.end() && same_size->second.empty()) idle_.erase(same_size);
}

void PinnedCache::shrink_to(std::size_t bound_bytes) noexcept {
  for (;;) {
    const PinnedStorage storage = take_oldest_above(bound_bytes);
    if (!storage.data) return;
    source_->release(storage);
  }
}

PinnedStorage PinnedCache::take_oldest_above(std::size_t bound_bytes) noexcept {
  const std::lock_guard lock(mutex_);
  if (idle_bytes_ <= bound_bytes) return {};
  const auto oldest = std::min_element(idle_.begin(), idle_.end(), [](auto& a, auto& b) {
    return a.second.front().age < b.second.front().age;
  });
  if (oldest == idle_.end()) return {};
  const PinnedStorage storage = oldest->second.front().storage;
  idle_bytes_ -= oldest->first;
  oldest->second.pop_front();
  if (oldest->second.empty()) idle_.erase(oldest);
  return storage;
}

namespace {

constexpr std::size_t process_idle_bound_bytes = std::size_t{256} << 20;

}  // namespace

PinnedCache& pinned_cache() {
  static auto* const cache =
      new PinnedCache(make_process_pinned_source(), process_idle_bound_bytes);
  return *cache;
}

PinnedCache& plain_cache() {
  static auto* const cache =
      new PinnedCache(std::make_unique<PlainSource>(), process_idle_bound_bytes);
  return *cache;
}

}  // namespace stripe
