// SPDX-License-Identifier: LGPL-2.1-or-later

// The cache of page-locked blocks over a source that is watched and can run dry, and the process's
// own.

#include "cuda/pinned.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "support/library_main.h"

using stripe::PinnedBlock;
using stripe::PinnedCache;

namespace {

constexpr std::size_t page = PinnedCache::page_bytes;

/// What a FakeSource did; outlives it.
struct Ledger {
  std::mutex mutex;
  std::map<std::byte*, stripe::PinnedStorage> live;
  std::size_t live_bytes = 0;
  std::size_t limit_bytes = SIZE_MAX;
  int asked = 0;
  bool locks_pages = false;           ///< what it says of the blocks it gives
  std::atomic<bool> mistaken{false};  ///< released what it never gave, or as something else
  std::atomic<const PinnedCache*> cache{
      nullptr};  ///< asked under each call: its mutex must be free

  bool holds(std::byte* data) {
    const std::lock_guard lock(mutex);
    return live.count(data) == 1;
  }
};

class FakeSource final : public stripe::PinnedSource {
 public:
  explicit FakeSource(std::shared_ptr<Ledger> ledger) : ledger_(std::move(ledger)) {}

  stripe::PinnedStorage allocate(std::size_t size_bytes) override {
    ask_cache();
    const std::lock_guard lock(ledger_->mutex);
    ++ledger_->asked;
    if (size_bytes > ledger_->limit_bytes - ledger_->live_bytes)
      throw stripe::DeviceError(stripe::DeviceErrorKind::out_of_pinned_memory,
                                "the ledger is full");
    auto* data = static_cast<std::byte*>(std::aligned_alloc(page, size_bytes));
    ledger_->live_bytes += size_bytes;
    return ledger_->live[data] = {data, size_bytes, ledger_->locks_pages};
  }

  void release(const stripe::PinnedStorage& storage) noexcept override {
    ask_cache();
    const std::lock_guard lock(ledger_->mutex);
    const auto block = ledger_->live.find(storage.data);
    if (block == ledger_->live.end() || block->second.size_bytes != storage.size_bytes ||
        block->second.page_locked != storage.page_locked) {
      ledger_->mistaken = true;
      return;
    }
    ledger_->live_bytes -= storage.size_bytes;
    ledger_->live.erase(block);
    std::free(storage.data);
  }

 private:
  void ask_cache() const {
    if (const PinnedCache* cache = ledger_->cache) cache->idle_bytes();
  }

  const std::shared_ptr<Ledger> ledger_;
};

/// A cache and what its source is asked.
struct Watched {
  explicit Watched(std::size_t idle_bound_bytes)
      : cache(
            std::make_unique<PinnedCache>(std::make_unique<FakeSource>(ledger), idle_bound_bytes)) {
    ledger->cache = cache.get();
  }
  ~Watched() {
    ledger->cache = nullptr;
    cache.reset();
    fail_if(ledger->mistaken);
    fail_unless_equals_uint64(ledger->live_bytes, 0);
  }

  std::shared_ptr<Ledger> ledger = std::make_shared<Ledger>();
  std::unique_ptr<PinnedCache> cache;
};

bool runs_dry(PinnedCache& cache, std::size_t size_bytes) {
  try {
    cache.acquire(size_bytes);
  } catch (const stripe::DeviceError& error) {
    return error.kind() == stripe::DeviceErrorKind::out_of_pinned_memory;
  }
  return false;
}

bool is_filled_with(const PinnedBlock& block, unsigned char value) {
  for (std::size_t i = 0; i < block.size_bytes(); ++i)
    if (block.data()[i] != std::byte{value}) return false;
  return true;
}

/// Takes and gives back blocks of a few sizes; false if somebody else wrote into one of them.
bool use_blocks(PinnedCache& cache, unsigned char mark) {
  for (int round = 0; round < 200; ++round) {
    const PinnedBlock first = cache.acquire(page * (1 + round % 3));
    const PinnedBlock second = cache.acquire(page * (1 + round % 2));
    std::memset(first.data(), mark, first.size_bytes());
    std::memset(second.data(), mark + 100, second.size_bytes());
    std::this_thread::yield();
    if (!is_filled_with(first, mark) || !is_filled_with(second, mark + 100)) return false;
  }
  return true;
}

}  // namespace

