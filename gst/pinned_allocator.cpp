// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/pinned_allocator.h"

#include <cstring>
#include <new>

#include "cuda/error.h"
#include "cuda/pinned.h"
#include "gst/debug.h"

namespace {

using gst_stripe::PinnedAccount;
using stripe::PinnedBlock;

struct GstCudaStripePinnedAllocator {
  GstAllocator parent;
  PinnedAccount* account;
  stripe::PinnedCache* cache;  // NULL: the process's, which is made with the first block
};

struct GstCudaStripePinnedAllocatorClass {
  GstAllocatorClass parent_class;
};

// Memory of the allocator. A shared part has an empty block and lives by its parent.
struct PinnedMemory {
  GstMemory parent;
  std::byte* data;
  PinnedBlock block;
  PinnedAccount account;
};

// The name is one for all of the process.
G_DEFINE_TYPE(GstCudaStripePinnedAllocator, pinned_allocator, GST_TYPE_ALLOCATOR)

PinnedMemory* to_pinned(GstMemory* memory) { return reinterpret_cast<PinnedMemory*>(memory); }

PinnedMemory* new_memory(std::byte* data, PinnedBlock block, const PinnedAccount& account) {
  auto* memory = new PinnedMemory{{}, data, std::move(block), account};
  *memory->account += memory->block.size_bytes();
  return memory;
}

// What GStreamer calls is noexcept: an exception must not cross C.

gpointer map_memory(GstMemory* memory, gsize, GstMapFlags) noexcept {
  return to_pinned(memory)->data;
}

void unmap_memory(GstMemory*) noexcept {}

GstMemory* share_memory(GstMemory* memory, gssize offset, gssize size) noexcept {
  GstMemory* root = memory->parent ? memory->parent : memory;
  const gsize part =
      size == -1 ? memory->size - static_cast<gsize>(offset) : static_cast<gsize>(size);
  PinnedMemory* shared = new_memory(to_pinned(memory)->data, {}, to_pinned(memory)->account);
  const auto flags =
      static_cast<GstMemoryFlags>(GST_MINI_OBJECT_FLAGS(root) | GST_MINI_OBJECT_FLAG_LOCK_READONLY);
  gst_memory_init(GST_MEMORY_CAST(shared), flags, memory->allocator, root, memory->maxsize,
                  memory->align, memory->offset + static_cast<gsize>(offset), part);
  return GST_MEMORY_CAST(shared);
}

gboolean is_span(GstMemory* first, GstMemory* second, gsize* offset) {
  if (offset) *offset = first->offset - first->parent->offset;
  return to_pinned(first)->data + first->offset + first->size ==
         to_pinned(second)->data + second->offset;
}

gsize bytes_to_alignment(const std::byte* data, gsize align_mask) {
  return -reinterpret_cast<guintptr>(data) & align_mask;
}

void clear_around(const GstMemory* memory, std::byte* data, GstMemoryFlags flags) {
  if (flags & GST_MEMORY_FLAG_ZERO_PREFIXED) std::memset(data, 0, memory->offset);
  const gsize end = memory->offset + memory->size;
  if (flags & GST_MEMORY_FLAG_ZERO_PADDED) std::memset(data + end, 0, memory->maxsize - end);
}

GstMemory* make_memory(GstAllocator* allocator, gsize size, const GstAllocationParams& params) {
  const gsize maxsize = params.prefix + size + params.padding;
  const gsize beyond_page = params.align >= stripe::PinnedCache::page_bytes ? params.align : 0;
  auto* self = reinterpret_cast<GstCudaStripePinnedAllocator*>(allocator);
  stripe::PinnedCache& cache = self->cache ? *self->cache : stripe::pinned_cache();
  PinnedBlock block = cache.acquire(maxsize + beyond_page);
  std::byte* data = block.data() + bytes_to_alignment(block.data(), params.align);
  PinnedMemory* memory = new_memory(data, std::move(block), *self->account);
  gst_memory_init(GST_MEMORY_CAST(memory), params.flags, allocator, nullptr, maxsize, params.align,
                  params.prefix, size);
  clear_around(GST_MEMORY_CAST(memory), data, params.flags);
  return GST_MEMORY_CAST(memory);
}

bool fits(gsize size, const GstAllocationParams& params) {
  gsize total = size;
  return g_size_checked_add(&total, total, params.prefix) &&
         g_size_checked_add(&total, total, params.padding) &&
         g_size_checked_add(&total, total, params.align);
}

GstMemory* alloc(GstAllocator* allocator, gsize size, GstAllocationParams* params) noexcept {
  if (!fits(size, *params)) return nullptr;
  try {
    return make_memory(allocator, size, *params);
  } catch (const std::exception& error) {
    GST_WARNING_OBJECT(allocator, "no page-locked memory of %" G_GSIZE_FORMAT " bytes: %s", size,
                       error.what());
    return nullptr;
  }
}

void free_memory(GstAllocator*, GstMemory* memory) noexcept {
  PinnedMemory* pinned = to_pinned(memory);
  *pinned->account -= pinned->block.size_bytes();
  delete pinned;
}

void pinned_allocator_init(GstCudaStripePinnedAllocator* self) {
  self->account = new PinnedAccount(std::make_shared<std::atomic<std::uint64_t>>(0));
  GstAllocator* allocator = GST_ALLOCATOR_CAST(self);
  allocator->mem_type = gst_stripe::pinned_memory_type;
  allocator->mem_map = map_memory;
  allocator->mem_unmap = unmap_memory;
  allocator->mem_share = share_memory;
  allocator->mem_is_span = is_span;
}

void pinned_allocator_finalize(GObject* object) {
  delete reinterpret_cast<GstCudaStripePinnedAllocator*>(object)->account;
  G_OBJECT_CLASS(pinned_allocator_parent_class)->finalize(object);
}

void pinned_allocator_class_init(GstCudaStripePinnedAllocatorClass* klass) {
  G_OBJECT_CLASS(klass)->finalize = pinned_allocator_finalize;
  klass->parent_class.alloc = alloc;
  klass->parent_class.free = free_memory;
}

}  // namespace

namespace gst_stripe {

GstAllocator* pinned_allocator_new(const PinnedAccount& account, stripe::PinnedCache& cache) {
  auto* allocator = static_cast<GstCudaStripePinnedAllocator*>(
      gst_object_ref_sink(g_object_new(pinned_allocator_get_type(), nullptr)));
  *allocator->account = account;
  allocator->cache = &cache;
  return GST_ALLOCATOR_CAST(allocator);
}

void pinned_allocator_register() {
  gpointer allocator = gst_object_ref_sink(g_object_new(pinned_allocator_get_type(), nullptr));
  GST_OBJECT_FLAG_SET(allocator, GST_OBJECT_FLAG_MAY_BE_LEAKED);
  gst_allocator_register(pinned_memory_type, GST_ALLOCATOR_CAST(allocator));  // takes it over
}

bool is_pinned_memory(const GstMemory* memory) {
  return memory->allocator &&
         G_TYPE_CHECK_INSTANCE_TYPE(memory->allocator, pinned_allocator_get_type());
}

bool is_page_locked_memory(const GstMemory* memory) {
  const GstMemory* root = memory->parent ? memory->parent : memory;
  return reinterpret_cast<const PinnedMemory*>(root)->block.is_page_locked();
}

}  // namespace gst_stripe
