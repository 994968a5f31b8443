// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "gst/support.h"
#include "support/guarded_image.h"
#include "support/reference.h"

// GStreamer buffers around the tests' guarded pictures, and the comparison of what comes out with
// the oracles.

namespace test {

/// GStreamer's own reading of caps.
GstVideoInfo info_of(const GstCaps* caps);

/// What the oracles need to know of the caps: luma coefficients of the matrix, for RGB of the
/// primaries (BT.2020; 170M and 240M as BT.601; otherwise BT.709), and the range.
Colors colors_of(const GstVideoInfo& info);

/// The geometry that buffers without GstVideoMeta must have.
Geometry default_geometry(const GstVideoInfo& info);

/// An input frame: a guarded picture and a buffer that holds its bytes.
///
/// Owner: the buffer's memory keeps what it needs alive, also after the frame is gone.
struct Frame {
  std::shared_ptr<GuardedImage> image;
  Ref<GstBuffer> buffer;

  /// Hands the buffer over and keeps a reference for `damage`.
  Ref<GstBuffer> share() const { return Ref<GstBuffer>(gst_buffer_ref(buffer.get())); }

  /// What was written to the input, in words; empty if nothing.
  std::string damage() const;
};

/// How a picture is put into GstMemories.
struct Wrapping {
  bool meta = true;            ///< GstVideoMeta with the picture's offsets and strides
  bool read_only = true;       ///< GST_MEMORY_FLAG_READONLY
  std::vector<int> cuts = {};  ///< bytes of the picture's block at which a new GstMemory begins
};

/// A buffer around the picture's own memory; with cuts, around copies of the pieces, each in a heap
/// block of exactly its size.
Frame wrap(std::shared_ptr<GuardedImage> image, const Wrapping& wrapping = {});

/// A random picture for these caps, laid out as geometry says.
Frame make_frame(const GstCaps* caps, const Geometry& geometry, Random& random,
                 const Wrapping& wrapping = {});

/// A random picture in GStreamer's default layout, without meta.
Frame make_plain_frame(const GstCaps* caps, Random& random);

/// Where each plane but the first begins in the picture's block.
std::vector<int> plane_cuts(const GuardedImage& image);

/// Attaches the picture's layout to `buffer` as GstVideoMeta.
void add_meta(GstBuffer* buffer, const GuardedImage& image);

/// The picture in a buffer, mapped as GStreamer maps it.
class MappedPicture {
 public:
  MappedPicture(GstBuffer* buffer, const GstVideoInfo& info);
  MappedPicture(const MappedPicture&) = delete;
  ~MappedPicture();

  ConstPicture view() const;

 private:
  GstVideoFrame frame_;
};

/// How `output` differs from what the effect makes of `input`, in words, by both oracles; empty if
/// it does not.
std::string mistake(GstBuffer* output, const GstCaps* caps, const ConstPicture& input,
                    Effect effect);

/// The nick of an effect is its name.
void set_effect(GstElement* element, Effect effect);

}  // namespace test
