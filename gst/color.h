// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/element_state.h"
#include "gst/properties.h"

namespace gst_stripe {

/// Changes one of the properties that say what happens to the picture, for the next frame on. What
/// frames need for it is made ready here, so that none waits. A value that can't be taken is a
/// warning, and the old one stays. False where the property is none of these; lut-location is not.
///
/// Thread:  any, no lock held.
bool change_color(GstElement* element, const GParamSpec* spec, const GValue* value);

/// Sets each property that has a controller to what that gives for the stream time of `frame`.
///
/// Thread:  the streaming thread, no lock held.
void sync_properties(GstBaseTransform* trans, GstBuffer* frame);

/// Makes `color` what happens to pictures from the next frame on.
///
/// Thread:  the caller holds the state's color_mutex.
/// Errors:  throws SettingsError, stripe::DeviceError; all is as it was then.
void use_color(GstCudaStripeTransform::State& state, stripe::ColorSettings color);

}  // namespace gst_stripe
