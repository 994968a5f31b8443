// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/frame_view.h"

#include <algorithm>
#include <string>

namespace gst_stripe {

// Where a plane lies in the buffer, checked.
struct FrameView::PlanePlace {
  gsize first_row;     // bytes from the buffer's start
  gsize begin;         // of the lowest byte; differs from first_row where rows go up in memory
  gsize extent_bytes;  // from there
  gint stride;
  guint memory_index;
  gsize skip;  // from the memory's start to `begin`
  bool crosses_memories;
};

namespace {

struct PlaneLine {
  gsize offset;
  gint stride;
};

[[noreturn]] void refuse(const std::string& what) {
  throw FrameError(what + "; fix the element or application that made the buffer");
}

std::string name_of(GstVideoFormat format) {
  const gchar* name =
      format == GST_VIDEO_FORMAT_UNKNOWN ? nullptr : gst_video_format_to_string(format);
  return name ? name : "unknown";
}

void check_meta(const GstVideoMeta& meta, const GstVideoInfo& info) {
  if (meta.format != GST_VIDEO_INFO_FORMAT(&info))
    refuse("the buffer's GstVideoMeta says format " + name_of(meta.format) + ", the caps say " +
           name_of(GST_VIDEO_INFO_FORMAT(&info)));
  if (meta.n_planes < GST_VIDEO_INFO_N_PLANES(&info))
    refuse("the buffer's GstVideoMeta has fewer planes than its format");
  if (meta.width < static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info)) ||
      meta.height < static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info)))
    refuse("the buffer's GstVideoMeta is for a picture of " + std::to_string(meta.width) + "x" +
           std::to_string(meta.height) + ", smaller than the caps say");
}

PlaneLine line_of(GstBuffer* buffer, const GstVideoInfo& info, int plane) {
  if (const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer)) {
    check_meta(*meta, info);
    return {meta->offset[plane], meta->stride[plane]};
  }
  return {GST_VIDEO_INFO_PLANE_OFFSET(&info, plane), GST_VIDEO_INFO_PLANE_STRIDE(&info, plane)};
}

void check_stride(const PlaneLine& line, const stripe::PlaneArea& area, int plane) {
  const gint64 stride = line.stride < 0 ? -gint64{line.stride} : gint64{line.stride};
  if (area.rows > 1 && static_cast<gsize>(stride) < area.row_bytes)
    refuse("plane " + std::to_string(plane) + " has a stride of " + std::to_string(line.stride) +
           " bytes for rows of " + std::to_string(area.row_bytes));
}

[[noreturn]] void refuse_size(int plane, const PlaneLine& line, gsize needed_bytes,
                              gsize buffer_bytes) {
  refuse("plane " + std::to_string(plane) + " (offset " + std::to_string(line.offset) +
         ", stride " + std::to_string(line.stride) + ") covers " + std::to_string(needed_bytes) +
         " bytes and does not fit into the buffer of " + std::to_string(buffer_bytes));
}

}  // namespace

FrameView::FrameView(GstBuffer* buffer, const GstVideoInfo& info, GstMapFlags flags)
    : buffer_(buffer) {
  const stripe::PixelLayout layout = pixel_layout_of(info);
  PlanePlace places[stripe::max_planes];
  for (int p = 0; p < layout.plane_count; ++p) {
    places[p] = find_plane(info, layout, p);
    rows_go_down_ &= places[p].stride >= 0;
  }
  const bool crosses = std::any_of(places, places + layout.plane_count,
                                   [](const PlanePlace& place) { return place.crosses_memories; });
  try {
    if (crosses) {
      map_whole(places, layout.plane_count, flags);
      return;
    }
    for (int p = 0; p < layout.plane_count; ++p) map_plane(places[p], p, flags);
  } catch (...) {
    unmap();
    throw;
  }
}

FrameView::~FrameView() { unmap(); }

FrameView::PlanePlace FrameView::find_plane(const GstVideoInfo& info,
                                            const stripe::PixelLayout& layout, int plane) {
  const PlaneLine line = line_of(buffer_, info, plane);
  const stripe::PlaneArea area = stripe::plane_area(
      layout, plane, {0, 0, GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info)});
  check_stride(line, area, plane);
  PlanePlace place{};
  place.first_row = line.offset;
  place.stride = line.stride;
  place.extent_bytes = stripe::extent_bytes(area, line.stride);
  const gsize above = line.stride < 0 ? place.extent_bytes - area.row_bytes : 0;
  const gsize buffer_bytes = gst_buffer_get_size(buffer_);
  if (line.offset < above || line.offset - above > buffer_bytes ||
      place.extent_bytes > buffer_bytes - (line.offset - above))
    refuse_size(plane, line, place.extent_bytes, buffer_bytes);
  place.begin = line.offset - above;
  guint memories = 0;
  if (!gst_buffer_find_memory(buffer_, place.begin, place.extent_bytes, &place.memory_index,
                              &memories, &place.skip))
    refuse_size(plane, line, place.extent_bytes, buffer_bytes);
  place.crosses_memories = memories > 1;
  return place;
}

const GstMapInfo& FrameView::map_memory(GstMemory* memory, GstMapFlags flags) {
  for (GstMapInfo& map : maps_) {
    if (map.memory == memory) return map;
    if (map.memory) continue;
    if (!gst_memory_map(memory, &map, flags)) {
      map.memory = nullptr;
      refuse(std::string("memory of allocator ") +
             (memory->allocator ? memory->allocator->mem_type : "unknown") +
             " cannot be mapped for the CPU");
    }
    return map;
  }
  refuse("the buffer has more memories than planes");
}

void FrameView::map_plane(const PlanePlace& place, int plane, GstMapFlags flags) {
  GstMemory* memory = gst_buffer_peek_memory(buffer_, place.memory_index);
  const GstMapInfo& map = map_memory(memory, flags);
  auto* begin = reinterpret_cast<std::byte*>(map.data) + place.skip;
  image_.planes[plane] = {begin + (place.first_row - place.begin), place.stride};
  ranges_[plane] = {memory, begin, place.extent_bytes};
}

void FrameView::map_whole(const PlanePlace* places, int count, GstMapFlags flags) {
  if (!gst_buffer_map(buffer_, &whole_map_, flags)) {
    whole_map_.memory = nullptr;
    refuse("the buffer's memories cannot be mapped together for the CPU");
  }
  for (int p = 0; p < count; ++p)
    image_.planes[p] = {reinterpret_cast<std::byte*>(whole_map_.data) + places[p].first_row,
                        places[p].stride};
}

bool FrameView::is_all_from(const GstAllocator* allocator) const noexcept {
  if (!maps_[0].memory) return false;
  return std::all_of(std::begin(maps_), std::end(maps_), [allocator](const GstMapInfo& map) {
    return !map.memory || map.memory->allocator == allocator;
  });
}

void FrameView::unmap() noexcept {
  for (GstMapInfo& map : maps_)
    if (map.memory) gst_memory_unmap(map.memory, &map);
  if (whole_map_.memory) gst_buffer_unmap(buffer_, &whole_map_);
}

}  // namespace gst_stripe
