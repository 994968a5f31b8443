// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "cuda/color_settings.h"
#include "gst/frames.h"
#include "support/color_oracle.h"

// The colour properties, set together and compared with the oracle.

namespace test {

/// What is done to a picture; the defaults do nothing.
using Look = stripe::ColorSettings;

/// Sets all properties but the LUT's.
void set_look(GstElement* element, const Look& look);

/// Sets `matrix` alone; the numbers as doubles.
void set_matrix(GstElement* element, const stripe::ColorMatrix& matrix);
stripe::ColorMatrix get_matrix(GstElement* element);

/// Any values, or none, for each property but the LUT's.
Look random_look(Random& random);

/// How `output` differs from what the look makes of `input`, in words; empty if it does not.
std::string look_mistake(GstBuffer* output, const GstCaps* caps, const ConstPicture& input,
                         const Look& look);

}  // namespace test
