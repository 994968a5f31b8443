// SPDX-License-Identifier: LGPL-2.1-or-later
#include <climits>

#include "gst/frame_view.h"

namespace gst_stripe {

namespace {

stripe::ColorModel model_of(const GstVideoFormatInfo* format) {
  if (GST_VIDEO_FORMAT_INFO_IS_GRAY(format)) return stripe::ColorModel::gray;
  if (GST_VIDEO_FORMAT_INFO_IS_RGB(format)) return stripe::ColorModel::rgb;
  return stripe::ColorModel::yuv;
}

stripe::Component component_of(const GstVideoFormatInfo* format, int c) {
  return {
      static_cast<unsigned char>(format->plane[c]), static_cast<unsigned char>(format->poffset[c]),
      static_cast<unsigned char>(format->pixel_stride[c]),
      static_cast<unsigned char>(format->w_sub[c]), static_cast<unsigned char>(format->h_sub[c])};
}

// GStreamer doesn't list the padding byte of RGBx: it is the one of the four that is left.
stripe::Component padding_of(const stripe::PixelLayout& layout) {
  stripe::Component padding = layout.components[0];
  padding.offset_bytes = static_cast<unsigned char>(0 + 1 + 2 + 3);
  for (int c = 0; c < 3; ++c)
    padding.offset_bytes =
        static_cast<unsigned char>(padding.offset_bytes - layout.components[c].offset_bytes);
  return padding;
}

void set_luma_coefficients(GstVideoColorPrimaries primaries, stripe::Colorimetry& colorimetry) {
  GstVideoColorMatrix matrix = GST_VIDEO_COLOR_MATRIX_BT709;
  if (primaries == GST_VIDEO_COLOR_PRIMARIES_BT2020) matrix = GST_VIDEO_COLOR_MATRIX_BT2020;
  if (primaries == GST_VIDEO_COLOR_PRIMARIES_SMPTE170M ||
      primaries == GST_VIDEO_COLOR_PRIMARIES_SMPTE240M)
    matrix = GST_VIDEO_COLOR_MATRIX_BT601;
  gst_video_color_matrix_get_Kr_Kb(matrix, &colorimetry.kr, &colorimetry.kb);
}

bool is_full_range(const GstVideoInfo& info) {
  switch (info.colorimetry.range) {
    case GST_VIDEO_COLOR_RANGE_0_255:
      return true;
    case GST_VIDEO_COLOR_RANGE_16_235:
      return false;
    default:
      return !GST_VIDEO_INFO_IS_YUV(&info);
  }
}

}  // namespace

stripe::PixelLayout pixel_layout_of(const GstVideoInfo& info) {
  const GstVideoFormatInfo* format = info.finfo;
  stripe::PixelLayout layout{};
  layout.model = model_of(format);
  layout.plane_count = static_cast<unsigned char>(GST_VIDEO_FORMAT_INFO_N_PLANES(format));
  layout.color_count = layout.model == stripe::ColorModel::gray ? 1 : 3;
  for (int c = 0; c < layout.color_count; ++c) layout.components[c] = component_of(format, c);
  if (GST_VIDEO_FORMAT_INFO_HAS_ALPHA(format)) {
    layout.has_extra = true;
    layout.components[3] = component_of(format, GST_VIDEO_COMP_A);
  } else if (layout.model == stripe::ColorModel::rgb && layout.components[0].step_bytes == 4) {
    layout.has_extra = true;
    layout.components[3] = padding_of(layout);
  }
  return layout;
}

stripe::Colorimetry colorimetry_of(const GstVideoInfo& info) {
  stripe::Colorimetry colorimetry;
  const bool has_matrix =
      info.colorimetry.matrix != GST_VIDEO_COLOR_MATRIX_RGB &&
      gst_video_color_matrix_get_Kr_Kb(info.colorimetry.matrix, &colorimetry.kr, &colorimetry.kb);
  if (!has_matrix) set_luma_coefficients(info.colorimetry.primaries, colorimetry);
  colorimetry.full_range = is_full_range(info);
  return colorimetry;
}

stripe::FrameShape frame_shape_of(const GstVideoInfo& info) {
  // A width that overflows gives strides, and then sizes, that mean nothing.
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&info); ++p)
    if (GST_VIDEO_INFO_PLANE_STRIDE(&info, p) <= 0)
      throw FrameError("the caps describe rows that are too long to address; use a smaller width");
  if (GST_VIDEO_INFO_SIZE(&info) > INT_MAX)
    throw FrameError("frames of " + std::to_string(GST_VIDEO_INFO_SIZE(&info)) +
                     " bytes are larger than this element can handle; use a smaller picture");
  return {pixel_layout_of(info), GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info),
          static_cast<bool>(GST_VIDEO_INFO_IS_INTERLACED(&info))};
}

}  // namespace gst_stripe
