// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/pinned.h"

#include <algorithm>
#include <new>
#include <utility>

#include "cuda/cuda_device.h"
#include "cuda/error.h"

namespace stripe {

PinnedBlock::PinnedBlock(PinnedBlock&& other) noexcept
    : cache_(std::exchange(other.cache_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

PinnedBlock& PinnedBlock::operator=(PinnedBlock&& other) noexcept {
  std::swap(cache_, other.cache_);
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

PinnedBlock::~PinnedBlock() {
  if (data_) cache_->put_back(data_, size_bytes_);
}

PinnedCache::PinnedCache(std::unique_ptr<PinnedSource> source, std::size_t idle_bound_bytes)
    : source_(std::move(source)), idle_bound_bytes_(idle_bound_bytes) {}

PinnedCache::~PinnedCache() { trim(); }

PinnedBlock PinnedCache::acquire(std::size_t size_bytes) {
  if (size_bytes > SIZE_MAX - page_bytes)
    throw DeviceError(DeviceErrorKind::out_of_pinned_memory,
                      "a block larger than the address space");
  const std::size_t pages = (std::max<std::size_t>(size_bytes, 1) + page_bytes - 1) / page_bytes;
  const std::size_t rounded_bytes = pages * page_bytes;
  if (std::byte* data = take_idle(rounded_bytes)) return {this, data, rounded_bytes};
  try {
    return ask_source(rounded_bytes);
  } catch (const DeviceError& error) {
    if (error.kind() != DeviceErrorKind::out_of_pinned_memory || idle_bytes() == 0) throw;
  }
  // Blocks of other sizes may be what stands in the way.
  trim();
  return ask_source(rounded_bytes);
}

PinnedBlock PinnedCache::ask_source(std::size_t size_bytes) {
  {
    const std::lock_guard lock(mutex_);
    ++allocations_;
  }
  return {this, source_->allocate(size_bytes), size_bytes};
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

std::byte* PinnedCache::take_idle(std::size_t size_bytes) noexcept {
  const std::lock_guard lock(mutex_);
  const auto same_size = idle_.find(size_bytes);
  if (same_size == idle_.end()) return nullptr;
  // The newest: its pages are the likeliest to be in a cache of the CPU.
  std::byte* data = same_size->second.back().data;
  same_size->second.pop_back();
  if (same_size->second.empty()) idle_.erase(same_size);
  idle_bytes_ -= size_bytes;
  return data;
}

void PinnedCache::put_back(std::byte* data, std::size_t size_bytes) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    idle_[size_bytes].push_back({next_age_++, data});
    idle_bytes_ += size_bytes;
  } catch (const std::bad_alloc&) {  // no memory to remember it with
    source_->release(data, size_bytes);
    return;
  }
  shrink_to(idle_bound_bytes_);
}

void PinnedCache::shrink_to(std::size_t bound_bytes) noexcept {
  std::size_t size_bytes = 0;
  while (std::byte* data = take_oldest_above(bound_bytes, size_bytes))
    source_->release(data, size_bytes);
}

std::byte* PinnedCache::take_oldest_above(std::size_t bound_bytes,
                                          std::size_t& size_bytes) noexcept {
  const std::lock_guard lock(mutex_);
  if (idle_bytes_ <= bound_bytes || idle_.empty()) return nullptr;
  const auto oldest = std::min_element(idle_.begin(), idle_.end(), [](auto& a, auto& b) {
    return a.second.front().age < b.second.front().age;
  });
  std::byte* data = oldest->second.front().data;
  size_bytes = oldest->first;
  oldest->second.pop_front();
  if (oldest->second.empty()) idle_.erase(oldest);
  idle_bytes_ -= size_bytes;
  return data;
}

PinnedCache& pinned_cache() {
  constexpr std::size_t idle_bound_bytes = std::size_t{256} << 20;
  static auto* const cache = new PinnedCache(make_process_pinned_source(), idle_bound_bytes);
  return *cache;
}

}  // namespace stripe
