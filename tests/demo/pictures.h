// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <mutex>
#include <string>

#include "pipeline.h"

namespace demo {

/// Takes one frame before and after an element: by number at its sink pad, then by that frame's
/// timestamp at its source pad, so that the two belong together whatever is dropped on the way.
///
/// Thread:  the frames are taken in streaming threads; ask for them when the pipeline has stopped.
class FramePair {
 public:
  /// Waits for frame `number`, counted from 1, of `element`, which must not outlive this.
  FramePair(GstElement* element, int number);
  FramePair(const FramePair&) = delete;

  /// Frames that came to the element so far.
  /// Thread:  any.
  int seen() const;

  /// Errors:  both throw std::runtime_error if the frame never came.
  GstSample* before() const;
  GstSample* after() const;

 private:
  void add_probe(GstElement* element, const char* pad, GstPadProbeCallback callback);
  void take_input(GstPad* pad, GstBuffer* buffer);
  void take_output(GstPad* pad, GstBuffer* buffer);

  const int number_;
  mutable std::mutex mutex_;
  int seen_ = 0;
  GstClockTime time_ = GST_CLOCK_TIME_NONE;
  Ref<GstSample> before_;
  Ref<GstSample> after_;
};

/// One picture of two, which have the same size.
/// Errors:  throws std::runtime_error.
Ref<GstSample> side_by_side(GstSample* left, GstSample* right);

/// Errors:  throws std::runtime_error if the file can't be written, or pngenc is missing.
void write_png(GstSample* picture, const std::string& path);

}  // namespace demo
