// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/page_lock.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace stripe {

namespace {

// One for the process, never destroyed: memory is freed as late as at exit.
struct Registry {
  std::mutex mutex;                 // a leaf; guards all lanes and the budgets' lists
  std::condition_variable settled;  // a lane is no longer changing
};

Registry& registry() {
  static auto* const all = new Registry;
  return *all;
}

std::uint64_t next_budget_id() {
  static std::atomic<std::uint64_t> next{1};
  return next++;
}

// Elements that one memory is remembered for, as a `tee` hands it to several.
constexpr std::size_t max_witnesses = 16;

constexpr std::uint64_t uses_before_eviction = 64;

}  // namespace

// What is known of a range for one kind of device. Guarded by the registry's mutex, but while
// `changing`, when `lock` belongs to the thread that changes it.
class LockLane {
 public:
  LockLane(const std::byte* base_address, std::size_t size, bool is_read_only)
      : base(base_address), size_bytes(size), read_only(is_read_only) {}
  LockLane(const LockLane&) = delete;
  ~LockLane();

  LockAnswer use(Device& device, const std::shared_ptr<LockBudget>& budget, LockWhen when);
  void put_back() noexcept;

  // Takes the registration out, for the caller to destroy without the mutex.
  std::unique_ptr<PageLock> take() noexcept;

  const std::byte* const base;
  const std::size_t size_bytes;
  const bool read_only;
  std::unique_ptr<PageLock> lock;
  std::shared_ptr<LockBudget> payer;  // where `lock` is
  std::list<LockLane*>::iterator place;
  std::vector<std::uint64_t> seen_by;
  std::uint64_t last_use = 0;  // in uses of the payer
  int uses = 0;
  bool changing = false;
  bool locked_by_others = false;
  bool refused = false;

 private:
  struct Attempt {
    LockAnswer answer;
    std::unique_ptr<PageLock> lock;
    std::list<LockLane*> place;  // this lane alone
  };

  bool is_second_sight(const LockBudget& budget);
  Attempt try_register(Device& device, LockBudget& budget);
  LockAnswer settle(Device& device, const std::shared_ptr<LockBudget>& budget, LockWhen when,
                    std::unique_lock<std::mutex>& guard);
  LockAnswer register_now(Device& device, const std::shared_ptr<LockBudget>& budget,
                          std::unique_lock<std::mutex>& guard);
  void keep(Attempt& attempt, const std::shared_ptr<LockBudget>& budget) noexcept;
};

LockLane::~LockLane() {
  std::unique_ptr<PageLock> gone;
  std::shared_ptr<LockBudget> refunded;
  {
    std::unique_lock guard(registry().mutex);
    registry().settled.wait(guard, [this] { return !changing; });
    refunded = payer;
    gone = take();
  }
  if (!gone) return;
  gone.reset();
  refunded->refund(size_bytes);
}

std::unique_ptr<PageLock> LockLane::take() noexcept {
  if (!lock) return nullptr;
  payer->registered_.erase(place);
  payer.reset();
  return std::move(lock);
}

void LockLane::put_back() noexcept {
  const std::lock_guard guard(registry().mutex);
  --uses;
}

bool LockLane::is_second_sight(const LockBudget& budget) {
  if (std::find(seen_by.begin(), seen_by.end(), budget.id_) != seen_by.end()) return true;
  if (seen_by.size() == max_witnesses) seen_by.erase(seen_by.begin());
  seen_by.push_back(budget.id_);
  return false;
}

LockAnswer LockLane::use(Device& device, const std::shared_ptr<LockBudget>& budget, LockWhen when) {
  std::unique_lock guard(registry().mutex);
  if (changing) return {LockState::busy, {}, {}};
  if (lock) {
    ++uses;
    last_use = ++payer->uses_;
    payer->registered_.splice(payer->registered_.end(), payer->registered_, place);
    return {LockState::locked, {}, {}};
  }
  if (locked_by_others) {
    ++uses;
    return {LockState::locked, {}, {}};
  }
  if (refused) return {LockState::refused, {}, {}};
  return settle(device, budget, when, guard);
}

LockAnswer LockLane::settle(Device& device, const std::shared_ptr<LockBudget>& budget,
                            LockWhen when, std::unique_lock<std::mutex>& guard) {
  const bool first = seen_by.empty();
  const bool second_sight = is_second_sight(*budget);
  if (first) {
    // Asked once a memory: the driver's answer would cost every frame.
    changing = true;
    guard.unlock();
    const bool others = device.is_page_locked(base, size_bytes);
    guard.lock();
    changing = false;
    registry().settled.notify_all();
    if (others) {
      locked_by_others = true;
      ++uses;
      return {LockState::locked, {}, {}};
    }
  }
  if (when == LockWhen::second_sight && !second_sight) return {LockState::unseen, {}, {}};
  return register_now(device, budget, guard);
}

