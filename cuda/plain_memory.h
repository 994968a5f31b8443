// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/pinned.h"

namespace stripe {

/// Ordinary memory for blocks, where no device can lock pages, aligned to a page.
///
/// Thread:  any.
/// Errors:  allocate throws DeviceError, out_of_pinned_memory.
class PlainSource final : public PinnedSource {
 public:
  PinnedStorage allocate(std::size_t size_bytes) override;
  void release(const PinnedStorage& storage) noexcept override;
};

}  // namespace stripe
