// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/color_balance.h"

#include <algorithm>
#include <cmath>

#include "cuda/backend.h"
#include "gst/element_state.h"

namespace gst_stripe {

namespace {

constexpr int most = 1000;

// `neutral`: the property where the channel is at 0; a channel goes 1 to either side of it.
struct Channel {
  Property property;
  const char* label;
  const char* property_name;
  double stripe::ColorSettings::*number;
  double neutral;
};

using Color = stripe::ColorSettings;

constexpr Channel channels[] = {
    {Property::hue, "HUE", "hue", &Color::hue, 0},
    {Property::saturation, "SATURATION", "saturation", &Color::saturation, 1},
    {Property::brightness, "BRIGHTNESS", "brightness", &Color::brightness, 0},
    {Property::contrast, "CONTRAST", "contrast", &Color::contrast, 1},
};

// By its label, not its address: a player may hold a proxy's, which has a copy.
const Channel* find_channel(const GstColorBalanceChannel* channel) {
  for (const Channel& candidate : channels)
    if (g_ascii_strcasecmp(channel->label, candidate.label) == 0) return &candidate;
  return nullptr;
}

const GList* list_channels(GstColorBalance* balance) { return state_of(balance).channels.list(); }

void set_value(GstColorBalance* balance, GstColorBalanceChannel* channel, gint value) {
  const Channel* const found = find_channel(channel);
  g_return_if_fail(found != nullptr);
  const double number = found->neutral + std::clamp(value, -most, most) / double{most};
  g_object_set(balance, found->property_name, number, nullptr);
}

gint get_value(GstColorBalance* balance, GstColorBalanceChannel* channel) {
  const Channel* const found = find_channel(channel);
  g_return_val_if_fail(found != nullptr, 0);
  const double number = state_of(balance).current_settings().color.*(found->number);
  return static_cast<gint>(std::lround((number - found->neutral) * most));
}

// Players ask before there is a device, when they look for who does this.
bool will_be_on_cuda(const Settings& settings) {
  try {
    return stripe::choose_backend(settings.backend, settings.cuda_device_id, stripe::cuda_facts())
               .backend == stripe::Backend::cuda;
  } catch (const std::exception&) {
    return false;  // it is told at the start
  }
}

GstColorBalanceType balance_type(GstColorBalance* balance) noexcept {
  GstCudaStripeTransform::State& state = state_of(balance);
  const std::shared_ptr<Session> session = state.current_session();
  const bool on_cuda = session ? session->is_on_cuda() : will_be_on_cuda(state.current_settings());
  return on_cuda ? GST_COLOR_BALANCE_HARDWARE : GST_COLOR_BALANCE_SOFTWARE;
}

}  // namespace

ColorBalanceChannels::ColorBalanceChannels() {
  for (const Channel& entry : channels) {
    auto* channel =
        GST_COLOR_BALANCE_CHANNEL(g_object_new(GST_TYPE_COLOR_BALANCE_CHANNEL, nullptr));
    channel->label = g_strdup(entry.label);
    channel->min_value = -most;
    channel->max_value = most;
    list_ = g_list_append(list_, channel);
  }
}

ColorBalanceChannels::~ColorBalanceChannels() { g_list_free_full(list_, g_object_unref); }

GstColorBalanceChannel* ColorBalanceChannels::find(Property property) const noexcept {
  const GList* item = list_;
  for (const Channel& entry : channels) {
    if (entry.property == property) return GST_COLOR_BALANCE_CHANNEL(item->data);
    item = item->next;
  }
  return nullptr;
}

void implement_color_balance(GstColorBalanceInterface* interface) {
  interface->list_channels = list_channels;
  interface->set_value = set_value;
  interface->get_value = get_value;
  interface->get_balance_type = balance_type;
}

void tell_color_balance(GstElement* element, Property property) {
  GstColorBalanceChannel* const channel = state_of(element).channels.find(property);
  if (!channel) return;
  GstColorBalance* const balance = GST_COLOR_BALANCE(element);
  gst_color_balance_value_changed(balance, channel, get_value(balance, channel));
}

}  // namespace gst_stripe
