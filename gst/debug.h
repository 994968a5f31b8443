// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

/// The plugin's debug category, `cudastripe`; made when the plugin is loaded.
GST_DEBUG_CATEGORY_EXTERN(cuda_stripe_debug);
#define GST_CAT_DEFAULT cuda_stripe_debug