GST_START_TEST(sizes_are_whole_pages) {
  Watched watched(16 * page);
  for (const std::size_t size : {std::size_t{1}, page - 1, page, page + 1, 3 * page}) {
    const PinnedBlock block = watched.cache->acquire(size);
    fail_unless(block && block.size_bytes() >= size);
    fail_unless_equals_uint64(watched.ledger->live[block.data()].size_bytes,
                              (size + page - 1) / page * page);
    fail_unless_equals_uint64(reinterpret_cast<std::uintptr_t>(block.data()) % page, 0);
    std::memset(block.data(), 0xa5, block.size_bytes());
    fail_unless(is_filled_with(block, 0xa5));
  }
}
GST_END_TEST;

GST_START_TEST(blocks_are_used_again_by_size) {
  Watched watched(16 * page);
  std::byte* const small = watched.cache->acquire(page - 7).data();
  std::byte* const large = watched.cache->acquire(2 * page).data();
  fail_unless_equals_uint64(watched.cache->idle_bytes(), 3 * page);
  fail_unless(watched.cache->acquire(2 * page - 1).data() == large);
  fail_unless(watched.cache->acquire(page).data() == small);
  fail_unless_equals_uint64(watched.cache->allocations(), 2);
  const PinnedBlock other = watched.cache->acquire(3 * page);
  fail_unless_equals_uint64(watched.cache->allocations(), 3);
}
GST_END_TEST;

GST_START_TEST(block_in_use_is_nobody_elses) {
  Watched watched(16 * page);
  const PinnedBlock first = watched.cache->acquire(page);
  const PinnedBlock second = watched.cache->acquire(page);
  fail_unless(first.data() != second.data());
  fail_unless_equals_uint64(watched.cache->idle_bytes(), 0);
}
GST_END_TEST;

GST_START_TEST(idle_bytes_stay_below_the_bound) {
  Watched watched(4 * page);
  {
    std::vector<PinnedBlock> blocks;
    for (int i = 0; i < 8; ++i) blocks.push_back(watched.cache->acquire(page * (1 + i % 3)));
  }
  fail_unless(watched.cache->idle_bytes() <= 4 * page);
  fail_unless_equals_uint64(watched.ledger->live_bytes, watched.cache->idle_bytes());
  { const PinnedBlock beyond_the_bound = watched.cache->acquire(5 * page); }
  fail_unless(watched.cache->idle_bytes() <= 4 * page);
}
GST_END_TEST;

GST_START_TEST(least_recently_used_goes_first) {
  Watched watched(6 * page);
  std::byte* const one = watched.cache->acquire(page).data();
  std::byte* const two = watched.cache->acquire(2 * page).data();
  std::byte* const three = watched.cache->acquire(3 * page).data();
  fail_unless(watched.cache->acquire(page).data() == one);  // now the youngest
  std::byte* const two_more = [&] {
    const PinnedBlock held = watched.cache->acquire(2 * page);
    return watched.cache->acquire(2 * page).data();
  }();  // both go back: 8 pages are 2 too many, which are those of `three`, the oldest
  fail_unless(watched.ledger->holds(one));
  fail_unless(watched.ledger->holds(two));
  fail_unless(watched.ledger->holds(two_more));
  fail_if(watched.ledger->holds(three));
}
GST_END_TEST;

GST_START_TEST(trim_frees_what_is_idle_and_nothing_else) {
  Watched watched(16 * page);
  const PinnedBlock held = watched.cache->acquire(page);
  watched.cache->acquire(2 * page);
  watched.cache->acquire(page);
  watched.cache->trim();
  fail_unless_equals_uint64(watched.cache->idle_bytes(), 0);
  fail_unless_equals_uint64(watched.ledger->live_bytes, page);
  std::memset(held.data(), 1, held.size_bytes());
}
GST_END_TEST;

GST_START_TEST(steady_state_asks_for_nothing) {
  Watched watched(64 * page);
  for (int frame = 0; frame < 100; ++frame) {
    std::vector<PinnedBlock> pool;
    for (const std::size_t size : {3 * page, 5 * page, 3 * page, page})
      pool.push_back(watched.cache->acquire(size - frame % 7));
  }
  fail_unless_equals_uint64(watched.cache->allocations(), 4);
  fail_unless_equals_int(watched.ledger->asked, 4);
}
GST_END_TEST;

