// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>

namespace stripe {

/// Memory for page-locked blocks where no device can lock pages, aligned to a page.
///
/// Errors: throws DeviceError, out_of_pinned_memory.
std::byte* allocate_plain_pages(std::size_t size_bytes);
void release_plain_pages(std::byte* data) noexcept;

}  // namespace stripe
