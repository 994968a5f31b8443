// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/gst.h>

#include "cuda/log.h"
#include "gst/config.h"
#include "gst/cuda_stripe_transform.h"
#include "gst/debug.h"
#include "gst/pinned_allocator.h"

GST_DEBUG_CATEGORY(cuda_stripe_debug);

namespace {

void log_warning(const char* message) { GST_WARNING("%s", message); }

// Always TRUE: a plugin that fails to load is blacklisted, and its user never learns why.
gboolean init_plugin(GstPlugin* plugin) {
  GST_DEBUG_CATEGORY_INIT(cuda_stripe_debug, "cudastripe", 0, "striped CUDA video transform");
  stripe::set_warning_sink(log_warning);
  gst_stripe::pinned_allocator_register();
  GST_ELEMENT_REGISTER(cudastripetransform, plugin);
  return TRUE;
}

}  // namespace

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, cudastripe,
                  "Page-locked, striped and overlapped CUDA processing of raw video", init_plugin,
                  PACKAGE_VERSION, "LGPL", PACKAGE, PACKAGE_ORIGIN)
