// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/copy_pool.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

namespace stripe {

namespace {

constexpr unsigned int most_helpers = 7;

// Below it, waking threads takes longer than the copy.
constexpr std::size_t worth_sharing_bytes = std::size_t{256} << 10;

// So many for each thread that one that is late or slow delays the others little, and each worth
// the way to the counter.
constexpr std::size_t pieces_for_each = 8;
constexpr std::size_t least_piece_bytes = std::size_t{64} << 10;
constexpr std::size_t page_bytes = 4096;

// Where the machine doesn't say.
constexpr std::size_t usual_core_cache_bytes = std::size_t{1} << 20;

constexpr Time longest_spin = 50'000;

// A wait never spins longer than this part of the time that is expected.
constexpr Time spin_part(Time expected) { return expected * 3 / 10; }

void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Whether `done` came true within the time.
template <typename Done>
bool spin(Time time, Done done) noexcept {
  if (time <= 0) return done();
  const Time end = now() + time;
  do {
    for (int i = 0; i < 16; ++i) {
      if (done()) return true;
      relax();
    }
  } while (now() < end);
  return done();
}

Time follow(Time usual, Time last) { return usual == 0 ? last : (3 * usual + last) / 4; }

unsigned int core_count() noexcept { return std::max(1u, std::thread::hardware_concurrency()); }

}  // namespace

CopyPool::CopyPool(int helpers, std::size_t cache_bytes) : cache_bytes_(cache_bytes) {
  helpers_.reserve(static_cast<std::size_t>(helpers));
  try {
    for (int i = 0; i < helpers; ++i) helpers_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // With the threads that there are.
  }
}

CopyPool::~CopyPool() {
  stopping_.store(true);
  state_.fetch_add(2);
  state_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

int CopyPool::useful_helpers() noexcept {
  const unsigned int cores = core_count();
  return cores == 1 ? 0 : static_cast<int>(std::min(cores / 2, most_helpers));
}

std::size_t CopyPool::core_cache_bytes() noexcept {
#if defined(_SC_LEVEL2_CACHE_SIZE)
  // The last level's size is no measure: of a virtual machine it is the host's.
  const long cache_bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  if (cache_bytes > 0) return static_cast<std::size_t>(cache_bytes);
#endif
  return usual_core_cache_bytes;
}

void CopyPool::copy(const CopyJob& job) noexcept {
  const std::size_t size_bytes = job.row_bytes * job.rows;
  if (size_bytes == 0) return;
  const CopyJob few = in_few_rows(job);
  if (helpers_.empty() || size_bytes < worth_sharing_bytes)
    copy_range(few, 0, size_bytes, stores_of(few, size_bytes));
  else
    share(few, size_bytes);
}

// A cached store reads the line first. That pays where the reader finds it in a cache: not where it
// has left the core's before, nor where the reader is a device, which would have to fetch it there.
Stores CopyPool::stores_of(const CopyJob& job, std::size_t size_bytes) const noexcept {
  const bool is_for_device = job.direction == CopyDirection::upload;
  return is_for_device || size_bytes > cache_bytes_ ? Stores::streaming : Stores::cached;
}

void CopyPool::share(const CopyJob& job, std::size_t size_bytes) noexcept {
  const std::size_t pieces = pieces_for_each * (helpers_.size() + 1);
  const std::size_t whole_pages = (size_bytes / pieces + page_bytes - 1) / page_bytes * page_bytes;
  round_ = {job, size_bytes, std::max(least_piece_bytes, whole_pages), stores_of(job, size_bytes)};
  const Time begin = now();
  open(begin);
  take_pieces();
  close(begin);
}

void CopyPool::open(Time begin) noexcept {
  predict(begin);
  const std::size_t pieces = (round_.size_bytes + round_.piece_bytes - 1) / round_.piece_bytes;
  next_piece_.store(0, std::memory_order_relaxed);
  to_wake_.store(static_cast<int>(std::min(helpers_.size(), pieces - 1)),
                 std::memory_order_relaxed);
  state_.fetch_add(1);
  wake_two();
}

// Returns when no helper is inside any more, and so all pieces are copied.
void CopyPool::close(Time begin) noexcept {
  state_.fetch_add(1);
  const auto done = [this] { return inside_.load() == 0; };
  if (!spin(std::min(longest_spin, spin_part(now() - begin)), done))
    for (int inside = inside_.load(); inside != 0; inside = inside_.load()) inside_.wait(inside);
  closed_ = now();
}

// Helpers spin until the next round where it usually follows soon enough: a stripe, or a plane,
// behind the other. Where it doesn't, spinning would only heat.
void CopyPool::predict(Time begin) noexcept {
  if (opened_ != 0) {
    usual_gap_ = follow(usual_gap_, begin - closed_);
    usual_period_ = follow(usual_period_, begin - opened_);
    const Time most = std::min(longest_spin, spin_part(usual_period_));
    spin_time_.store(usual_gap_ <= most ? most : 0, std::memory_order_relaxed);
  }
  opened_ = begin;
}

void CopyPool::work() noexcept {
  pthread_setname_np(pthread_self(), "stripe-copy");
  std::uint32_t state = 0;
  for (;;) {
    state = wait_for_other(state);
    if (stopping_.load()) return;
    if (state % 2 == 0) continue;
    inside_.fetch_add(1);
    if (state_.load() == state) {
      wake_two();
      take_pieces();
    }
    if (inside_.fetch_sub(1) == 1) inside_.notify_one();
  }
}

std::uint32_t CopyPool::wait_for_other(std::uint32_t state) noexcept {
  const auto done = [&] { return state_.load() != state; };
  if (!spin(spin_time_.load(std::memory_order_relaxed), done)) state_.wait(state);
  return state_.load();
}

// Whoever is awake wakes two more, so that no thread wakes all of them before it copies.
void CopyPool::wake_two() noexcept {
  for (int i = 0; i < 2; ++i) {
    if (to_wake_.load(std::memory_order_relaxed) <= 0) return;
    if (to_wake_.fetch_sub(1, std::memory_order_relaxed) > 0) state_.notify_one();
  }
}

void CopyPool::take_pieces() noexcept {
  for (;;) {
    const std::size_t begin =
        next_piece_.fetch_add(1, std::memory_order_relaxed) * round_.piece_bytes;
    if (begin >= round_.size_bytes) return;
    const std::size_t end = std::min(begin + round_.piece_bytes, round_.size_bytes);
    copy_range(round_.job, begin, end, round_.stores);
  }
}

}  // namespace stripe
