// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <mutex>
#include <vector>

#include "gst/support.h"

namespace test {

/// Deep copies of the frames that pass a pad, each with the caps that it came with.
///
/// Owner:  outlives the streaming of the pad's element.
/// Thread: the streaming thread fills it; read when that has ended.
class Recorder {
 public:
  Recorder(GstElement* element, const char* pad_name) {
    const Ref<GstPad> pad(gst_element_get_static_pad(element, pad_name));
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, record, this, nullptr);
  }
  Recorder(const Recorder&) = delete;

  std::vector<Ref<GstBuffer>> frames;
  std::vector<Ref<GstCaps>> caps;

 private:
  static GstPadProbeReturn record(GstPad* pad, GstPadProbeInfo* info, gpointer self) {
    auto* recorder = static_cast<Recorder*>(self);
    const std::lock_guard lock(recorder->mutex_);
    recorder->frames.emplace_back(gst_buffer_copy_deep(GST_PAD_PROBE_INFO_BUFFER(info)));
    recorder->caps.emplace_back(gst_pad_get_current_caps(pad));
    return GST_PAD_PROBE_OK;
  }

  std::mutex mutex_;
};

}  // namespace test
