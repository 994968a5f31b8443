// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/element_state.h"

namespace gst_stripe {

/// The element's way from the chain function to the source pad: frames in flight, their order,
/// events, queries, flushes.
///
/// At async-depth 1 each frame is finished in the streaming thread. From 2 on, the chain function
/// submits and returns, and the source pad's task waits for the oldest frame and pushes it.
void install_streaming(GstBaseTransformClass* klass);

/// Sets the pads' functions. The state is there already.
void init_streaming(GstBaseTransform* trans);

/// Drops what is in flight, after the device is done with it. Neither streaming thread is at work.
void drop_frames(GstBaseTransform* trans);

}  // namespace gst_stripe
