// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cuda/device.h"
#include "support/random.h"

namespace test {

/// What was page-locked by a device that only keeps books of it. Outlives the device.
///
/// Thread: any.
class LockBooks {
 public:
  /// How often memory was to be page-locked.
  int asked() const { return asked_; }

  /// How often the device was asked whether memory is page-locked.
  int asked_about() const { return asked_about_; }

  int live() const;
  bool is_locked(const std::byte* base) const;
  bool is_read_only(const std::byte* base) const;

  /// Which memory was let go, the first one first.
  std::vector<const std::byte*> let_go() const;

  /// A frame uses the memory, or no longer: it must be page-locked meanwhile.
  void begin_use(const std::byte* base);
  void end_use(const std::byte* base);

  /// Whether memory was locked twice, let go while a frame used it, or used while it was not
  /// locked.
  bool mistaken() const { return mistaken_; }

 private:
  friend class BookedDevice;
  friend class BookedLock;
  struct Entry {
    std::size_t size_bytes;
    bool read_only;
    int users;
  };

  mutable std::mutex mutex_;  // guards the maps
  std::map<const std::byte*, Entry> locked_;
  std::vector<const std::byte*> let_go_;
  std::atomic<int> asked_{0};
  std::atomic<int> asked_about_{0};
  std::atomic<bool> mistaken_{false};
};

/// A device that locks no page and does nothing else either. It never looks at the memory, so any
/// address will do. Each of its calls, and the end of each of its locks, takes the mutex of all
/// ranges: under that mutex it would never return.
///
/// Thread: any; the plan (first block) is set while nobody uses it.
class BookedDevice final : public stripe::Device {
 public:
  std::optional<stripe::DeviceErrorKind> refusal;  ///< it locks nothing and throws this
  int refuses_one_in = 0;                          ///< so often at random, as `refused`; 0: never
  bool all_locked_by_others = false;
  int most_delay_us = 0;  ///< locking and letting go take at random up to this long

  explicit BookedDevice(bool needs_page_lock) : needs_page_lock_(needs_page_lock) {}

  /// The message of its errors.
  static constexpr const char* complaint = "not in my books";

  const std::shared_ptr<LockBooks>& books() const { return books_; }

  const stripe::DeviceInfo& info() const noexcept override { return info_; }
  std::unique_ptr<stripe::DeviceMemory> allocate(std::size_t) override;
  std::unique_ptr<stripe::Queue> create_queue() override;
  std::unique_ptr<stripe::Event> create_event() override;
  std::unique_ptr<stripe::Stamp> create_stamp() override;
  std::unique_ptr<stripe::DeviceClock> create_clock() override;
  stripe::PinnedCache& pinned() noexcept override { return stripe::plain_cache(); }
  bool needs_page_lock() const noexcept override { return needs_page_lock_; }
  bool is_page_locked(const std::byte* data, std::size_t size_bytes) const noexcept override;
  std::unique_ptr<stripe::PageLock> page_lock(const std::byte* data, std::size_t size_bytes,
                                              bool read_only) override;
  std::byte* mapped_address(const std::byte*) const noexcept override { return nullptr; }
  void prepare(stripe::Operation&) override {}

 private:
  const bool needs_page_lock_;
  const stripe::DeviceInfo info_{"booked", "books"};
  const std::shared_ptr<LockBooks> books_ = std::make_shared<LockBooks>();
  std::mutex mutex_;  // guards random_
  Random random_{0xb00c};
};

}  // namespace test
