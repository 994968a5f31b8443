// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/decorated_device.h"

#include <chrono>
#include <cstring>
#include <iterator>
#include <string>
#include <thread>

namespace test {

using stripe::DeviceErrorKind;

void Script::disarm() {
  fail_at = most_delay_us = work_delay_kib = synchronize_delay_us = 0;
  unmapped_one_in = 0;
  fail_ever_after = fail_this_kind = false;
  calls_ = 0;
}

std::vector<Launched> Script::launched() const {
  const std::lock_guard lock(mutex_);
  return launched_;
}

void Script::call(Call kind) {
  ++counts_[static_cast<int>(kind)];
  if (most_delay_us > 0)
    std::this_thread::sleep_for(std::chrono::microseconds(random_up_to(most_delay_us)));
  if (!is_to_fail(kind)) return;
  fired_ = true;
  throw stripe::DeviceError(error_kind_of(kind), injected_error);
}

bool Script::is_to_fail(Call kind) {
  if (fail_at == 0 || (fail_this_kind && kind != fail_kind)) return false;
  const int n = ++calls_;
  return n == fail_at || (fail_ever_after && n > fail_at);
}

bool Script::is_unmapped() {
  const int one_in = unmapped_one_in;
  return one_in > 0 && random_up_to(one_in - 1) == 0;
}

int Script::random_up_to(int most) {
  const std::lock_guard lock(mutex_);
  return random_.between(0, most);
}

void Script::log_launch(int queue, const stripe::KernelJob& job) {
  const std::lock_guard lock(mutex_);
  launched_.push_back({queue, job.area, job.over_link});
  for (int p = 0; p < job.layout.plane_count; ++p)
    if (!gave(job.input.planes[p].data) || !gave(job.output.planes[p].data)) ++strangers_;
}

void Script::note_mapped(const std::byte* address) {
  const std::lock_guard lock(mutex_);
  mapped_.insert(address);
}

void Script::note_memory(const std::byte* begin, std::size_t size_bytes) {
  const std::lock_guard lock(mutex_);
  memories_[begin] = size_bytes;
}

bool Script::gave(const std::byte* address) const {
  if (mapped_.contains(address)) return true;
  const auto next = memories_.upper_bound(address);
  if (next == memories_.begin()) return false;
  const auto& [begin, size_bytes] = *std::prev(next);
  return address < begin + size_bytes;
}

DeviceErrorKind error_kind_of(Call kind) {
  if (kind == Call::allocate) return DeviceErrorKind::out_of_device_memory;
  if (kind == Call::allocate_pinned) return DeviceErrorKind::out_of_pinned_memory;
  return DeviceErrorKind::failed;
}

/// Counts an object as long as it lives.
class Live {
 public:
  explicit Live(std::shared_ptr<Script> script) : script_(std::move(script)) { ++script_->live_; }
  Live(const Live&) = delete;
  ~Live() { --script_->live_; }

  Script& script() const { return *script_; }

 private:
  const std::shared_ptr<Script> script_;
};

class DecoratedMemory final : public stripe::DeviceMemory {
 public:
  DecoratedMemory(std::unique_ptr<stripe::DeviceMemory> inner, std::size_t size_bytes,
                  std::shared_ptr<Script> script)
      : live_(std::move(script)), inner_(std::move(inner)) {
    live_.script().note_memory(inner_->data(), size_bytes);
  }

  std::byte* data() const noexcept override { return inner_->data(); }

 private:
  Live live_;
  std::unique_ptr<stripe::DeviceMemory> inner_;
};

class DecoratedEvent final : public stripe::Event {
 public:
  DecoratedEvent(std::unique_ptr<stripe::Event> inner, std::shared_ptr<Script> script)
      : live_(std::move(script)), inner_(std::move(inner)) {}

  // A wait that fails did not wait: the work may go on.
  stripe::Waited wait(const stripe::WaitPlan& plan) override {
    live_.script().call(Call::wait);
    return inner_->wait(plan);
  }

  stripe::Event& inner() { return *inner_; }

 private:
  Live live_;
  std::unique_ptr<stripe::Event> inner_;
};

class DecoratedStamp final : public stripe::Stamp {
 public:
  DecoratedStamp(std::unique_ptr<stripe::Stamp> inner, std::shared_ptr<Script> script)
      : live_(std::move(script)), inner_(std::move(inner)) {}

  stripe::Stamp& inner() const { return *inner_; }

 private:
  Live live_;
  std::unique_ptr<stripe::Stamp> inner_;
};

class DecoratedClock final : public stripe::DeviceClock {
 public:
  DecoratedClock(std::unique_ptr<stripe::DeviceClock> inner, std::shared_ptr<Script> script)
      : live_(std::move(script)), inner_(std::move(inner)) {}

  void anchor() override {
    live_.script().call(Call::anchor);
    inner_->anchor();
  }

  stripe::Time time_of(const stripe::Stamp& stamp) override {
    live_.script().call(Call::time_of);
    return inner_->time_of(static_cast<const DecoratedStamp&>(stamp).inner());
  }

  void adjust(stripe::Time by) noexcept override { inner_->adjust(by); }

