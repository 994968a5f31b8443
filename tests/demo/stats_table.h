// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace demo {

/// Prints what matters first in an element's `stats`, a row each, in words. A row whose fields the
/// element doesn't have is left out; fields that nobody here knows are too.
///
/// Thread:  while the pipeline isn't stopped, which would set the counters back.
void print_stats(GstElement* element);

/// Whether no GPU was used.
bool ran_on_cpu(GstElement* element);

}  // namespace demo
