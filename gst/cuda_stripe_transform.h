// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_CUDA_STRIPE_TRANSFORM (gst_cuda_stripe_transform_get_type())

/// The element: properties, caps, state; frames go to the session. All that is not GObject is
/// behind `state`, which the instance owns.
struct GstCudaStripeTransform {
  GstBaseTransform parent;
  struct State;
  State* state;
};

struct GstCudaStripeTransformClass {
  GstBaseTransformClass parent_class;
};

GType gst_cuda_stripe_transform_get_type(void);
GST_ELEMENT_REGISTER_DECLARE(cudastripetransform)

G_END_DECLS
