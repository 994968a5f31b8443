// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>

#include "cuda/device.h"

namespace stripe {

/// A device's copies of tables. Memory of one that nobody holds any more is taken for the next one
/// of its size: a device allocates nothing while a parameter is animated, and frees nothing where
/// the last frame of a table is waited for.
///
/// Owner:   shared by the device and the copies.
/// Thread:  any.
class TablePool : public std::enable_shared_from_this<TablePool> {
 public:
  using Allocate = std::function<std::unique_ptr<DeviceMemory>(std::size_t size_bytes)>;

  /// Most bytes of idle memory that copying something else leaves behind.
  static constexpr std::size_t most_idle_bytes = std::size_t{4} << 20;

  /// `queue` is for the pool's copies alone.
  TablePool(std::unique_ptr<Queue> queue, Allocate allocate)
      : queue_(std::move(queue)), allocate_(std::move(allocate)) {}

  /// Copies `size_bytes` bytes at `data` to the device, and waits until they are there.
  ///
  /// Owner:   whoever holds it, until the last frame that uses it was waited for.
  /// Errors:  throws DeviceError.
  std::shared_ptr<const DeviceMemory> copy(const void* data, std::size_t size_bytes);

  /// Whether `memory` is a copy of this pool's.
  bool owns(const DeviceMemory* memory) const noexcept;

 private:
  struct Block {
    std::unique_ptr<DeviceMemory> memory;
    std::size_t size_bytes;
  };
  using Blocks = std::list<Block>;
  class Copy;

  Blocks take(std::size_t size_bytes);
  void give_back(Blocks& block) noexcept;

  const std::unique_ptr<Queue> queue_;
  const Allocate allocate_;
  std::mutex copy_mutex_;  // taken before mutex_; the queue is one thread's at a time
  std::mutex mutex_;       // a leaf; guards idle_
  Blocks idle_;            // the last one given back is the first
};

}  // namespace stripe
