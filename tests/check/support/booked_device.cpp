// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/booked_device.h"

#include <chrono>
#include <thread>

#include "cuda/page_lock.h"

namespace test {

using stripe::DeviceError;
using stripe::DeviceErrorKind;

namespace {

/// Takes the mutex that all ranges share, and gives it back.
void visit_registry() { const stripe::HostRange range(nullptr, 1, false); }

void sleep_us(int us) {
  if (us > 0) std::this_thread::sleep_for(std::chrono::microseconds(us));
}

[[noreturn]] void refuse_work() {
  throw DeviceError(DeviceErrorKind::failed, "a device that keeps books does nothing else");
}

}  // namespace

int LockBooks::live() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(locked_.size());
}

bool LockBooks::is_locked(const std::byte* base) const {
  const std::lock_guard lock(mutex_);
  return locked_.count(base) == 1;
}

bool LockBooks::is_read_only(const std::byte* base) const {
  const std::lock_guard lock(mutex_);
  const auto entry = locked_.find(base);
  return entry != locked_.end() && entry->second.read_only;
}

std::vector<const std::byte*> LockBooks::let_go() const {
  const std::lock_guard lock(mutex_);
  return let_go_;
}

void LockBooks::begin_use(const std::byte* base) {
  const std::lock_guard lock(mutex_);
  const auto entry = locked_.find(base);
  if (entry == locked_.end())
    mistaken_ = true;
  else
    ++entry->second.users;
}

void LockBooks::end_use(const std::byte* base) {
  const std::lock_guard lock(mutex_);
  const auto entry = locked_.find(base);
  if (entry == locked_.end())
    mistaken_ = true;
  else
    --entry->second.users;
}

class BookedLock final : public stripe::PageLock {
 public:
  BookedLock(std::shared_ptr<LockBooks> books, const std::byte* base, std::size_t size_bytes,
             bool read_only, int delay_us)
      : books_(std::move(books)), base_(base), delay_us_(delay_us) {
    const std::lock_guard lock(books_->mutex_);
    if (!books_->locked_.insert({base, {size_bytes, read_only, 0}}).second)
      books_->mistaken_ = true;
  }
  BookedLock(const BookedLock&) = delete;

  ~BookedLock() override {
    visit_registry();
    sleep_us(delay_us_);
    const std::lock_guard lock(books_->mutex_);
    const auto entry = books_->locked_.find(base_);
    if (entry->second.users != 0) books_->mistaken_ = true;
    books_->locked_.erase(entry);
    books_->let_go_.push_back(base_);
  }

 private:
  const std::shared_ptr<LockBooks> books_;
  const std::byte* const base_;
  const int delay_us_;
};

std::unique_ptr<stripe::DeviceMemory> BookedDevice::allocate(std::size_t) { refuse_work(); }
std::unique_ptr<stripe::Queue> BookedDevice::create_queue() { refuse_work(); }
std::unique_ptr<stripe::Event> BookedDevice::create_event() { refuse_work(); }
std::unique_ptr<stripe::Stamp> BookedDevice::create_stamp() { refuse_work(); }
std::unique_ptr<stripe::DeviceClock> BookedDevice::create_clock() { refuse_work(); }

bool BookedDevice::is_page_locked(const std::byte*, std::size_t) const noexcept {
  visit_registry();
  ++books_->asked_about_;
  return all_locked_by_others;
}

std::unique_ptr<stripe::PageLock> BookedDevice::page_lock(const std::byte* data,
                                                          std::size_t size_bytes, bool read_only) {
  visit_registry();
  ++books_->asked_;
  int delay_us = 0;
  bool refuses = false;
  {
    const std::lock_guard lock(mutex_);
    if (most_delay_us > 0) delay_us = random_.between(0, most_delay_us);
    refuses = refuses_one_in > 0 && random_.one_in(refuses_one_in);
  }
  sleep_us(delay_us);
  if (refusal) throw DeviceError(*refusal, complaint);
  if (refuses) throw DeviceError(DeviceErrorKind::refused, complaint);
  return std::make_unique<BookedLock>(books_, data, size_bytes, read_only, delay_us);
}

}  // namespace test
