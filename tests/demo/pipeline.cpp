// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pipeline.h"

#include <stdexcept>

#include "terminal.h"

namespace demo {

namespace {

// Progress is shown, and Ctrl-C heard, so often.
constexpr GstClockTime tick = 50 * GST_MSECOND;

std::string parse_problem(GError* error) {
  const bool no_element = g_error_matches(error, GST_PARSE_ERROR, GST_PARSE_ERROR_NO_SUCH_ELEMENT);
  const std::string text = take_text(error);
  if (!no_element) return text;
  if (text.find("cudastripetransform") != std::string::npos)
    return text + "; its plugin is looked for in $GST_PLUGIN_PATH_1_0";
  return text + "; gstreamer1.0-plugins-base and gstreamer1.0-plugins-good have all that is used";
}

std::string error_text(GstMessage* message) {
  GError* error = nullptr;
  gst_message_parse_error(message, &error, nullptr);
  return std::string(GST_MESSAGE_SRC_NAME(message)) + ": " + take_text(error);
}

std::string warning_text(GstMessage* message) {
  GError* error = nullptr;
  gst_message_parse_warning(message, &error, nullptr);
  return take_text(error);
}

}  // namespace

std::string take_text(GError* error, const char* fallback) {
  const Ref<GError> owner(error);
  return error != nullptr ? error->message : fallback;
}

Pipeline::Pipeline(const std::string& description) {
  GError* error = nullptr;
  pipeline_.reset(gst_parse_launch(description.c_str(), &error));
  if (error != nullptr) throw std::runtime_error(parse_problem(error));
}

Pipeline::~Pipeline() { stop(); }

Ref<GstElement> Pipeline::element(const char* name) const {
  Ref<GstElement> found(gst_bin_get_by_name(GST_BIN(pipeline_.get()), name));
  if (!found) throw std::runtime_error(std::string("no element named ") + name);
  return found;
}

void Pipeline::play(const std::function<bool()>& go_on) {
  const Ref<GstBus> bus(gst_element_get_bus(pipeline_.get()));
  const auto wanted =
      static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  // Where this fails an element has put the reason on the bus.
  gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
  bool playing = true;
  while (playing) {
    const Ref<GstMessage> message(gst_bus_timed_pop_filtered(bus.get(), tick, wanted));
    throw_if_interrupted();
    playing = message ? handle(message.get()) : go_on();
  }
}

bool Pipeline::handle(GstMessage* message) {
  switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_ERROR:
      throw std::runtime_error(error_text(message));
    case GST_MESSAGE_WARNING:
      warnings_.push_back(warning_text(message));
      return true;
    default:
      return false;
  }
}

void Pipeline::stop() {
  if (pipeline_) gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
}

}  // namespace demo
