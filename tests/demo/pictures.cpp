// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pictures.h"

#include <gst/video/video.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace demo {

namespace {

// Between two pictures, or the bars of one would seem to go on in the other.
constexpr guint gap = 16;
constexpr std::uint8_t white = 0xff;

// A deep copy: holding the pool's own buffer would change what is being shown.
Ref<GstSample> copy_frame(GstPad* pad, GstBuffer* buffer) {
  const Ref<GstBuffer> copy(gst_buffer_copy_deep(buffer));
  const Ref<GstCaps> caps(gst_pad_get_current_caps(pad));
  return Ref<GstSample>(gst_sample_new(copy.get(), caps.get(), nullptr, nullptr));
}

Ref<GstSample> convert(GstSample* picture, const char* caps_text) {
  const Ref<GstCaps> caps(gst_caps_from_string(caps_text));
  GError* error = nullptr;
  Ref<GstSample> converted(gst_video_convert_sample(picture, caps.get(), 10 * GST_SECOND, &error));
  if (!converted)
    throw std::runtime_error(std::string("no ") + caps_text + " of the frame: " + take_text(error));
  return converted;
}

// An RGB picture, mapped.
class MappedPicture {
 public:
  MappedPicture(GstCaps* caps, GstBuffer* buffer, GstMapFlags flags) {
    GstVideoInfo info;
    if (!gst_video_info_from_caps(&info, caps) ||
        !gst_video_frame_map(&frame_, &info, buffer, flags))
      throw std::runtime_error("a picture can't be mapped");
  }
  MappedPicture(const MappedPicture&) = delete;
  ~MappedPicture() { gst_video_frame_unmap(&frame_); }

  guint width() const { return static_cast<guint>(GST_VIDEO_FRAME_WIDTH(&frame_)); }
  guint height() const { return static_cast<guint>(GST_VIDEO_FRAME_HEIGHT(&frame_)); }
  std::size_t row_bytes() const { return std::size_t{3} * width(); }
  std::uint8_t* row(guint y) {
    return static_cast<std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame_, 0)) +
           static_cast<std::ptrdiff_t>(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame_, 0);
  }

 private:
  GstVideoFrame frame_;
};

}  // namespace

FramePair::FramePair(GstElement* element, int number) : number_(number) {
  add_probe(element, "sink", [](GstPad* pad, GstPadProbeInfo* info, gpointer self) {
    static_cast<FramePair*>(self)->take_input(pad, GST_PAD_PROBE_INFO_BUFFER(info));
    return GST_PAD_PROBE_OK;
  });
  add_probe(element, "src", [](GstPad* pad, GstPadProbeInfo* info, gpointer self) {
    static_cast<FramePair*>(self)->take_output(pad, GST_PAD_PROBE_INFO_BUFFER(info));
    return GST_PAD_PROBE_OK;
  });
}

void FramePair::add_probe(GstElement* element, const char* pad, GstPadProbeCallback callback) {
  const Ref<GstPad> owner(gst_element_get_static_pad(element, pad));
  gst_pad_add_probe(owner.get(), GST_PAD_PROBE_TYPE_BUFFER, callback, this, nullptr);
}

int FramePair::seen() const {
  const std::lock_guard lock(mutex_);
  return seen_;
}

GstSample* FramePair::before() const {
  if (!before_) throw std::runtime_error("no frame " + std::to_string(number_) + " came in");
  return before_.get();
}

GstSample* FramePair::after() const {
  if (!after_) throw std::runtime_error("frame " + std::to_string(number_) + " did not come out");
  return after_.get();
}

void FramePair::take_input(GstPad* pad, GstBuffer* buffer) {
  const std::lock_guard lock(mutex_);
  if (++seen_ != number_) return;
  time_ = GST_BUFFER_PTS(buffer);
  before_ = copy_frame(pad, buffer);
}

void FramePair::take_output(GstPad* pad, GstBuffer* buffer) {
  const std::lock_guard lock(mutex_);
  if (before_ && !after_ && GST_BUFFER_PTS(buffer) == time_) after_ = copy_frame(pad, buffer);
}

Ref<GstSample> side_by_side(GstSample* left, GstSample* right) {
  const Ref<GstSample> left_rgb = convert(left, "video/x-raw,format=RGB");
  const Ref<GstSample> right_rgb = convert(right, "video/x-raw,format=RGB");
  MappedPicture from_left(gst_sample_get_caps(left_rgb.get()),
                          gst_sample_get_buffer(left_rgb.get()), GST_MAP_READ);
  MappedPicture from_right(gst_sample_get_caps(right_rgb.get()),
                           gst_sample_get_buffer(right_rgb.get()), GST_MAP_READ);
  const std::size_t row_bytes = from_left.row_bytes();
  if (from_right.width() != from_left.width() || from_right.height() != from_left.height())
    throw std::runtime_error("the frame changed its size");

  GstVideoInfo info;
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_RGB, 2 * from_left.width() + gap,
                            from_left.height());
  const Ref<GstCaps> caps(gst_video_info_to_caps(&info));
  const Ref<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, info.size, nullptr));
  gst_buffer_memset(buffer.get(), 0, white, info.size);
  {
    MappedPicture both(caps.get(), buffer.get(), GST_MAP_WRITE);
    for (guint y = 0; y < from_left.height(); ++y) {
      std::memcpy(both.row(y), from_left.row(y), row_bytes);
      std::memcpy(both.row(y) + both.row_bytes() - row_bytes, from_right.row(y), row_bytes);
    }
  }
  return Ref<GstSample>(gst_sample_new(buffer.get(), caps.get(), nullptr, nullptr));
}

void write_png(GstSample* picture, const std::string& path) {
  const Ref<GstSample> png = convert(picture, "image/png");
  GstBuffer* buffer = gst_sample_get_buffer(png.get());
  GstMapInfo map;
  if (!gst_buffer_map(buffer, &map, GST_MAP_READ))
    throw std::runtime_error("the PNG can't be read");
  GError* error = nullptr;
  const bool written = g_file_set_contents(path.c_str(), reinterpret_cast<const gchar*>(map.data),
                                           static_cast<gssize>(map.size), &error) != FALSE;
  gst_buffer_unmap(buffer, &map);
  if (!written) throw std::runtime_error(take_text(error));
}

}  // namespace demo
