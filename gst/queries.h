// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/element_state.h"

namespace gst_stripe {

/// The base class's query function: what frames in flight change in the answers, and what has to
/// wait for them.
gboolean answer_query(GstBaseTransform* trans, GstPadDirection direction, GstQuery* query) noexcept;

/// What POSITION is answered from: the task pushed this buffer, or this segment, or all starts anew.
void remember_position(GstCudaStripeTransform::State& state, GstBuffer* buffer);
void remember_segment(GstCudaStripeTransform::State& state, GstEvent* event);
void forget_position(GstCudaStripeTransform::State& state);

}  // namespace gst_stripe
