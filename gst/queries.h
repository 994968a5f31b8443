// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/element_state.h"

namespace gst_stripe {

/// The base class's query function: what frames in flight change in the answers, and what has to
/// wait for them.
gboolean answer_query(GstBaseTransform* trans, GstPadDirection direction, GstQuery* query) noexcept;

}  // namespace gst_stripe
