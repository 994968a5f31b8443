// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/page_lock.h"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

namespace stripe {

namespace {

// One for the process, never destroyed: memory is freed as late as at exit.
struct Registry {
  std::mutex mutex;                 // a leaf; guards all below, lanes and the budgets' lists
  std::condition_variable settled;  // a lane is no longer changing

  // The bytes that are registered for CUDA, or being registered or let go: begin to end. Asked
  // about memory of these bytes, the driver would say that it is page-locked, and it is not for long.
  std::map<const std::byte*, const std::byte*, std::less<>> occupied;
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

// Without the mutex: what the driver does takes its time. False where it refuses.
bool let_go(std::unique_ptr<PageLock> lock) noexcept { return lock->unlock(); }

constexpr std::uint32_t locked_bit = std::uint32_t{1} << 31;

}  // namespace

// What is known of a range for one kind of device.
//
// `word` is the locked bit and the count of uses: with the bit set, a use is taken without the mutex,
// and the bit goes only while there are none. The rest is under the registry's mutex, but while
// `changing`, when `lock` belongs to the thread that changes it.
class LockLane {
 public:
  LockLane(const std::byte* base_address, std::size_t size, bool is_read_only, bool is_for_cuda)
      : base(base_address), size_bytes(size), read_only(is_read_only), for_cuda(is_for_cuda) {}
  LockLane(const LockLane&) = delete;
  ~LockLane();

  LockAnswer use(Device& device, const std::shared_ptr<LockBudget>& budget, LockWhen when);
  bool try_use() noexcept;
  void put_back() noexcept { word.fetch_sub(1, std::memory_order_release); }

  // Takes the registration out, unless a frame uses it, for the caller to unlock without the mutex
  // and then to settle().
  std::unique_ptr<PageLock> take() noexcept;
  void settle(bool unlocked) noexcept;

  const std::byte* const base;
  const std::size_t size_bytes;
  const bool read_only;
  const bool for_cuda;
  std::atomic<std::uint32_t> word{0};
  std::atomic<std::uint64_t> last_use{0};  // in uses of the payer
  std::atomic<bool> locked_by_others{false};
  std::atomic<bool> refused{false};
  std::shared_ptr<LockBudget> payer;  // while the locked bit is set
  std::unique_ptr<PageLock> lock;
  std::list<LockLane*>::iterator place;
  std::vector<std::uint64_t> seen_by;
  bool changing = false;

 private:
  struct Attempt {
    LockAnswer answer;
    std::unique_ptr<PageLock> lock;
    std::list<LockLane*> place;  // this lane alone
  };

