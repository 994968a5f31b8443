// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <string>

namespace gst_stripe {

/// How far the file of lut-location is. A part of the element's state.
struct LutProgress {
  std::uint64_t wanted = 0;  ///< counts the changes of the property
  std::uint64_t done = 0;    ///< the change that was carried out, or given up
  bool is_loading = false;   ///< a thread is at it, and takes what is wanted next when it is ready
  std::string in_use;        ///< location of the LUT that frames go through
};

/// Sets the property. Before the start that is all; later a thread of its own reads the file and
/// puts it in place between two frames, or warns and sets the property back to what is in use. Of
/// several changes the last one wins. NULL or empty takes the LUT away at once.
///
/// Thread:  any, no lock held; does not wait for the file.
void set_lut_location(GstElement* element, const char* location);

/// Reads the file, if there is one, before the first frame. False where that fails, which is an
/// error on the bus.
///
/// Thread:  start's.
bool load_lut_at_start(GstElement* element);

/// Has the file read that was set while load_lut_at_start was at work. The session is there.
void load_changed_lut(GstElement* element);

/// Reads the file that was set and is not in use yet, whether or not its thread came to that: it is
/// in use then, or told to be bad, and the old one stays. The session is there.
///
/// Thread:  stop's.
void settle_lut(GstElement* element);

/// Lets go of the LUT. The session is gone.
void release_lut(GstElement* element);

}  // namespace gst_stripe