GST_START_TEST(idle_blocks_make_room) {
  Watched watched(64 * page);
  watched.ledger->limit_bytes = 10 * page;
  watched.cache->acquire(4 * page);
  watched.cache->acquire(5 * page);
  const PinnedBlock block = watched.cache->acquire(8 * page);
  fail_unless(block.size_bytes() >= 8 * page);
  fail_unless_equals_uint64(watched.ledger->live_bytes, 8 * page);
  fail_unless_equals_uint64(watched.cache->allocations(), watched.ledger->asked);
}
GST_END_TEST;

GST_START_TEST(running_dry_is_one_error_and_heals) {
  Watched watched(64 * page);
  watched.ledger->limit_bytes = 10 * page;
  PinnedBlock held = watched.cache->acquire(4 * page);
  watched.cache->acquire(5 * page);
  fail_unless(runs_dry(*watched.cache, 7 * page));
  fail_unless_equals_uint64(watched.cache->idle_bytes(), 0);
  fail_unless_equals_uint64(watched.ledger->live_bytes, 4 * page);
  held = PinnedBlock();
  fail_unless(watched.cache->acquire(7 * page).size_bytes() >= 7 * page);
}
GST_END_TEST;

// Rounding such a size up to pages wraps around to a tiny one.
GST_START_TEST(absurd_sizes_are_refused) {
  Watched watched(64 * page);
  watched.ledger->limit_bytes = 10 * page;
  for (const std::size_t size : {SIZE_MAX, SIZE_MAX - 100, SIZE_MAX - page, SIZE_MAX / 2})
    fail_unless(runs_dry(*watched.cache, size));
}
GST_END_TEST;

GST_START_TEST(blocks_move) {
  Watched watched(16 * page);
  PinnedBlock first = watched.cache->acquire(page);
  std::byte* const data = first.data();
  PinnedBlock second(std::move(first));
  fail_unless(!first && first.size_bytes() == 0);
  fail_unless(second.data() == data);
  second = watched.cache->acquire(2 * page);
  fail_unless_equals_uint64(watched.cache->idle_bytes(), page);
  second = PinnedBlock();
  fail_unless(!second);
  fail_unless_equals_uint64(watched.cache->idle_bytes(), 3 * page);
}
GST_END_TEST;

// A source may run out of pages that it can lock and go on with plain ones.
GST_START_TEST(blocks_know_whether_they_are_page_locked) {
  Watched watched(16 * page);
  fail_if(PinnedBlock().is_page_locked());
  watched.ledger->locks_pages = true;
  PinnedBlock locked = watched.cache->acquire(page);
  watched.ledger->locks_pages = false;
  PinnedBlock plain = watched.cache->acquire(2 * page);
  fail_unless(locked.is_page_locked() && !plain.is_page_locked());
  PinnedBlock moved(std::move(locked));
  fail_unless(moved.is_page_locked() && !locked.is_page_locked());
  plain = std::move(moved);
  fail_unless(plain.is_page_locked());
  moved = PinnedBlock();
  plain = PinnedBlock();
  fail_unless(watched.cache->acquire(page).is_page_locked(), "no longer, when used again");
  fail_if(watched.cache->acquire(2 * page).is_page_locked());
}
GST_END_TEST;

GST_START_TEST(threads_never_share_a_block) {
  Watched watched(5 * page);
  std::atomic<int> disturbed{0};
  std::vector<std::thread> threads;
  for (unsigned char mark = 1; mark <= 4; ++mark)
    threads.emplace_back([&, mark] { disturbed += use_blocks(*watched.cache, mark) ? 0 : 1; });
  for (std::thread& thread : threads) thread.join();
  fail_unless_equals_int(disturbed, 0);
  fail_unless_equals_uint64(watched.ledger->live_bytes, watched.cache->idle_bytes());
}
GST_END_TEST;

