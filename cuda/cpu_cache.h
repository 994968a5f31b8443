// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>

namespace stripe {

/// Writes memory back from the caches of all CPUs and drops it there. A device reads slowly what
/// lies in the cache of a CPU that sleeps, and by reading does not get it out of there: memory that
/// CPUs have read or written and leave alone from then on stays slow.
///
/// Does nothing where there is no instruction that is quick at it (x86 without CLFLUSHOPT, others).
/// It takes about as long as to register the memory with CUDA (measured: some 45 us a MB each).
///
/// Units:   bytes; any address that the CPU may read.
/// Thread:  any, also while others use the memory; its bytes stay as they are.
/// Source:  Intel 64 and IA-32 Architectures Software Developer's Manual, CLFLUSHOPT.
void evict_from_cpu_caches(const std::byte* data, std::size_t size_bytes) noexcept;

}  // namespace stripe
