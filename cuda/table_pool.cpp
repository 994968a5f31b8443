// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/table_pool.h"

#include <algorithm>

namespace stripe {

// A list of one block, so that giving it back allocates nothing.
class TablePool::Copy final : public DeviceMemory {
 public:
  Copy(std::shared_ptr<TablePool> pool, Blocks block) noexcept
      : pool_(std::move(pool)), block_(std::move(block)) {}
  Copy(const Copy&) = delete;
  ~Copy() override { pool_->give_back(block_); }

  std::byte* data() const noexcept override { return block_.front().memory->data(); }
  const TablePool* pool() const noexcept { return pool_.get(); }

 private:
  const std::shared_ptr<TablePool> pool_;
  Blocks block_;
};

std::shared_ptr<const DeviceMemory> TablePool::copy(const void* data, std::size_t size_bytes) {
  const auto copy = std::make_shared<const Copy>(shared_from_this(), take(size_bytes));
  const auto row_bytes = static_cast<std::ptrdiff_t>(size_bytes);
  const std::lock_guard lock(copy_mutex_);
  queue_->copy({copy->data(), row_bytes, static_cast<const std::byte*>(data), row_bytes, size_bytes,
                1, CopyDirection::upload});
  queue_->synchronize();
  return copy;
}

bool TablePool::owns(const DeviceMemory* memory) const noexcept {
  const auto* copy = dynamic_cast<const Copy*>(memory);
  return copy && copy->pool() == this;
}

TablePool::Blocks TablePool::take(std::size_t size_bytes) {
  Blocks taken, surplus;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(idle_.begin(), idle_.end(), [&](const Block& block) {
      return block.size_bytes == size_bytes;
    });
    if (found != idle_.end()) taken.splice(taken.end(), idle_, found);
    std::size_t kept_bytes = 0;
    for (auto block = idle_.begin(); block != idle_.end();) {
      const auto next = std::next(block);
      kept_bytes += block->size_bytes;
      if (kept_bytes > most_idle_bytes) surplus.splice(surplus.end(), idle_, block);
      block = next;
    }
  }
  if (taken.empty()) taken.push_back({allocate_(size_bytes), size_bytes});
  return taken;
}

void TablePool::give_back(Blocks& block) noexcept {
  const std::lock_guard lock(mutex_);
  idle_.splice(idle_.begin(), block);
}

}  // namespace stripe