GST_START_TEST(the_process_has_one_cache) {
  const auto device = test::open_test_device();
  fail_unless(&stripe::pinned_cache() == &stripe::pinned_cache());
  std::byte* data = nullptr;
  {
    const PinnedBlock block = stripe::pinned_cache().acquire(1 << 20);
    data = block.data();
    std::memset(data, 0x5a, block.size_bytes());
    fail_unless(is_filled_with(block, 0x5a));
    if (test::backend_is_cuda()) fail_unless(device->is_page_locked(data, block.size_bytes()));
  }
  const std::uint64_t asked = stripe::pinned_cache().allocations();
  fail_unless(stripe::pinned_cache().acquire(1 << 20).data() == data);
  fail_unless(device->allocate_pinned(1 << 20).size_bytes() >= 1 << 20);
  fail_unless_equals_uint64(stripe::pinned_cache().allocations(), asked);
  stripe::pinned_cache().trim();
  fail_unless_equals_uint64(stripe::pinned_cache().idle_bytes(), 0);
}
GST_END_TEST;

// Where CUDA is broken the host has to run all the same, and so asks it for nothing.
GST_START_TEST(plain_cache_is_the_hosts) {
  const auto device = test::open_test_device();
  const auto host = stripe::open_device({});
  fail_unless(&stripe::plain_cache() == &stripe::plain_cache());
  fail_unless(&stripe::plain_cache() != &stripe::pinned_cache());
  fail_unless(&host->pinned() == &stripe::plain_cache());
  fail_if(host->needs_page_lock());
  stripe::plain_cache().trim();
  const std::uint64_t asked_here = stripe::plain_cache().allocations();
  const std::uint64_t asked_there = stripe::pinned_cache().allocations();
  {
    const PinnedBlock block = stripe::plain_cache().acquire(1 << 20);
    const PinnedBlock other = host->allocate_pinned(1 << 20);
    std::memset(block.data(), 0x5a, block.size_bytes());
    std::memset(other.data(), 0xa5, other.size_bytes());
    fail_unless(is_filled_with(block, 0x5a) && is_filled_with(other, 0xa5));
    fail_if(block.is_page_locked() || other.is_page_locked());
    fail_if(device->is_page_locked(block.data(), block.size_bytes()));
  }
  fail_unless_equals_uint64(stripe::plain_cache().allocations(), asked_here + 2);
  fail_unless_equals_uint64(stripe::pinned_cache().allocations(), asked_there);
  fail_unless_equals_uint64(stripe::plain_cache().idle_bytes(), 2 << 20);
}
GST_END_TEST;

GST_START_TEST(device_gives_what_it_needs) {
  const auto device = test::open_test_device();
  const PinnedBlock block = device->pinned().acquire(3 * page);
  const PinnedBlock other = device->allocate_pinned(5 * page);
  fail_unless(device->needs_page_lock() == test::backend_is_cuda());
  for (const PinnedBlock* each : {&block, &other}) {
    fail_unless(each->is_page_locked() == test::backend_is_cuda());
    fail_unless(device->is_page_locked(each->data(), each->size_bytes()) ==
                test::backend_is_cuda());
  }
  PinnedCache& wanted = test::backend_is_cuda() ? stripe::pinned_cache() : stripe::plain_cache();
  fail_unless(&device->pinned() == &wanted);
}
GST_END_TEST;

static Suite* pinned_suite() {
  Suite* suite = suite_create("pinned");
  TCase* cases = tcase_create("pinned");
  suite_add_tcase(suite, cases);
  tcase_set_timeout(cases, 30);
  tcase_add_test(cases, sizes_are_whole_pages);
  tcase_add_test(cases, blocks_are_used_again_by_size);
  tcase_add_test(cases, block_in_use_is_nobody_elses);
  tcase_add_test(cases, idle_bytes_stay_below_the_bound);
  tcase_add_test(cases, least_recently_used_goes_first);
  tcase_add_test(cases, trim_frees_what_is_idle_and_nothing_else);
  tcase_add_test(cases, steady_state_asks_for_nothing);
  tcase_add_test(cases, idle_blocks_make_room);
  tcase_add_test(cases, running_dry_is_one_error_and_heals);
  tcase_add_test(cases, absurd_sizes_are_refused);
  tcase_add_test(cases, blocks_move);
  tcase_add_test(cases, blocks_know_whether_they_are_page_locked);
  tcase_add_test(cases, threads_never_share_a_block);
  tcase_add_test(cases, the_process_has_one_cache);
  tcase_add_test(cases, plain_cache_is_the_hosts);
  tcase_add_test(cases, device_gives_what_it_needs);
  return suite;
}

LIBRARY_CHECK_MAIN(pinned)
