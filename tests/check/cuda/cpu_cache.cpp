// SPDX-License-Identifier: LGPL-2.1-or-later

// Evicting memory from the CPUs' caches changes no byte and touches nothing else. What it gains is
// for the benchmarks.

#include "cuda/cpu_cache.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "support/device_bytes.h"
#include "support/library_main.h"
#include "support/random.h"

using stripe::evict_from_cpu_caches;
using test::Random;

namespace {

/// Pages between two that nobody may touch.
class FencedPages {
 public:
  explicit FencedPages(std::size_t pages)
      : page_bytes_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        size_bytes_(pages * page_bytes_) {
    void* const all =
        mmap(nullptr, size_bytes_ + 2 * page_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    fail_unless(all != MAP_FAILED);
    begin_ = static_cast<std::byte*>(all) + page_bytes_;
    protect(PROT_READ | PROT_WRITE);
  }
  FencedPages(const FencedPages&) = delete;
  ~FencedPages() { munmap(begin_ - page_bytes_, size_bytes_ + 2 * page_bytes_); }

  void protect(int protection) {
    fail_unless_equals_int(mprotect(begin_, size_bytes_, protection), 0);
  }
  std::byte* data() const { return begin_; }
  std::size_t size_bytes() const { return size_bytes_; }

 private:
  const std::size_t page_bytes_;
  const std::size_t size_bytes_;
  std::byte* begin_;
};

}  // namespace

// From any byte to any other, and to both ends, of pages that can be written and that can't.
GST_START_TEST(bytes_stay_as_they_are) {
  Random random(81);
  FencedPages pages(3);
  const test::Bytes bytes = test::random_bytes(random, pages.size_bytes());
  std::memcpy(pages.data(), bytes.data(), bytes.size());
  const int last = static_cast<int>(pages.size_bytes());
  for (const int protection : {PROT_READ | PROT_WRITE, PROT_READ}) {
    pages.protect(protection);
    evict_from_cpu_caches(pages.data(), pages.size_bytes());
    evict_from_cpu_caches(pages.data() + last, 0);  // where nobody may read
    evict_from_cpu_caches(pages.data() + last + 1, 0);
    evict_from_cpu_caches(pages.data() + last - 1, 1);
    for (int i = 0; i < 500; ++i) {
      const int begin = random.between(0, last - 1);
      evict_from_cpu_caches(pages.data() + begin,
                            static_cast<std::size_t>(random.between(1, last - begin)));
    }
    fail_unless(std::memcmp(pages.data(), bytes.data(), bytes.size()) == 0);
  }
}
GST_END_TEST;

// What another thread writes meanwhile is not lost.
GST_START_TEST(others_may_write_meanwhile) {
  std::vector<std::atomic<unsigned>> words(2'000);
  std::atomic<bool> stop = false;
  std::atomic<int> evictions = 0;
  std::thread evicting([&] {
    for (; !stop; ++evictions)
      evict_from_cpu_caches(reinterpret_cast<const std::byte*>(words.data()),
                            words.size() * sizeof words[0]);
  });
  std::size_t lost = 0;
  for (unsigned round = 1; round <= 50 || evictions < 20; ++round) {
    for (auto& word : words) word.store(round, std::memory_order_relaxed);
    for (auto& word : words) lost += word.load(std::memory_order_relaxed) != round;
  }
  stop = true;
  evicting.join();
  fail_unless_equals_uint64(lost, 0);
}
GST_END_TEST;

namespace {

Suite* cpu_cache_suite() {
  Suite* suite = suite_create("cpu-cache");
  TCase* cases = tcase_create("cpu-cache");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, bytes_stay_as_they_are);
  tcase_add_test(cases, others_may_write_meanwhile);
  return suite;
}

}  // namespace

LIBRARY_CHECK_MAIN(cpu_cache)
