// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/frames.h"

#include <cstdlib>
#include <cstring>

namespace test {
namespace {

const Format& format_of(const GstVideoInfo& info) {
  return format_named(GST_VIDEO_INFO_NAME(&info));
}

Colors rgb_colors(GstVideoColorPrimaries primaries, bool full_range) {
  if (primaries == GST_VIDEO_COLOR_PRIMARIES_BT2020) return {0.2627, 0.0593, full_range};
  if (primaries == GST_VIDEO_COLOR_PRIMARIES_SMPTE170M ||
      primaries == GST_VIDEO_COLOR_PRIMARIES_SMPTE240M)
    return {0.299, 0.114, full_range};
  return {0.2126, 0.0722, full_range};
}

/// Where plane `i` begins in the picture's block: the lowest address that belongs to it.
std::ptrdiff_t plane_start(const GuardedImage& image, int i) {
  const Picture& picture = image.picture();
  const auto& plane = picture.planes[i];
  const int last_row = row_count(*picture.format, i, picture.height) - 1;
  const std::ptrdiff_t first = plane.data - image.memory();
  return plane.stride < 0 ? first + plane.stride * last_row : first;
}

void release_image(gpointer keeper) { delete static_cast<std::shared_ptr<GuardedImage>*>(keeper); }

GstMemory* wrap_block(const std::shared_ptr<GuardedImage>& image, GstMemoryFlags flags) {
  return gst_memory_new_wrapped(flags, image->memory(), image->size_bytes(), 0, image->size_bytes(),
                                new std::shared_ptr<GuardedImage>(image), release_image);
}

/// On the heap and of exactly that size, so that ASan sees the first byte behind it.
GstMemory* wrap_copy(const std::uint8_t* from, std::size_t size_bytes, GstMemoryFlags flags) {
  void* copy = std::malloc(size_bytes);
  std::memcpy(copy, from, size_bytes);
  return gst_memory_new_wrapped(flags, copy, size_bytes, 0, size_bytes, copy, std::free);
}

void append_pieces(GstBuffer* buffer, const GuardedImage& image, std::vector<int> cuts,
                   GstMemoryFlags flags) {
  cuts.push_back(static_cast<int>(image.size_bytes()));
  int begin = 0;
  for (const int end : cuts) {
    gst_buffer_append_memory(buffer, wrap_copy(image.memory() + begin, end - begin, flags));
    begin = end;
  }
}

/// A tight picture of the caller's own for an oracle to write.
struct Canvas {
  explicit Canvas(const ConstPicture& like)
      : random(0), image(*like.format, like.width, like.height, Geometry{}, random) {}
  Random random;
  GuardedImage image;
};

}  // namespace

GstVideoInfo info_of(const GstCaps* caps) {
  GstVideoInfo info;
  fail_unless(gst_video_info_from_caps(&info, caps));
  return info;
}

Colors colors_of(const GstVideoInfo& info) {
  const bool full_range = info.colorimetry.range != GST_VIDEO_COLOR_RANGE_16_235;
  if (GST_VIDEO_INFO_IS_RGB(&info)) return rgb_colors(info.colorimetry.primaries, full_range);
  Colors colors{0.2126, 0.0722, full_range};
  gst_video_color_matrix_get_Kr_Kb(info.colorimetry.matrix, &colors.kr, &colors.kb);
  return colors;
}

Geometry default_geometry(const GstVideoInfo& info) {
  const Format& format = format_of(info);
  Geometry geometry;
  std::size_t end = 0;
  for (int i = 0; i < format.planes; ++i) {
    const int bytes = row_bytes(format, i, info.width);
    const int rows = row_count(format, i, info.height);
    geometry.planes[i].before = static_cast<int>(info.offset[i] - end);
    geometry.planes[i].padding = info.stride[i] - bytes;
    end = info.offset[i] + static_cast<std::size_t>(info.stride[i]) * (rows - 1) + bytes;
  }
  geometry.planes[format.planes - 1].after = static_cast<int>(info.size - end);
  return geometry;
}

std::string Frame::damage() const {
  std::string text = image->any_damage();
  if (!text.empty()) return text;
  std::vector<std::uint8_t> now(image->size_bytes());
  if (gst_buffer_extract(buffer.get(), 0, now.data(), now.size()) != now.size())
    return "the input buffer shrank";
  const bool same = std::memcmp(now.data(), image->memory(), now.size()) == 0;
  return same ? "" : "a piece of the input was written";
}

void add_meta(GstBuffer* buffer, const GuardedImage& image) {
  const Picture& picture = image.picture();
  gsize offsets[GST_VIDEO_MAX_PLANES] = {};
  gint strides[GST_VIDEO_MAX_PLANES] = {};
  for (int i = 0; i < picture.format->planes; ++i) {
    offsets[i] = picture.planes[i].data - image.memory();
    strides[i] = static_cast<gint>(picture.planes[i].stride);
  }
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE,
                                 gst_video_format_from_string(picture.format->name), picture.width,
                                 picture.height, picture.format->planes, offsets, strides);
}

