// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pool_source.h"

#include <gst/base/gstpushsrc.h>
#include <gst/video/video.h>

#include <algorithm>
#include <cstring>

namespace {

struct PoolSource {
  GstPushSrc parent;
  GstVideoInfo info;
  guint64 frames;
};

struct PoolSourceClass {
  GstPushSrcClass parent;
};

G_DEFINE_TYPE(PoolSource, pool_source, GST_TYPE_PUSH_SRC)

PoolSource* as_source(gpointer object) {
  return G_TYPE_CHECK_INSTANCE_CAST(object, pool_source_get_type(), PoolSource);
}

gboolean start(GstBaseSrc* base) {
  as_source(base)->frames = 0;
  return TRUE;
}

gboolean set_caps(GstBaseSrc* base, GstCaps* caps) {
  PoolSource* self = as_source(base);
  if (!gst_video_info_from_caps(&self->info, caps)) return FALSE;
  // Where there is no pool, buffers have this size.
  gst_base_src_set_blocksize(base, static_cast<guint>(GST_VIDEO_INFO_SIZE(&self->info)));
  return TRUE;
}

// The base has taken the buffer from the pool that it has chosen: the one that downstream proposes.
GstFlowReturn fill(GstPushSrc* base, GstBuffer* buffer) {
  PoolSource* self = as_source(base);
  GstMapInfo map;
  if (!gst_buffer_map(buffer, &map, GST_MAP_WRITE)) return GST_FLOW_ERROR;
  const auto line = static_cast<gsize>(GST_VIDEO_INFO_PLANE_STRIDE(&self->info, 0));
  std::memset(map.data, static_cast<int>(self->frames % 251), std::min(line, map.size));
  gst_buffer_unmap(buffer, &map);
  GST_BUFFER_PTS(buffer) = gst_util_uint64_scale(self->frames, GST_SECOND, 30);
  GST_BUFFER_DURATION(buffer) = GST_SECOND / 30;
  ++self->frames;
  return GST_FLOW_OK;
}

void pool_source_class_init(PoolSourceClass* klass) {
  static GstStaticPadTemplate source_template =
      GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS("video/x-raw"));
  GstElementClass* element = GST_ELEMENT_CLASS(klass);
  gst_element_class_add_static_pad_template(element, &source_template);
  gst_element_class_set_static_metadata(element, "Source of downstream's buffers", "Source/Video",
                                        "Writes a line into each buffer of the pool it is offered",
                                        "cudastripetransform");
  GstBaseSrcClass* base = GST_BASE_SRC_CLASS(klass);
  base->start = start;
  base->set_caps = set_caps;
  GST_PUSH_SRC_CLASS(klass)->fill = fill;
}

void pool_source_init(PoolSource* self) {
  gst_video_info_init(&self->info);
  gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
}

}  // namespace

namespace benchmark {

void register_pool_source() {
  gst_element_register(nullptr, "benchmarkpoolsource", GST_RANK_NONE, pool_source_get_type());
}

}  // namespace benchmark
