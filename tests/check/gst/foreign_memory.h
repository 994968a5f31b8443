// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/allocators/allocators.h>

#include <atomic>
#include <memory>

#include "gst/page_lock.h"

// Memory as others have it: the operating system's, files', a driver's.

namespace test {

/// Pages that are freed and had again at the same address, by one owner at a time.
///
/// Owner: the address, for its life; whoever it was allocated to must have gone first.
class SameAddress {
 public:
  explicit SameAddress(std::size_t size_bytes);
  SameAddress(const SameAddress&) = delete;
  ~SameAddress();

  /// Gives new pages at the address; the deleter frees them, and keeps the address in one step, so
  /// that nobody else gets it.
  Allocate allocate();

 private:
  const std::size_t size_bytes_;
  void* const address_;
};

/// What a file mapping looks like to GStreamer.
struct FileOptions {
  bool shared = false;         ///< MAP_SHARED, else MAP_PRIVATE
  bool said_read_only = true;  ///< GST_MEMORY_FLAG_READONLY; the pages are read-only in any case
};

/// A picture's bytes in a file, mapped for reading and wrapped.
Ref<GstBuffer> wrap_file(const GuardedImage& image, const FileOptions& options);

/// Makes memory of file descriptors.
Ref<GstAllocator> make_fd_allocator(bool dmabuf);

/// A picture's bytes in a memfd, as memory of `allocator`, which is of GstFdAllocator's kind.
Ref<GstBuffer> make_fd_buffer(GstAllocator* allocator, const GuardedImage& image,
                              GstFdMemoryFlags flags = GST_FD_MEMORY_FLAG_NONE);

/// Memory of a type of its own, named "TestForeign", that lies in memory of `storage` (borrowed).
Ref<GstMemory> make_foreign_memory(GstAllocator* storage, gsize size);

/// A picture's bytes in such memory.
Ref<GstBuffer> make_foreign_buffer(GstAllocator* storage, const GuardedImage& image);

/// Bytes that are spoilt before they are freed: whoever still reads them reads nonsense.
///
/// Owner: the buffer's memory owns the bytes; `gone` must outlive it.
Ref<GstBuffer> make_spoiling_buffer(const GuardedImage& image, std::atomic<int>& gone);

}  // namespace test