Frame wrap(std::shared_ptr<GuardedImage> image, const Wrapping& wrapping) {
  const auto flags = wrapping.read_only ? GST_MEMORY_FLAG_READONLY : static_cast<GstMemoryFlags>(0);
  Ref<GstBuffer> buffer(gst_buffer_new());
  if (wrapping.cuts.empty())
    gst_buffer_append_memory(buffer.get(), wrap_block(image, flags));
  else
    append_pieces(buffer.get(), *image, wrapping.cuts, flags);
  if (wrapping.meta) add_meta(buffer.get(), *image);
  return {std::move(image), std::move(buffer)};
}

Frame make_frame(const GstCaps* caps, const Geometry& geometry, Random& random,
                 const Wrapping& wrapping) {
  const GstVideoInfo info = info_of(caps);
  return wrap(
      std::make_shared<GuardedImage>(format_of(info), info.width, info.height, geometry, random),
      wrapping);
}

Frame make_plain_frame(const GstCaps* caps, Random& random) {
  return make_frame(caps, default_geometry(info_of(caps)), random, {.meta = false});
}

std::vector<int> plane_cuts(const GuardedImage& image) {
  std::vector<int> cuts;
  for (int i = 1; i < image.picture().format->planes; ++i)
    cuts.push_back(static_cast<int>(plane_start(image, i)));
  return cuts;
}

MappedPicture::MappedPicture(GstBuffer* buffer, const GstVideoInfo& info) {
  fail_unless(gst_video_frame_map(&frame_, &info, buffer, GST_MAP_READ), "cannot map the output");
}

MappedPicture::~MappedPicture() { gst_video_frame_unmap(&frame_); }

ConstPicture MappedPicture::view() const {
  ConstPicture picture{&format_of(frame_.info), frame_.info.width, frame_.info.height, {}};
  for (int i = 0; i < picture.format->planes; ++i)
    picture.planes[i] = {static_cast<const std::uint8_t*>(frame_.data[i]), frame_.info.stride[i]};
  return picture;
}

std::string mistake(GstBuffer* output, const GstCaps* caps, const ConstPicture& input,
                    Effect effect) {
  const GstVideoInfo info = info_of(caps);
  const MappedPicture got(output, info);
  Canvas canvas(input);
  exact(effect, colors_of(info), input, canvas.image.picture());
  std::string text = difference(canvas.image.view(), got.view());
  if (!text.empty()) return std::string(effect_name(effect)) + " exactly: " + text;
  in_double(effect, colors_of(info), input, canvas.image.picture());
  text = difference(canvas.image.view(), got.view(), 1);
  return text.empty() ? "" : std::string(effect_name(effect)) + " in double: " + text;
}

void set_effect(GstElement* element, Effect effect) {
  set_nick(element, "effect", effect_name(effect));
}

}  // namespace test
