// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/clean_pool.h"

#include <algorithm>
#include <cstring>

namespace {

struct GstCudaStripePool {
  GstVideoBufferPool parent;
  GstVideoInfo info;  // of the caps
};

struct GstCudaStripePoolClass {
  GstVideoBufferPoolClass parent_class;
};

G_DEFINE_TYPE(GstCudaStripePool, clean_pool, GST_TYPE_VIDEO_BUFFER_POOL)

GstCudaStripePool* to_clean(GstBufferPool* pool) {
  return reinterpret_cast<GstCudaStripePool*>(pool);
}

// All of a buffer's memory, its prefix and padding too, while this lives.
class WholeBuffer {
 public:
  explicit WholeBuffer(GstBuffer* buffer) : buffer_(buffer) {
    size_ = gst_buffer_get_sizes(buffer, &offset_, &max_size_);
    gst_buffer_resize(buffer, -static_cast<gssize>(offset_), static_cast<gssize>(max_size_));
    if (!gst_buffer_map(buffer, &map_, GST_MAP_WRITE)) map_.data = nullptr;
  }
  WholeBuffer(const WholeBuffer&) = delete;
  ~WholeBuffer() {
    if (map_.data) gst_buffer_unmap(buffer_, &map_);
    gst_buffer_resize(buffer_, static_cast<gssize>(offset_), static_cast<gssize>(size_));
  }

  // From where the last call ended, or from the beginning, up to `begin`; then `bytes` are passed over.
  void clear_up_to(gsize begin, gsize bytes) {
    begin = std::min(begin, max_size_);
    if (map_.data && begin > done_) std::memset(map_.data + done_, 0, begin - done_);
    done_ = std::max(done_, begin + bytes);
  }

  void clear_rest() { clear_up_to(max_size_, 0); }

  gsize offset() const { return offset_; }

 private:
  GstBuffer* const buffer_;
  GstMapInfo map_{};
  gsize size_ = 0;
  gsize offset_ = 0;
  gsize max_size_ = 0;
  gsize done_ = 0;
};

void clear_plane(WholeBuffer& whole, const GstVideoInfo& info, guint component, gsize offset,
                 gsize stride) {
  const gsize row_bytes = static_cast<gsize>(GST_VIDEO_INFO_COMP_WIDTH(&info, component)) *
                          static_cast<gsize>(GST_VIDEO_INFO_COMP_PSTRIDE(&info, component));
  const auto rows = static_cast<gsize>(GST_VIDEO_INFO_COMP_HEIGHT(&info, component));
  for (gsize row = 0; row < rows; ++row) whole.clear_up_to(offset + row * stride, row_bytes);
}

// The planes that GStreamer's pools lay out follow each other, in the order of their components.
void clear_padding(GstBuffer* buffer, const GstVideoInfo& info) {
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  WholeBuffer whole(buffer);
  guint planes = 0;
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS(&info); ++c) {
    const guint p = GST_VIDEO_INFO_COMP_PLANE(&info, c);
    if (p < planes) continue;  // it lies between those of the component before
    planes = p + 1;
    clear_plane(whole, info, c, whole.offset() + (meta ? meta->offset[p] : info.offset[p]),
                static_cast<gsize>(meta ? meta->stride[p] : info.stride[p]));
  }
  whole.clear_rest();
}

gboolean set_config(GstBufferPool* pool, GstStructure* config) noexcept {
  GstCaps* caps = nullptr;
  gst_buffer_pool_config_get_params(config, &caps, nullptr, nullptr, nullptr);
  if (!caps || !gst_video_info_from_caps(&to_clean(pool)->info, caps)) return FALSE;
  return GST_BUFFER_POOL_CLASS(clean_pool_parent_class)->set_config(pool, config);
}

GstFlowReturn alloc_buffer(GstBufferPool* pool, GstBuffer** buffer,
                           GstBufferPoolAcquireParams* params) noexcept {
  const GstFlowReturn flow =
      GST_BUFFER_POOL_CLASS(clean_pool_parent_class)->alloc_buffer(pool, buffer, params);
  if (flow == GST_FLOW_OK) clear_padding(*buffer, to_clean(pool)->info);
  return flow;
}

void clean_pool_init(GstCudaStripePool* self) { gst_video_info_init(&self->info); }

void clean_pool_class_init(GstCudaStripePoolClass* klass) {
  GstBufferPoolClass* pool = GST_BUFFER_POOL_CLASS(klass);
  pool->set_config = set_config;
  pool->alloc_buffer = alloc_buffer;
}

}  // namespace

namespace gst_stripe {

GstBufferPool* clean_pool_new() {
  return GST_BUFFER_POOL_CAST(gst_object_ref_sink(g_object_new(clean_pool_get_type(), nullptr)));
}

bool is_clean_pool(GstBufferPool* pool) {
  return G_TYPE_CHECK_INSTANCE_TYPE(pool, clean_pool_get_type());
}

}  // namespace gst_stripe
