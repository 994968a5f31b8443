// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/video_pool.h"

#include <algorithm>
#include <climits>

#include "gst/clean_pool.h"
#include "gst/debug.h"
#include "gst/pinned_allocator.h"

namespace gst_stripe {

namespace {

struct Offer {
  GstBufferPool* pool = nullptr;  // owned
  guint size_bytes = 0;
  guint min_buffers = 0;
  guint max_buffers = 0;
  GstAllocator* allocator = nullptr;  // owned
  GstAllocationParams params;

  explicit Offer(GstQuery* query) {
    gst_allocation_params_init(&params);
    if (gst_query_get_n_allocation_pools(query) > 0)
      gst_query_parse_nth_allocation_pool(query, 0, &pool, &size_bytes, &min_buffers, &max_buffers);
    if (gst_query_get_n_allocation_params(query) > 0)
      gst_query_parse_nth_allocation_param(query, 0, &allocator, &params);
  }
  Offer(const Offer&) = delete;
  ~Offer() {
    gst_clear_object(&pool);
    gst_clear_object(&allocator);
  }
};

// `own`: what output is to lie in, NULL for system memory. Page-locked memory of an element of ours is
// special only if it is what we would take ourselves.
bool is_special(const GstAllocator* allocator, const GstAllocator* own) {
  if (!allocator || g_strcmp0(allocator->mem_type, GST_ALLOCATOR_SYSMEM) == 0) return false;
  return !is_pinned_allocator(allocator) || have_same_cache(allocator, own);
}

// An allocator that wraps what others made (dmabuf, fd) can't allocate.
bool can_allocate(GstAllocator* allocator) {
  return !GST_OBJECT_FLAG_IS_SET(allocator, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

// The allocator that a pool is configured with, owned; NULL where it is none or the system's.
GstAllocator* special_allocator_of(GstBufferPool* pool, const GstAllocator* own,
                                   GstAllocationParams& params) {
  GstStructure* config = gst_buffer_pool_get_config(pool);
  GstAllocator* allocator = nullptr;
  gst_buffer_pool_config_get_allocator(config, &allocator, &params);
  allocator =
      is_special(allocator, own) ? static_cast<GstAllocator*>(gst_object_ref(allocator)) : nullptr;
  gst_structure_free(config);
  return allocator;
}

// One that many elements, ours too, offer for want of better.
bool is_of_a_plain_type(GstBufferPool* pool) {
  const GType type = G_OBJECT_TYPE(pool);
  return type == GST_TYPE_BUFFER_POOL || type == GST_TYPE_VIDEO_BUFFER_POOL || is_clean_pool(pool);
}

// A pool whose buffers somebody needs to be its own.
bool is_special(GstBufferPool* pool, const GstAllocator* own) {
  if (!is_of_a_plain_type(pool)) return true;
  GstAllocationParams params;
  GstAllocator* allocator = special_allocator_of(pool, own, params);
  const bool special = allocator != nullptr;
  gst_clear_object(&allocator);
  return special;
}

bool supports_video_meta(GstQuery* query) {
  return gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
}

// False also for pictures that set_caps will refuse.
bool parse_caps(GstQuery* query, GstCaps*& caps, GstVideoInfo& info) {
  gst_query_parse_allocation(query, &caps, nullptr);
  return caps && gst_video_info_from_caps(&info, caps) && GST_VIDEO_INFO_SIZE(&info) <= INT_MAX;
}

// Whether the pool takes the caps; one that is active with others refuses.
bool configure(GstBufferPool* pool, GstCaps* caps, const Offer& offer, bool with_video_meta) {
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, offer.size_bytes, offer.min_buffers,
                                    offer.max_buffers);
  if (with_video_meta && gst_buffer_pool_has_option(pool, GST_BUFFER_POOL_OPTION_VIDEO_META))
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (gst_buffer_pool_set_config(pool, config)) return true;
  // FALSE may also mean that the pool changed something, a stride or a size, that will do as well.
  config = gst_buffer_pool_get_config(pool);
  if (!gst_buffer_pool_config_validate_params(config, caps, offer.size_bytes, offer.min_buffers,
                                              offer.max_buffers)) {
    gst_structure_free(config);
    return false;
  }
  return gst_buffer_pool_set_config(pool, config);
}

void set_pool(GstQuery* query, GstBufferPool* pool, guint size_bytes, guint min_buffers,
              guint max_buffers) {
  if (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_set_nth_allocation_pool(query, 0, pool, size_bytes, min_buffers, max_buffers);
  else
    gst_query_add_allocation_pool(query, pool, size_bytes, min_buffers, max_buffers);
}

void set_allocator(GstQuery* query, GstAllocator* allocator, const GstAllocationParams& params) {
  if (gst_query_get_n_allocation_params(query) > 0)
    gst_query_set_nth_allocation_param(query, 0, allocator, &params);
  else
    gst_query_add_allocation_param(query, allocator, &params);
}

// The base configures the pool once more, from the query: with the size that was found to be needed,
// and the allocator that the pool already has.
void keep_pool(GstQuery* query, const Offer& offer, const GstAllocator* own) {
  set_pool(query, offer.pool, offer.size_bytes, offer.min_buffers, offer.max_buffers);
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  if (GstAllocator* allocator = special_allocator_of(offer.pool, own, params)) {
    set_allocator(query, allocator, params);
    gst_object_unref(allocator);
  }
}

}  // namespace

GstBufferPool* video_pool_new(GstCaps* caps, gsize size_bytes, guint min_buffers,
                              GstAllocator* allocator, const GstAllocationParams& params,
                              bool with_video_meta) {
  GstBufferPool* pool = clean_pool_new();
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(size_bytes), min_buffers, 0);
  gst_buffer_pool_config_set_allocator(config, allocator, &params);
  if (with_video_meta) gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (gst_buffer_pool_set_config(pool, config)) return pool;
  gst_object_unref(pool);
  return nullptr;
}

bool offer_allocation(GstQuery* query, GstAllocator* allocator, guint min_buffers) {
  GstCaps* caps = nullptr;
  GstVideoInfo info;
  if (!parse_caps(query, caps, info)) return false;
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  if (!allocator) return true;
  gboolean need_pool = FALSE;
  gst_query_parse_allocation(query, nullptr, &need_pool);
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  gst_query_add_allocation_param(query, allocator, &params);
  const gsize size_bytes = GST_VIDEO_INFO_SIZE(&info);
  GstBufferPool* pool =
      need_pool ? video_pool_new(caps, size_bytes, min_buffers, allocator, params, true) : nullptr;
  gst_query_add_allocation_pool(query, pool, static_cast<guint>(size_bytes), min_buffers, 0);
  gst_clear_object(&pool);
  return true;
}

bool decide_output_allocation(GstQuery* query, GstAllocator* allocator) {
  GstCaps* caps = nullptr;
  GstVideoInfo info;
  if (!parse_caps(query, caps, info)) return false;
  Offer offer(query);
  offer.size_bytes = std::max(offer.size_bytes, static_cast<guint>(GST_VIDEO_INFO_SIZE(&info)));
  const bool with_video_meta = supports_video_meta(query);
  if (offer.pool && is_special(offer.pool, allocator) &&
      configure(offer.pool, caps, offer, with_video_meta)) {
    GST_DEBUG("keeping downstream's special pool %" GST_PTR_FORMAT, offer.pool);
    keep_pool(query, offer, allocator);
    return true;
  }
  GstAllocator* chosen = is_special(offer.allocator, allocator) && can_allocate(offer.allocator)
                             ? offer.allocator
                             : allocator;
  GstBufferPool* pool = video_pool_new(caps, offer.size_bytes, offer.min_buffers, chosen,
                                       offer.params, with_video_meta);
  if (!pool) return false;
  set_pool(query, pool, offer.size_bytes, offer.min_buffers, 0);
  set_allocator(query, chosen, offer.params);
  gst_object_unref(pool);
  return true;
}

}  // namespace gst_stripe
