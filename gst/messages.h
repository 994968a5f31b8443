// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <exception>
#include <string>
#include <vector>

#include "gst/notices.h"
#include "gst/timeline_file.h"

namespace gst_stripe {

/// Posts the one error message for an exception of cuda/ or of the frame view, in the terms of
/// GStreamer and with what the user can do about it.
///
/// Thread:  any, no lock held.
void post_error(GstElement* element, const std::exception& error);

/// Says that auto took the host, and why: a warning once a process, afterwards an info message.
void post_fallback(GstElement* element, const std::string& reason);

/// Says that frames are copied where they were to be mapped, since nothing is page-locked.
void post_copied_instead(GstElement* element);

/// Posts what was kept to be said.
void post_notices(GstElement* element, const std::vector<Notice>& notices);

/// Posts the one error message for a place where no timeline can be written.
void post_timeline_error(GstElement* element, const TimelineError& error);

/// Posts the one error message for a LUT that can't be had at the start.
void post_lut_error(GstElement* element, const std::exception& error);

/// Warns that a LUT can't be had, so that things stay as they were.
void post_lut_kept(GstElement* element, const std::exception& error);

/// Says that no output buffer could be had.
void post_no_output_buffer(GstElement* element);

}  // namespace gst_stripe
