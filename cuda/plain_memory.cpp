// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/plain_memory.h"

#include <new>
#include <string>

#include "cuda/error.h"

namespace stripe {

namespace {

constexpr std::align_val_t alignment{PinnedCache::page_bytes};

}  // namespace

PinnedStorage PlainSource::allocate(std::size_t size_bytes) {
  void* data = ::operator new(size_bytes, alignment, std::nothrow);
  if (!data)
    throw DeviceError(DeviceErrorKind::out_of_pinned_memory,
                      "no memory for a block of " + std::to_string(size_bytes) + " bytes");
  return {static_cast<std::byte*>(data), size_bytes, false};
}

void PlainSource::release(const PinnedStorage& storage) noexcept {
  ::operator delete(storage.data, alignment);
}

}  // namespace stripe
