// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/pinned_allocator.h"

#include <cstring>
#include <memory>

#include "cuda/error.h"
#include "cuda/pinned.h"
#include "gst/debug.h"

namespace {

using stripe::LockBudget;
using stripe::PinnedBlock;

struct GstCudaStripePinnedAllocator {
  GstAllocator parent;
  std::shared_ptr<LockBudget>* budget;  // NULL inside: no bound, and nobody counts
  stripe::PinnedCache* cache;           // NULL: the process's, which is made with the first block
};

struct GstCudaStripePinnedAllocatorClass {
  GstAllocatorClass parent_class;
};

// Memory of the allocator. A shared part has an empty block and lives by its parent.
struct PinnedMemory {
  GstMemory parent;
  std::byte* data;
  PinnedBlock block;
  std::shared_ptr<LockBudget> budget;  // that is charged for the block; NULL: none is
  bool plain;                          // past the budget's bound
};

// The name is one for all of the process.
G_DEFINE_TYPE(GstCudaStripePinnedAllocator, pinned_allocator, GST_TYPE_ALLOCATOR)

const PinnedMemory& root_of_pinned(const GstMemory* memory) {
  return *reinterpret_cast<const PinnedMemory*>(memory->parent ? memory->parent : memory);
}

PinnedMemory* to_pinned(GstMemory* memory) { return reinterpret_cast<PinnedMemory*>(memory); }

// What GStreamer calls is noexcept: an exception must not cross C.

gpointer map_memory(GstMemory* memory, gsize, GstMapFlags) noexcept {
  return to_pinned(memory)->data;
}

void unmap_memory(GstMemory*) noexcept {}

GstMemory* share_memory(GstMemory* memory, gssize offset, gssize size) noexcept {
  GstMemory* root = memory->parent ? memory->parent : memory;
  const gsize part =
      size == -1 ? memory->size - static_cast<gsize>(offset) : static_cast<gsize>(size);
  auto* shared = new PinnedMemory{{}, to_pinned(memory)->data, {}, {}, to_pinned(memory)->plain};
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

// A block that the budget allows, or a plain one that it need not know of.
std::unique_ptr<PinnedMemory> take_block(GstCudaStripePinnedAllocator* self, gsize size_bytes) {
  const std::shared_ptr<LockBudget>& budget = *self->budget;
  stripe::PinnedCache& cache = self->cache ? *self->cache : stripe::pinned_cache();
  auto memory = std::make_unique<PinnedMemory>();
  const gsize block_bytes = stripe::PinnedCache::rounded_bytes(size_bytes);
  memory->plain = budget && !budget->charge(block_bytes);
  if (memory->plain) {
    memory->block = stripe::plain_cache().acquire(size_bytes);
    return memory;
  }
  try {
    memory->block = cache.acquire(size_bytes);
  } catch (...) {
    if (budget) budget->refund(block_bytes);
    throw;
  }
  memory->budget = budget;
  return memory;
}

GstMemory* make_memory(GstAllocator* allocator, gsize size, const GstAllocationParams& params) {
  const gsize maxsize = params.prefix + size + params.padding;
  const gsize beyond_page = params.align >= stripe::PinnedCache::page_bytes ? params.align : 0;
  auto* self = reinterpret_cast<GstCudaStripePinnedAllocator*>(allocator);
  PinnedMemory* memory = take_block(self, maxsize + beyond_page).release();
  memory->data = memory->block.data() + bytes_to_alignment(memory->block.data(), params.align);
  gst_memory_init(GST_MEMORY_CAST(memory), params.flags, allocator, nullptr, maxsize, params.align,
                  params.prefix, size);
  clear_around(GST_MEMORY_CAST(memory), memory->data, params.flags);
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
  const std::shared_ptr<LockBudget> budget = pinned->budget;
  const gsize size_bytes = pinned->block.size_bytes();
  delete pinned;
  if (budget) budget->refund(size_bytes);
}

void pinned_allocator_init(GstCudaStripePinnedAllocator* self) {
  self->budget = new std::shared_ptr<LockBudget>;
  GstAllocator* allocator = GST_ALLOCATOR_CAST(self);
  allocator->mem_type = gst_stripe::pinned_memory_type;
  allocator->mem_map = map_memory;
  allocator->mem_unmap = unmap_memory;
  allocator->mem_share = share_memory;
  allocator->mem_is_span = is_span;
}

void pinned_allocator_finalize(GObject* object) {
  delete reinterpret_cast<GstCudaStripePinnedAllocator*>(object)->budget;
  G_OBJECT_CLASS(pinned_allocator_parent_class)->finalize(object);
}

void pinned_allocator_class_init(GstCudaStripePinnedAllocatorClass* klass) {
  G_OBJECT_CLASS(klass)->finalize = pinned_allocator_finalize;
  klass->parent_class.alloc = alloc;
  klass->parent_class.free = free_memory;
}

}  // namespace

namespace gst_stripe {

GstAllocator* pinned_allocator_new(const std::shared_ptr<LockBudget>& budget,
                                   stripe::PinnedCache& cache) {
  auto* allocator = static_cast<GstCudaStripePinnedAllocator*>(
      gst_object_ref_sink(g_object_new(pinned_allocator_get_type(), nullptr)));
  *allocator->budget = budget;
  allocator->cache = &cache;
  return GST_ALLOCATOR_CAST(allocator);
}

void pinned_allocator_register() {
  gpointer allocator = gst_object_ref_sink(g_object_new(pinned_allocator_get_type(), nullptr));
  GST_OBJECT_FLAG_SET(allocator, GST_OBJECT_FLAG_MAY_BE_LEAKED);
  gst_allocator_register(pinned_memory_type, GST_ALLOCATOR_CAST(allocator));  // takes it over
}

bool is_allocator_memory(const GstMemory* memory) { return is_pinned_allocator(memory->allocator); }

bool is_pinned_memory(const GstMemory* memory, const stripe::Device& device) {
  const PinnedMemory& pinned = root_of_pinned(memory);
  return !pinned.plain && (!device.needs_page_lock() || pinned.block.is_page_locked());
}

bool is_past_bound(const GstMemory* memory) { return root_of_pinned(memory).plain; }

bool is_pinned_allocator(const GstAllocator* allocator) {
  return allocator && G_TYPE_CHECK_INSTANCE_TYPE(allocator, pinned_allocator_get_type());
}

bool have_same_cache(const GstAllocator* a, const GstAllocator* b) {
  if (!is_pinned_allocator(a) || !is_pinned_allocator(b)) return false;
  return reinterpret_cast<const GstCudaStripePinnedAllocator*>(a)->cache ==
         reinterpret_cast<const GstCudaStripePinnedAllocator*>(b)->cache;
}

}  // namespace gst_stripe