 private:
  Live live_;
  std::unique_ptr<stripe::DeviceClock> inner_;
};

class DecoratedQueue final : public stripe::Queue {
 public:
  DecoratedQueue(stripe::Device& device, std::shared_ptr<Script> script)
      : live_(std::move(script)),
        number_(live_.script().next_queue_++),
        inner_(device.create_queue()) {
    const std::size_t size_bytes = std::size_t{1024} * live_.script().work_delay_kib;
    if (size_bytes == 0) return;
    vain_source_ = device.allocate_pinned(size_bytes);
    vain_target_ = device.allocate(size_bytes);
    std::memset(vain_source_.data(), 0, size_bytes);
  }

  void copy(const stripe::CopyJob& job) override {
    live_.script().call(Call::copy);
    work_in_vain();
    inner_->copy(job);
  }

  void launch(const stripe::Operation& operation, const stripe::KernelJob& job) override {
    live_.script().call(Call::launch);
    work_in_vain();
    inner_->launch(operation, job);
    live_.script().log_launch(number_, job);
  }

  void record(stripe::Event& event) override {
    live_.script().call(Call::record);
    inner_->record(static_cast<DecoratedEvent&>(event).inner());
  }

  void stamp(stripe::Stamp& stamp) override {
    live_.script().call(Call::stamp);
    inner_->stamp(static_cast<DecoratedStamp&>(stamp).inner());
  }

  // After a failure of a whole device nothing runs any more: so it is here too.
  void synchronize() override {
    inner_->synchronize();
    live_.script().call(Call::synchronize);
    std::this_thread::sleep_for(std::chrono::microseconds(live_.script().synchronize_delay_us));
  }

 private:
  // A kernel that sleeps would need a kernel of ours on each device; a copy takes time on all of
  // them.
  void work_in_vain() {
    if (!vain_target_ || live_.script().work_delay_kib == 0) return;
    const std::size_t size_bytes =
        std::size_t{1024} * live_.script().random_up_to(live_.script().work_delay_kib);
    if (size_bytes == 0) return;
    const auto pitch = static_cast<std::ptrdiff_t>(size_bytes);
    inner_->copy({vain_target_->data(), pitch, vain_source_.data(), pitch, size_bytes, 1,
                  stripe::CopyDirection::upload});
  }

  Live live_;
  const int number_;
  stripe::PinnedBlock vain_source_;
  std::unique_ptr<stripe::DeviceMemory> vain_target_;
  std::unique_ptr<stripe::Queue> inner_;  // last: finishes before the memory goes
};

class DecoratedDevice final : public stripe::Device {
 public:
  DecoratedDevice(std::shared_ptr<stripe::Device> inner, std::shared_ptr<Script> script)
      : inner_(std::move(inner)), script_(std::move(script)) {}

  const stripe::DeviceInfo& info() const noexcept override { return inner_->info(); }

  std::unique_ptr<stripe::DeviceMemory> allocate(std::size_t size_bytes) override {
    script_->call(Call::allocate);
    return std::make_unique<DecoratedMemory>(inner_->allocate(size_bytes), size_bytes, script_);
  }

  std::unique_ptr<stripe::Queue> create_queue() override {
    script_->call(Call::create_queue);
    return std::make_unique<DecoratedQueue>(*inner_, script_);
  }

  std::unique_ptr<stripe::Event> create_event() override {
    script_->call(Call::create_event);
    return std::make_unique<DecoratedEvent>(inner_->create_event(), script_);
  }

  std::unique_ptr<stripe::Stamp> create_stamp() override {
    script_->call(Call::create_stamp);
    return std::make_unique<DecoratedStamp>(inner_->create_stamp(), script_);
  }

  std::unique_ptr<stripe::DeviceClock> create_clock() override {
    script_->call(Call::create_clock);
    return std::make_unique<DecoratedClock>(inner_->create_clock(), script_);
  }

  stripe::PinnedBlock allocate_pinned(std::size_t size_bytes) override {
    script_->call(Call::allocate_pinned);
    return inner_->allocate_pinned(size_bytes);
  }

  stripe::PinnedCache& pinned() noexcept override { return inner_->pinned(); }
  bool needs_page_lock() const noexcept override { return inner_->needs_page_lock(); }
  std::unique_ptr<stripe::PageLock> page_lock(const std::byte* data, std::size_t size_bytes,
                                              bool read_only) override {
    script_->call(Call::page_lock);
    return inner_->page_lock(data, size_bytes, read_only);
  }
  bool is_page_locked(const std::byte* data, std::size_t size_bytes) const noexcept override {
    return inner_->is_page_locked(data, size_bytes);
  }

  std::byte* mapped_address(const std::byte* host) const noexcept override {
    if (script_->is_unmapped()) return nullptr;
    std::byte* const address = inner_->mapped_address(host);
    if (address) script_->note_mapped(address);
    return address;
  }

  void prepare(stripe::Operation& operation) override { inner_->prepare(operation); }

 private:
  const std::shared_ptr<stripe::Device> inner_;
  const std::shared_ptr<Script> script_;
};

std::shared_ptr<stripe::Device> decorate(std::shared_ptr<stripe::Device> inner,
                                         std::shared_ptr<Script> script) {
  return std::make_shared<DecoratedDevice>(std::move(inner), std::move(script));
}

}  // namespace test