  bool is_second_sight(const LockBudget& budget);
  bool overlaps_registered() const;
  LockAnswer decide(Device& device, const std::shared_ptr<LockBudget>& budget, LockWhen when);
  Attempt try_register(Device& device, LockBudget& budget);
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
  settle(let_go(std::move(gone)));
  refunded->refund(size_bytes);
}

std::unique_ptr<PageLock> LockLane::take() noexcept {
  std::uint32_t unused = locked_bit;
  if (!word.compare_exchange_strong(unused, 0, std::memory_order_acquire)) return nullptr;
  payer->registered_.erase(place);
  payer.reset();
  changing = true;
  return std::move(lock);
}

// What the driver did not unlock stays occupied: memory that comes to lie there is staged.
void LockLane::settle(bool unlocked) noexcept {
  {
    const std::lock_guard guard(registry().mutex);
    changing = false;
    if (unlocked && for_cuda) registry().occupied.erase(base);
  }
  registry().settled.notify_all();
}

bool LockLane::try_use() noexcept {
  std::uint32_t seen = word.load(std::memory_order_relaxed);
  while (seen & locked_bit)
    if (word.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire)) {
      // The payer stays while there is a use.
      last_use.store(payer->uses_.fetch_add(1, std::memory_order_relaxed) + 1,
                     std::memory_order_relaxed);
      return true;
    }
  return false;
}

bool LockLane::is_second_sight(const LockBudget& budget) {
  if (std::find(seen_by.begin(), seen_by.end(), budget.id_) != seen_by.end()) return true;
  if (seen_by.size() == max_witnesses) seen_by.erase(seen_by.begin());
  seen_by.push_back(budget.id_);
  return false;
}

bool LockLane::overlaps_registered() const {
  if (!for_cuda) return false;
  const auto& occupied = registry().occupied;
  const auto behind = occupied.lower_bound(base + size_bytes);  // the first that begins behind us
  return behind != occupied.begin() && std::prev(behind)->second > base;
}

LockAnswer LockLane::use(Device& device, const std::shared_ptr<LockBudget>& budget, LockWhen when) {
  if (try_use()) return {LockState::locked, LockUse(this), {}};
  if (locked_by_others) return {LockState::locked, {}, {}};
  if (refused) return {LockState::refused, {}, {}};
  return decide(device, budget, when);
}

LockAnswer LockLane::decide(Device& device, const std::shared_ptr<LockBudget>& budget,
                            LockWhen when) {
  std::unique_lock guard(registry().mutex);
  if (try_use()) return {LockState::locked, LockUse(this), {}};  // made meanwhile
  if (changing || overlaps_registered()) return {LockState::busy, {}, {}};
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
    // Another range of these bytes may have been registered meanwhile, and be what the driver saw.
    if (overlaps_registered()) return {LockState::busy, {}, {}};
    locked_by_others = others;
    if (others) return {LockState::locked, {}, {}};
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
  if (for_cuda) registry().occupied.emplace(base, base + size_bytes);
  changing = true;
  guard.unlock();
  Attempt attempt = try_register(device, *budget);
  guard.lock();
  changing = false;
  registry().settled.notify_all();
  if (attempt.answer.state == LockState::locked) {
    keep(attempt, budget);
    attempt.answer.use = LockUse(this);
    return std::move(attempt.answer);
  }
  if (for_cuda) registry().occupied.erase(base);
  if (attempt.answer.state == LockState::refused) {
    refused = true;
    ++budget->refusals_;
  } else {
    // A frame that finds no room makes the others older, too, or none would ever go for it.
    ++budget->uses_;
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
  word.store(locked_bit | 1, std::memory_order_release);
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
bool LockBudget::is_old(const LockLane& lane) const noexcept {
  return lane.word == locked_bit && lane.last_use + uses_before_eviction <= uses_;
}

// Takes the least recently used range of the old ones, if letting all of them go would make enough
// room; its lane can't go before it is settled.
LockLane* LockBudget::take_old(std::uint64_t size_bytes, std::unique_ptr<PageLock>& lock) {
  const std::lock_guard guard(registry().mutex);
  LockLane* oldest = nullptr;
  std::uint64_t old_bytes = 0;
  for (LockLane* lane : registered_) {
    if (!is_old(*lane)) continue;
    if (!oldest || lane->last_use < oldest->last_use) oldest = lane;
    old_bytes += lane->size_bytes;
  }
  if (!oldest || used_bytes_ - std::min(old_bytes, used_bytes_.load()) > bound_bytes_ - size_bytes)
    return nullptr;
  lock = oldest->take();  // a frame may just have taken a use
  return lock ? oldest : nullptr;
}

LockLane* LockBudget::take_any(std::unique_ptr<PageLock>& lock) {
  const std::lock_guard guard(registry().mutex);
  for (LockLane* lane : registered_)
    if ((lock = lane->take())) return lane;  // which ends the list's iteration
  return nullptr;
}

bool LockBudget::charge(std::uint64_t size_bytes) {
  if (bound_bytes_ != 0 && size_bytes > bound_bytes_) return false;
  while (!try_add(size_bytes)) {
    std::unique_ptr<PageLock> gone;
    LockLane* lane = take_old(size_bytes, gone);
    if (!lane) return false;
    const bool unlocked = let_go(std::move(gone));
    refund(lane->size_bytes);
    ++evictions_;
    lane->settle(unlocked);
  }
  return true;
}

void LockBudget::let_go_idle() {
  for (;;) {
    std::unique_ptr<PageLock> gone;
    LockLane* lane = take_any(gone);
    if (!lane) return;
    const bool unlocked = let_go(std::move(gone));
    refund(lane->size_bytes);
    lane->settle(unlocked);
  }
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

HostRange::HostRange(const std::byte* base, std::size_t size_bytes, bool read_only)
    : lanes_{std::make_unique<LockLane>(base, size_bytes, read_only, false),
             std::make_unique<LockLane>(base, size_bytes, read_only, true)} {
  calls_.fetch_add(1, std::memory_order_release);
}

HostRange::~HostRange() { calls_.load(std::memory_order_acquire); }

LockLane& HostRange::lane_of(const Device& device) const noexcept {
  return *lanes_[device.needs_page_lock() ? 1 : 0];
}

LockAnswer HostRange::use(Device& device, const std::shared_ptr<LockBudget>& budget,
                          LockWhen when) {
  LockAnswer answer = lane_of(device).use(device, budget, when);
  calls_.fetch_add(1, std::memory_order_release);
  return answer;
}

bool HostRange::is_refused(const Device& device) const noexcept {
  const bool refused = lane_of(device).refused;
  calls_.fetch_add(1, std::memory_order_release);
  return refused;
}

bool HostRange::refuse(Device& device, LockBudget& budget) {
  const bool known = lane_of(device).refused.exchange(true);
  if (!known) ++budget.refusals_;
  calls_.fetch_add(1, std::memory_order_release);
  return !known;
}

}  // namespace stripe
