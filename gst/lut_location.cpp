// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/lut_location.h"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "cuda/cube_file.h"
#include "gst/color.h"
#include "gst/debug.h"
#include "gst/element_state.h"
#include "gst/messages.h"

namespace gst_stripe {

namespace {

using State = GstCudaStripeTransform::State;
using LutRef = std::shared_ptr<const stripe::Lut>;

// One value of the property, and which change of it that was.
struct Wish {
  std::string location;
  std::uint64_t number;
};

using TextRef = std::unique_ptr<gchar, decltype(&g_free)>;

std::string name_of_uri(const std::string& uri) {
  GError* error = nullptr;
  gchar* host = nullptr;
  const TextRef name(g_filename_from_uri(uri.c_str(), &host, &error), g_free);
  const TextRef owned_host(host, g_free);
  if (!name) {
    const std::string message = error->message;
    g_error_free(error);
    throw std::runtime_error(uri + " names no file: " + message);
  }
  if (host && g_ascii_strcasecmp(host, "localhost") != 0)
    throw std::runtime_error(uri + " names a file of another machine, " + host);
  return name.get();
}

// A file's name, or its URI, as file choosers give it. What only a shell knows is told as such.
std::string file_name_of(const std::string& location) {
  if (g_ascii_strncasecmp(location.c_str(), "file:", 5) == 0) return name_of_uri(location);
  if (location.starts_with("~/") && !g_file_test(location.c_str(), G_FILE_TEST_EXISTS))
    throw std::runtime_error(location + " begins with ~, which only a shell replaces: write " +
                             g_get_home_dir() + location.substr(1));
  return location;
}

LutRef read_lut(const std::string& location) {
  return location.empty() ? nullptr : stripe::read_cube_file(file_name_of(location));
}

// The caller holds the state's mutex.
bool is_open(const LutProgress& progress, const Wish& wish) {
  return progress.wanted == wish.number && progress.done != wish.number;
}

// A newer wish leaves a LUT unused, though it may come to be in use until that one is carried out.
// After the stop none is kept: it may be large, and the next start reads it.
void put_in_place(State& state, const Wish& wish, LutRef lut) {
  const std::lock_guard changing(state.color_mutex);
  stripe::ColorSettings color;
  {
    const std::lock_guard lock(state.mutex);
    if (!is_open(state.lut, wish) || (lut && !state.session)) return;
    color = state.settings.color;
  }
  color.lut = std::move(lut);
  use_color(state, std::move(color));
  const std::lock_guard lock(state.mutex);
  state.lut.in_use = wish.location;
  state.lut.done = wish.number;
}

// False where a newer wish makes that of no account, or where the next start will see it.
bool give_up(State& state, const Wish& wish) {
  const std::lock_guard lock(state.mutex);
  if (!is_open(state.lut, wish) || !state.session) return false;
  state.settings.lut_location = state.lut.in_use;
  state.lut.done = wish.number;
  return true;
}

void carry_out(GstElement* element, const Wish& wish) {
  State& state = state_of(element);
  try {
    put_in_place(state, wish, read_lut(wish.location));
    GST_INFO_OBJECT(element, "LUT is now '%s'", wish.location.c_str());
  } catch (const std::exception& error) {
    if (!give_up(state, wish)) return;
    post_lut_kept(element, error);
    g_object_notify(G_OBJECT(element), "lut-location");
  }
}

// Nothing where all is done, or none is to see it. The caller holds the state's mutex.
std::optional<Wish> pending_wish(const State& state) {
  if (!state.session || state.lut.done == state.lut.wanted) return std::nullopt;
  return Wish{state.settings.lut_location, state.lut.wanted};
}

// Where there is none the thread ends.
std::optional<Wish> next_wish(State& state) {
  const std::lock_guard lock(state.mutex);
  std::optional<Wish> wish = pending_wish(state);
  if (!wish) state.lut.is_loading = false;
  return wish;
}

void load(GstElement* element, gpointer) noexcept {
  while (const std::optional<Wish> wish = next_wish(state_of(element))) carry_out(element, *wish);
}

Wish take_wish(State& state, const char* location) {
  const std::lock_guard lock(state.mutex);
  state.settings.lut_location = location;
  return {location, ++state.lut.wanted};
}

Wish current_wish(State& state) {
  const std::lock_guard lock(state.mutex);
  return {state.settings.lut_location, state.lut.wanted};
}

}  // namespace

void set_lut_location(GstElement* element, const char* location) {
  const Wish wish = take_wish(state_of(element), location ? location : "");
  if (wish.location.empty())
    carry_out(element, wish);
  else
    load_changed_lut(element);
}

bool load_lut_at_start(GstElement* element) {
  State& state = state_of(element);
  const Wish wish = current_wish(state);
  try {
    LutRef lut = read_lut(wish.location);
    const std::lock_guard changing(state.color_mutex);
    const std::lock_guard lock(state.mutex);
    std::swap(state.settings.color.lut, lut);
    state.lut.in_use = wish.location;
    state.lut.done = wish.number;
    return true;
  } catch (const std::exception& error) {
    post_lut_error(element, error);
    return false;
  }
}

void load_changed_lut(GstElement* element) {
  State& state = state_of(element);
  {
    const std::lock_guard lock(state.mutex);
    if (!state.session || state.lut.is_loading || state.lut.done == state.lut.wanted) return;
    state.lut.is_loading = true;
  }
  // It keeps the element while it is at work, which may go to NULL meanwhile.
  gst_element_call_async(element, load, nullptr, nullptr);
}

void settle_lut(GstElement* element) {
  State& state = state_of(element);
  std::optional<Wish> wish;
  {
    const std::lock_guard lock(state.mutex);
    wish = pending_wish(state);
  }
  if (wish) carry_out(element, *wish);
}

void release_lut(GstElement* element) {
  State& state = state_of(element);
  LutRef lut;
  const std::lock_guard changing(state.color_mutex);
  const std::lock_guard lock(state.mutex);
  std::swap(state.settings.color.lut, lut);
}

}  // namespace gst_stripe
