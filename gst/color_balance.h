// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>
#include <gst/video/colorbalance.h>

#include "gst/properties.h"

namespace gst_stripe {

/// The four channels that players show as sliders: HUE, SATURATION, BRIGHTNESS and CONTRAST, -1000
/// to 1000, 0 in the middle of the property's range.
///
/// Thread:  any; it never changes.
class ColorBalanceChannels {
 public:
  ColorBalanceChannels();
  ColorBalanceChannels(const ColorBalanceChannels&) = delete;
  ~ColorBalanceChannels();

  const GList* list() const noexcept { return list_; }

  /// That of a property; NULL where it has none.
  GstColorBalanceChannel* find(Property property) const noexcept;

 private:
  GList* list_ = nullptr;
};

/// Fills in the interface GstColorBalance of the element's class: its channels are the properties.
void implement_color_balance(GstColorBalanceInterface* interface);

/// Emits value-changed where the property is one of the channels.
///
/// Thread:  any, no lock held.
void tell_color_balance(GstElement* element, Property property);

}  // namespace gst_stripe
