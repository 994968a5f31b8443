// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/special.h"

#include <algorithm>

#include "gst/frames.h"

namespace test {
namespace {

constexpr unsigned many_buffers = 7;

struct SpecialAllocator {
  GstAllocator parent;
};

struct SpecialAllocatorClass {
  GstAllocatorClass parent_class;
};

/// Lies in system memory, which stays mapped.
struct SpecialMemory {
  GstMemory parent;
  GstMemory* storage;
  GstMapInfo map;
};

G_DEFINE_TYPE(SpecialAllocator, special_allocator, GST_TYPE_ALLOCATOR)

SpecialMemory* special_memory(GstMemory* memory) {
  return reinterpret_cast<SpecialMemory*>(memory);
}

bool only_wraps(GstAllocator* allocator) {
  return GST_OBJECT_FLAG_IS_SET(allocator, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

GstMemory* special_alloc(GstAllocator* allocator, gsize size, GstAllocationParams* params) {
  if (only_wraps(allocator)) return nullptr;
  auto* memory = new SpecialMemory{};
  memory->storage = gst_allocator_alloc(nullptr, size, params);
  fail_unless(gst_memory_map(memory->storage, &memory->map, GST_MAP_READWRITE));
  const auto flags = static_cast<GstMemoryFlags>(params->flags | GST_MEMORY_FLAG_NO_SHARE);
  gst_memory_init(GST_MEMORY_CAST(memory), flags, allocator, nullptr, memory->storage->maxsize,
                  memory->storage->align, memory->storage->offset, size);
  return GST_MEMORY_CAST(memory);
}

void special_free(GstAllocator*, GstMemory* memory) {
  SpecialMemory* special = special_memory(memory);
  gst_memory_unmap(special->storage, &special->map);
  gst_memory_unref(special->storage);
  delete special;
}

gpointer special_map(GstMemory* memory, gsize, GstMapFlags) {
  const SpecialMemory* special = special_memory(memory);
  return special->map.data - special->storage->offset;
}

void special_unmap(GstMemory*) {}

void special_allocator_class_init(SpecialAllocatorClass* klass) {
  klass->parent_class.alloc = special_alloc;
  klass->parent_class.free = special_free;
}

void special_allocator_init(SpecialAllocator* self) {
  GstAllocator* allocator = GST_ALLOCATOR_CAST(self);
  allocator->mem_type = "TestSpecial";
  allocator->mem_map = special_map;
  allocator->mem_unmap = special_unmap;
}

struct AdjustingPool {
  GstBufferPool parent;
  PoolAnswer answer;
};

struct AdjustingPoolClass {
  GstBufferPoolClass parent_class;
};

G_DEFINE_TYPE(AdjustingPool, adjusting_pool, GST_TYPE_BUFFER_POOL)

/// What a pool is configured with. Owner: borrows `caps`.
struct PoolParams {
  GstCaps* caps = nullptr;
  guint size_bytes = 0;
  guint min_buffers = 0;
  guint max_buffers = 0;
};

/// Changes `params` as the pool would have them; false where they are right as they are.
bool adjust(PoolAnswer answer, PoolParams& params) {
  const auto picture_bytes = static_cast<guint>(info_of(params.caps).size);
  const PoolParams before = params;
  switch (answer) {
    case PoolAnswer::larger:
      params.size_bytes = std::max(params.size_bytes, larger_size(picture_bytes));
      break;
    case PoolAnswer::more_buffers:
      params.min_buffers = std::max(params.min_buffers, many_buffers);
      break;
    case PoolAnswer::smaller:
      params.size_bytes = picture_bytes / 2;
      return true;
    case PoolAnswer::refused:
      return true;
  }
  return params.size_bytes != before.size_bytes || params.min_buffers != before.min_buffers;
}

gboolean adjusting_pool_set_config(GstBufferPool* pool, GstStructure* config) {
  PoolParams params;
  if (!gst_buffer_pool_config_get_params(config, &params.caps, &params.size_bytes,
                                         &params.min_buffers, &params.max_buffers) ||
      !params.caps)
    return FALSE;
  const bool adjusted = adjust(reinterpret_cast<AdjustingPool*>(pool)->answer, params);
  gst_buffer_pool_config_set_params(config, params.caps, params.size_bytes, params.min_buffers,
                                    params.max_buffers);
  return GST_BUFFER_POOL_CLASS(adjusting_pool_parent_class)->set_config(pool, config) && !adjusted;
}

void adjusting_pool_class_init(AdjustingPoolClass* klass) {
  klass->parent_class.set_config = adjusting_pool_set_config;
}

void adjusting_pool_init(AdjustingPool*) {}

template <typename T>
T* make(GType type) {
  return static_cast<T*>(gst_object_ref_sink(g_object_new(type, nullptr)));
}

}  // namespace

Ref<GstAllocator> make_special_allocator() {
  return Ref<GstAllocator>(make<GstAllocator>(special_allocator_get_type()));
}

Ref<GstAllocator> make_wrapping_allocator() {
  Ref<GstAllocator> allocator = make_special_allocator();
  GST_OBJECT_FLAG_SET(allocator.get(), GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
  return allocator;
}

Ref<GstBufferPool> make_adjusting_pool(PoolAnswer answer) {
  auto* pool = make<AdjustingPool>(adjusting_pool_get_type());
  pool->answer = answer;
  return Ref<GstBufferPool>(GST_BUFFER_POOL(pool));
}

unsigned larger_size(unsigned size_bytes) { return (size_bytes / 4096 + 2) * 4096; }

}  // namespace test
