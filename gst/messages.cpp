// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/messages.h"

#include <atomic>

#include "cuda/error.h"
#include "gst/color_properties.h"
#include "gst/debug.h"
#include "gst/frame_view.h"

namespace gst_stripe {

namespace {

void post_device_error(GstElement* element, const stripe::DeviceError& error) {
  switch (error.kind()) {
    case stripe::DeviceErrorKind::not_found:
      GST_ELEMENT_ERROR(element, RESOURCE, NOT_FOUND, ("No usable CUDA device: %s.", error.what()),
                        ("set backend=host to run on the CPU, or cuda-device-id to a device that "
                         "can be used"));
      return;
    case stripe::DeviceErrorKind::out_of_device_memory:
      GST_ELEMENT_ERROR(element, RESOURCE, NO_SPACE_LEFT,
                        ("Out of device memory: %s.", error.what()),
                        ("use smaller frames, or free memory of the device"));
      return;
    case stripe::DeviceErrorKind::out_of_pinned_memory:
      GST_ELEMENT_ERROR(element, RESOURCE, NO_SPACE_LEFT,
                        ("Out of page-locked memory: %s.", error.what()),
                        ("use smaller frames or fewer buffers, or raise the memory limit of this "
                         "process or container"));
      return;
    case stripe::DeviceErrorKind::refused:
    case stripe::DeviceErrorKind::failed:
      GST_ELEMENT_ERROR(element, LIBRARY, FAILED, ("The device failed: %s.", error.what()),
                        ("if it happens again: restart the process, look at the kernel log for Xid "
                         "messages, or set backend=host"));
      return;
  }
}

}  // namespace

void post_error(GstElement* element, const std::exception& error) {
  if (const auto* device_error = dynamic_cast<const stripe::DeviceError*>(&error))
    post_device_error(element, *device_error);
  else if (const auto* frame_error = dynamic_cast<const FrameError*>(&error))
    GST_ELEMENT_ERROR(element, STREAM, FORMAT, ("Unusable frame: %s.", frame_error->what()),
                      (nullptr));
  else if (const auto* settings_error = dynamic_cast<const SettingsError*>(&error))
    GST_ELEMENT_ERROR(element, RESOURCE, SETTINGS,
                      ("Colours beyond what can be computed: %s.", settings_error->what()),
                      ("use smaller numbers in matrix"));
  else
    GST_ELEMENT_ERROR(element, LIBRARY, FAILED, ("Frame not processed: %s.", error.what()),
                      (nullptr));
}

void post_fallback(GstElement* element, const std::string& reason) {
  static std::atomic<bool> warned{false};
  if (warned.exchange(true))
    GST_ELEMENT_INFO(element, RESOURCE, NOT_FOUND, ("Running on the CPU: %s.", reason.c_str()),
                     (nullptr));
  else
    GST_ELEMENT_WARNING(element, RESOURCE, NOT_FOUND, ("Running on the CPU: %s.", reason.c_str()),
                        ("set backend=host to silence this, backend=cuda to make it an error"));
}

void post_copied_instead(GstElement* element) {
  GST_ELEMENT_INFO(element, RESOURCE, SETTINGS,
                   ("Frames are copied, not mapped: page-lock=off leaves them pageable."),
                   ("set page-lock=auto, or transfer-mode=copy to silence this"));
}

void post_notices(GstElement* element, const std::vector<Notice>& notices) {
  for (const Notice& notice : notices)
    gst_element_message_full(element, notice.is_warning ? GST_MESSAGE_WARNING : GST_MESSAGE_INFO,
                             GST_RESOURCE_ERROR, notice.code, g_strdup(notice.text.c_str()),
                             g_strdup(notice.hint.c_str()), __FILE__, GST_FUNCTION, __LINE__);
}

void post_timeline_error(GstElement* element, const TimelineError& error) {
  if (error.is_setting())
    GST_ELEMENT_ERROR(element, RESOURCE, SETTINGS, ("No timeline: %s.", error.what()),
                      ("set timeline-location to a file that ends in .json or .svg"));
  else
    GST_ELEMENT_ERROR(element, RESOURCE, OPEN_WRITE, ("No timeline: %s.", error.what()),
                      ("set timeline-location to a file that can be written"));
}

void post_lut_error(GstElement* element, const std::exception& error) {
  GST_ELEMENT_ERROR(element, RESOURCE, OPEN_READ, ("No LUT: %s.", error.what()),
                    ("set lut-location to a .cube file, or to nothing"));
}

void post_lut_kept(GstElement* element, const std::exception& error) {
  GST_ELEMENT_WARNING(element, RESOURCE, OPEN_READ, ("The LUT stays as it was: %s.", error.what()),
                      ("set lut-location to a .cube file, or to nothing"));
}

void post_no_output_buffer(GstElement* element) {
  GST_ELEMENT_ERROR(element, RESOURCE, NO_SPACE_LEFT, ("No memory for an output frame."),
                    ("use smaller frames or fewer buffers, or raise the memory limit of this "
                     "process or container"));
}

}  // namespace gst_stripe
