// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/host_device.h"

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <type_traits>
#include <variant>
#include <vector>

#include "cuda/host_kernels.h"

namespace stripe {

namespace {

constexpr std::size_t memory_alignment = 256;

class HostMemory final : public DeviceMemory {
 public:
  explicit HostMemory(std::size_t size_bytes)
      : data_(static_cast<std::byte*>(
            ::operator new (size_bytes, std::align_val_t{memory_alignment}, std::nothrow))) {
    if (!data_)
      throw DeviceError(
          DeviceErrorKind::out_of_device_memory,
          "no memory for " + std::to_string(size_bytes) + " bytes on the host device");
  }
  HostMemory(const HostMemory&) = delete;
  ~HostMemory() override { ::operator delete (data_, std::align_val_t{memory_alignment}); }

  std::byte* data() const noexcept override { return data_; }

 private:
  std::byte* const data_;
};

// What an event and the marks that are queued for it share: either may go first.
class Marks {
 public:
  std::uint64_t add() {
    const std::lock_guard lock(mutex_);
    return ++recorded_;
  }

  void pass(std::uint64_t mark) {
    {
      const std::lock_guard lock(mutex_);
      if (passed_ < mark) passed_ = mark;
    }
    changed_.notify_all();
  }

  void wait() {
    std::unique_lock lock(mutex_);
    const std::uint64_t mark = recorded_;
    changed_.wait(lock, [&] { return passed_ >= mark; });
  }

 private:
  std::mutex mutex_;  // a leaf
  std::condition_variable changed_;
  std::uint64_t recorded_ = 0;
  std::uint64_t passed_ = 0;
};

class HostEvent final : public Event {
 public:
  Waited wait(const WaitPlan&) override {
    marks_->wait();
    return {};
  }
  const std::shared_ptr<Marks>& marks() const noexcept { return marks_; }

 private:
  const std::shared_ptr<Marks> marks_ = std::make_shared<Marks>();
};

class HostStamp final : public Stamp {
 public:
  const std::shared_ptr<std::atomic<Time>>& time() const noexcept { return time_; }

 private:
  const std::shared_ptr<std::atomic<Time>> time_ = std::make_shared<std::atomic<Time>>(0);
};

// The queues' threads read the host's own clock.
class HostClock final : public DeviceClock {
 public:
  void anchor() override {}
  Time time_of(const Stamp& stamp) override {
    return static_cast<const HostStamp&>(stamp).time()->load(std::memory_order_acquire);
  }
  void adjust(Time) noexcept override {}  // there is nothing to be known better
};

struct Launch {
  Operation operation;
  KernelJob job;
};

struct Mark {
  std::shared_ptr<Marks> marks;
  std::uint64_t number;
};

struct TakeTime {
  std::shared_ptr<std::atomic<Time>> time;
};

using Command = std::variant<CopyJob, Launch, Mark, TakeTime>;

void run(const CopyJob& job) { copy_rows_on_host(job); }
void run(const Launch& launch) { run_on_host(launch.operation, launch.job); }
void run(const Mark& mark) { mark.marks->pass(mark.number); }
void run(const TakeTime& take) { take.time->store(now(), std::memory_order_release); }

class HostQueue final : public Queue {
 public:
  HostQueue() try : worker_([this] { work(); }) {
  } catch (const std::system_error& error) {
    throw DeviceError(DeviceErrorKind::failed,
                      std::string("no thread for a queue of the host device: ") + error.what());
  }

  ~HostQueue() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    more_.notify_one();
    worker_.join();
  }

  void copy(const CopyJob& job) override { push(job); }

  void launch(const Operation& operation, const KernelJob& job) override {
    push(Launch{operation, job});
  }

  void record(Event& event) override {
    const std::shared_ptr<Marks>& marks = static_cast<HostEvent&>(event).marks();
    const std::uint64_t number = marks->add();
    try {
      push(Mark{marks, number});
    } catch (...) {
      marks->pass(number);  // or who waits for the event waits for ever
      throw;
    }
  }

  void stamp(Stamp& stamp) override { push(TakeTime{static_cast<HostStamp&>(stamp).time()}); }

  void synchronize() override {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return commands_.empty() && !busy_; });
  }

 private:
  void push(Command command) {
    {
      const std::lock_guard lock(mutex_);
      commands_.push_back(std::move(command));
    }
    more_.notify_one();
  }

  // Takes all that is queued at once. Both vectors keep their memory, so that frames in the steady
  // state allocate nothing here.
  void work() {
    pthread_setname_np(pthread_self(), "stripe-queue");
    std::vector<Command> taken;
    std::unique_lock lock(mutex_);
    for (;;) {
      more_.wait(lock, [this] { return stopping_ || !commands_.empty(); });
      if (commands_.empty()) return;  // only then: what is queued is done first
      taken.swap(commands_);
      busy_ = true;
      lock.unlock();
      for (const Command& command : taken) std::visit([](const auto& c) { run(c); }, command);
      taken.clear();
      lock.lock();
      busy_ = false;
      if (commands_.empty()) idle_.notify_all();
    }
  }

  std::mutex mutex_;              // guards all below; a leaf
  std::condition_variable more_;  // the worker's
  std::condition_variable idle_;
  std::vector<Command> commands_;
  bool busy_ = false;
  bool stopping_ = false;
  std::thread worker_;  // last: it uses the others
};

class HostPageLock final : public PageLock {};

class HostDevice final : public Device {
 public:
  const DeviceInfo& info() const noexcept override { return info_; }

  std::unique_ptr<DeviceMemory> allocate(std::size_t size_bytes) override {
    return std::make_unique<HostMemory>(size_bytes);
  }
  std::unique_ptr<Queue> create_queue() override { return std::make_unique<HostQueue>(); }
  std::unique_ptr<Event> create_event() override { return std::make_unique<HostEvent>(); }
  std::unique_ptr<Stamp> create_stamp() override { return std::make_unique<HostStamp>(); }
  std::unique_ptr<DeviceClock> create_clock() override { return std::make_unique<HostClock>(); }
  PinnedCache& pinned() noexcept override { return plain_cache(); }
  bool needs_page_lock() const noexcept override { return false; }
  bool is_page_locked(const std::byte*, std::size_t) const noexcept override { return false; }

  std::unique_ptr<PageLock> page_lock(const std::byte*, std::size_t size_bytes, bool) override {
    if (size_bytes == 0) throw DeviceError(DeviceErrorKind::refused, "memory of no bytes");
    return std::make_unique<HostPageLock>();
  }
  std::byte* mapped_address(const std::byte* host) const noexcept override {
    return const_cast<std::byte*>(host);
  }
  void prepare(Operation&) override {}

 private:
  const DeviceInfo info_{"host", "CPU", true, 0};
};

}  // namespace

std::shared_ptr<Device> open_host_device() { return std::make_shared<HostDevice>(); }

}  // namespace stripe
