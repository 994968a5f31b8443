// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Counts what operator new gives in this program, and can refuse it. Included by one source alone,
// since it replaces the operators; but not ThreadSanitizer's, which can't be replaced.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "support/sanitizer.h"

namespace test {

#ifdef TEST_WITH_TSAN
inline constexpr bool counts_allocations = false;
#else
inline constexpr bool counts_allocations = true;
#endif

inline std::atomic<std::size_t> largest_allocation{0};
inline std::atomic<std::size_t> refused_from{SIZE_MAX};  ///< bytes

inline void* counted_memory(std::size_t size_bytes) noexcept {
  std::size_t largest = largest_allocation;
  while (size_bytes > largest && !largest_allocation.compare_exchange_weak(largest, size_bytes)) {
  }
  return size_bytes < refused_from ? std::malloc(std::max<std::size_t>(size_bytes, 1)) : nullptr;
}

/// The most bytes that `work` asked for at once; 0 where nothing is counted.
template <typename Work>
std::size_t most_at_once(const Work& work) {
  largest_allocation = 0;
  work();
  return largest_allocation;
}

}  // namespace test

#ifndef TEST_WITH_TSAN
void* operator new(std::size_t size_bytes) {
  if (void* memory = test::counted_memory(size_bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size_bytes, const std::nothrow_t&) noexcept {
  return test::counted_memory(size_bytes);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
#endif
