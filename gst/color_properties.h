// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <stdexcept>

#include "cuda/color_settings.h"
#include "gst/properties.h"

namespace gst_stripe {

/// A value that a property does not take, or that settings can't have together. `what()` is for the
/// user.
class SettingsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Installs the properties that say what happens to a picture.
void install_color_properties(GObjectClass* klass);

/// Stores a value. False if the property is none of `settings`.
///
/// Errors:  throws SettingsError for what GObject's own checks let pass: NaN, and arrays that are
///          no matrix. `settings` is as it was then.
bool set_color_setting(stripe::ColorSettings& settings, Property property, const GValue* value);

/// Reads one. False if the property is none of `settings`.
bool get_color_setting(const stripe::ColorSettings& settings, Property property, GValue* value);

}  // namespace gst_stripe
