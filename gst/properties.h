// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>

#include "cuda/backend.h"
#include "cuda/choice.h"
#include "cuda/color_settings.h"
#include "cuda/plan.h"
#include "gst/page_locking.h"

namespace gst_stripe {

/// What the properties say. Taken as a whole for each frame; those that are mutable in READY only
/// are read at READY to PAUSED.
struct Settings {
  stripe::Backend backend = stripe::Backend::automatic;
  int cuda_device_id = -1;
  guint stream_count = 0;
  guint stripe_count = 0;
  stripe::StripeLayout stripe_layout = stripe::StripeLayout::rows;
  stripe::ColorSettings color;  ///< the LUT is that of a file, once it is read
  std::string lut_location;     ///< empty: none
  PageLockMode page_lock = PageLockMode::automatic;
  guint64 max_pinned_bytes = 0;
  guint async_depth = 3;
  stripe::TransferMode transfer_mode = stripe::TransferMode::automatic;
  std::string timeline_location;  ///< empty: none
  guint timeline_frames = 12;
  guint stats_interval = 64;

  /// What is left to be chosen, and what is not.
  stripe::ChoiceRequest choice_request() const;

  /// Stripes to cut a frame into, where `choice` is what is done if the user asks for none.
  int stripes_or(const stripe::Choice& choice) const noexcept {
    return stripe_count ? static_cast<int>(stripe_count) : choice.stripe_count;
  }
};

enum class Property : guint {
  backend = 1,
  cuda_device_id,
  stream_count,
  stripe_count,
  stripe_layout,
  effect,
  matrix,
  brightness,
  contrast,
  hue,
  saturation,
  gamma,
  threshold,
  lut_location,
  page_lock,
  max_pinned_bytes,
  async_depth,
  transfer_mode,
  timeline_location,
  timeline_frames,
  stats_interval,
  stats,
};

/// Installs the properties on the element's class.
void install_properties(GObjectClass* klass);

/// Stores a value. False if the property is not one of the settings, or one of those that
/// change_color (color.h) has to change.
bool set_setting(Settings& settings, Property property, const GValue* value);

/// Reads one. False if the property is not one of the settings.
bool get_setting(const Settings& settings, Property property, GValue* value);

}  // namespace gst_stripe