// Without the mutex: makes what keep() then only has to link in.
LockLane::Attempt LockLane::try_register(Device& device, LockBudget& budget) {
  Attempt attempt;
  if (!budget.charge(size_bytes)) {
    attempt.answer.state = LockState::over_bound;
    return attempt;
  }
  try {
    attempt.place.push_back(this);
    attempt.lock = device.page_lock(base, size_bytes, read_only);
    attempt.answer.state = LockState::locked;
  } catch (const std::exception& error) {
    budget.refund(size_bytes);
    attempt.answer.reason = error.what();
  }
  return attempt;
}

LockAnswer LockLane::register_now(Device& device, const std::shared_ptr<LockBudget>& budget,
                                  std::unique_lock<std::mutex>& guard) {
  changing = true;
  guard.unlock();
  Attempt attempt = try_register(device, *budget);
  guard.lock();
  changing = false;
  registry().settled.notify_all();
  // A frame that finds no room makes the others older, too, or none would ever go for it.
  if (attempt.answer.state == LockState::over_bound) ++budget->uses_;
  if (attempt.answer.state == LockState::locked) keep(attempt, budget);
  if (attempt.answer.state == LockState::refused) {
    refused = true;
    ++budget->refusals_;
  }
  return std::move(attempt.answer);
}

void LockLane::keep(Attempt& attempt, const std::shared_ptr<LockBudget>& budget) noexcept {
  place = attempt.place.begin();  // which splice keeps
  budget->registered_.splice(budget->registered_.end(), attempt.place);
  lock = std::move(attempt.lock);
  payer = budget;
  last_use = ++budget->uses_;
  ++budget->registrations_;
  ++uses;
}

LockBudget::LockBudget(std::uint64_t bound_bytes)
    : bound_bytes_(bound_bytes), id_(next_budget_id()) {}

LockBudget::~LockBudget() = default;

bool LockBudget::try_add(std::uint64_t size_bytes) noexcept {
  std::uint64_t used = used_bytes_;
  do {
    if (bound_bytes_ != 0 && (size_bytes > bound_bytes_ || used > bound_bytes_ - size_bytes))
      return false;
  } while (!used_bytes_.compare_exchange_weak(used, used + size_bytes));
  std::uint64_t peak = peak_bytes_;
  while (peak < used + size_bytes && !peak_bytes_.compare_exchange_weak(peak, used + size_bytes)) {
  }
  return true;
}

// Under the registry's mutex.
bool LockBudget::is_idle(const LockLane& lane) const noexcept {
  return lane.uses == 0 && lane.last_use + uses_before_eviction <= uses_;
}

// Takes the least recently used idle range, if letting all of them go would make enough room; its lane
// can't go before it is settled.
LockLane* LockBudget::take_idle(std::uint64_t size_bytes, std::unique_ptr<PageLock>& lock) {
  const std::lock_guard guard(registry().mutex);
  LockLane* oldest = nullptr;
  std::uint64_t idle_bytes = 0;
  for (LockLane* lane : registered_) {
    if (!is_idle(*lane)) continue;
    if (!oldest) oldest = lane;
    idle_bytes += lane->size_bytes;
  }
  if (!oldest || used_bytes_ - std::min(idle_bytes, used_bytes_.load()) > bound_bytes_ - size_bytes)
    return nullptr;
  oldest->changing = true;
  lock = oldest->take();
  return oldest;
}

bool LockBudget::charge(std::uint64_t size_bytes) {
  if (bound_bytes_ != 0 && size_bytes > bound_bytes_) return false;
  while (!try_add(size_bytes)) {
    std::unique_ptr<PageLock> gone;
    LockLane* lane = take_idle(size_bytes, gone);
    if (!lane) return false;
    gone.reset();
    refund(lane->size_bytes);
    ++evictions_;
    const std::lock_guard guard(registry().mutex);
    lane->changing = false;
    registry().settled.notify_all();
  }
  return true;
}

void LockBudget::refund(std::uint64_t size_bytes) noexcept { used_bytes_ -= size_bytes; }

LockUse::LockUse(LockUse&& other) noexcept : lane_(std::exchange(other.lane_, nullptr)) {}

LockUse& LockUse::operator=(LockUse&& other) noexcept {
  std::swap(lane_, other.lane_);
  return *this;
}

LockUse::~LockUse() {
  if (lane_) lane_->put_back();
}

HostRange::HostRange(const std::byte* base, std::size_t size_bytes, bool read_only) {
  for (auto& lane : lanes_) lane = std::make_unique<LockLane>(base, size_bytes, read_only);
}

HostRange::~HostRange() = default;

LockLane& HostRange::lane_of(const Device& device) const noexcept {
  return *lanes_[device.needs_page_lock() ? 1 : 0];
}

LockAnswer HostRange::use(Device& device, const std::shared_ptr<LockBudget>& budget,
                          LockWhen when) {
  LockLane& lane = lane_of(device);
  LockAnswer answer = lane.use(device, budget, when);
  if (answer.state == LockState::locked) answer.use = LockUse(&lane);
  return answer;
}

bool HostRange::refuse(Device& device, LockBudget& budget) {
  LockLane& lane = lane_of(device);
  const std::lock_guard guard(registry().mutex);
  if (std::exchange(lane.refused, true)) return false;
  ++budget.refusals_;
  return true;
}

}  // namespace stripe
