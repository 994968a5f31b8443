// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/support.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "support/backend.h"
#include "support/random.h"

namespace test {
namespace {

Report report_of(GstMessage* message) {
  GError* error = nullptr;
  gchar* debug = nullptr;
  switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_ERROR:
      gst_message_parse_error(message, &error, &debug);
      break;
    case GST_MESSAGE_WARNING:
      gst_message_parse_warning(message, &error, &debug);
      break;
    default:
      gst_message_parse_info(message, &error, &debug);
  }
  const Report report{error->domain, error->code, error->message, debug ? debug : ""};
  g_error_free(error);
  g_free(debug);
  return report;
}

const GValue* stat_field(const GstStructure* stats, const char* field, GType type) {
  fail_unless(stats != nullptr, "stats is NULL");
  const GValue* value = gst_structure_get_value(stats, field);
  fail_unless(value != nullptr, "stats has no field %s", field);
  fail_unless(G_VALUE_HOLDS(value, type), "stats field %s is a %s, not a %s", field,
              G_VALUE_TYPE_NAME(value), g_type_name(type));
  return value;
}

Ref<GstStructure> stats_of(GstElement* element) {
  GstStructure* stats = nullptr;
  g_object_get(element, "stats", &stats, nullptr);
  return Ref<GstStructure>(stats);
}

std::string describe(const std::vector<Report>& reports) {
  std::string text;
  for (const Report& report : reports) text += report.text + " (" + report.debug + ")\n";
  return text;
}

}  // namespace

const char* transfer_name() {
  const char* wanted = std::getenv("STRIPE_TEST_TRANSFER");
  if (!wanted || std::string_view(wanted) == "copy") return "copy";
  if (std::string_view(wanted) == "mapped") return "mapped";
  std::fprintf(stderr, "STRIPE_TEST_TRANSFER=%s: neither copy nor mapped\n", wanted);
  std::abort();
}

bool any_memory_will_do() {
  return !backend_is_cuda() && std::string_view(transfer_name()) == "mapped";
}

Ref<GstElement> make_element() {
  GstElement* element = gst_element_factory_make("cudastripetransform", nullptr);
  // Not fail_unless: main calls this too, outside of any case.
  if (!element) {
    std::fprintf(stderr, "no cudastripetransform: does GST_PLUGIN_PATH_1_0 lead to the plugin?\n");
    std::abort();
  }
  gst_object_ref_sink(element);
  set_nick(element, "backend", backend_name());
  set_nick(element, "transfer-mode", transfer_name());
  return Ref<GstElement>(element);
}

Ref<GstElement> make_element(unsigned async_depth) {
  Ref<GstElement> element = make_element();
  g_object_set(element.get(), "async-depth", async_depth, nullptr);
  return element;
}

std::string element_text() {
  return std::string("cudastripetransform backend=") + backend_name() +
         " transfer-mode=" + transfer_name();
}

std::vector<Report> take_reports(GstBus* bus, GstMessageType type) {
  std::vector<Report> reports;
  while (Ref<GstMessage> message{gst_bus_pop(bus)})
    if (GST_MESSAGE_TYPE(message.get()) == type) reports.push_back(report_of(message.get()));
  return reports;
}

Report expect_one_error(GstBus* bus, GQuark domain, int code) {
  const std::vector<Report> errors = take_reports(bus, GST_MESSAGE_ERROR);
  fail_unless(errors.size() == 1, "%zu errors instead of one:\n%s", errors.size(),
              describe(errors).c_str());
  const Report& error = errors.front();
  fail_unless(error.domain == domain && error.code == code, "expected %s %d, got %s %d: %s",
              g_quark_to_string(domain), code, g_quark_to_string(error.domain), error.code,
              describe(errors).c_str());
  fail_unless(!error.text.empty());
  return error;
}

Rig::Rig(Ref<GstElement> element) : element_(std::move(element)), bus_(gst_bus_new()) {
  gst_element_set_bus(element_.get(), bus_.get());
  harness_ = gst_harness_new_with_element(element_.get(), "sink", "src");
}

Rig::~Rig() {
  if (harness_) tear_down();
}

void Rig::tear_down() {
  gst_harness_teardown(harness_);
  harness_ = nullptr;
  // Messages hold references to the element.
  gst_bus_set_flushing(bus_.get(), TRUE);
  gst_element_set_bus(element_.get(), nullptr);
}

Ref<GstElement> Rig::release() {
  tear_down();
  return std::move(element_);
}

void Rig::set_caps(GstCaps* caps) { gst_harness_set_src_caps(harness_, gst_caps_ref(caps)); }

GstFlowReturn Rig::push(Ref<GstBuffer> buffer) {
  return gst_harness_push(harness_, buffer.release());
}

Ref<GstBuffer> Rig::pull() {
  Ref<GstBuffer> buffer(gst_harness_pull(harness_));
  fail_unless(buffer != nullptr, "no frame came out");
  return buffer;
}

Ref<GstBuffer> Rig::process(Ref<GstBuffer> buffer) {
  const GstFlowReturn flow = push(std::move(buffer));
  fail_unless(flow == GST_FLOW_OK, "flow is %s: %s", gst_flow_get_name(flow),
              describe(take_reports(bus(), GST_MESSAGE_ERROR)).c_str());
  return pull();
}

// Tests make new memory for each frame, and of many such frames the element rightly says so.
static bool is_of_new_memory(GstMessage* message) {
  return GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING &&
         report_of(message).text.find("each frame into new memory") != std::string::npos;
}

void Rig::expect_quiet() {
  while (Ref<GstMessage> message{gst_bus_pop(bus())}) {
    const bool complaint =
        GST_MESSAGE_TYPE(message.get()) & (GST_MESSAGE_ERROR | GST_MESSAGE_WARNING) &&
        !is_of_new_memory(message.get());
    fail_unless(!complaint, "%s", complaint ? describe({report_of(message.get())}).c_str() : "");
  }
}

void Rig::expect_one_memory_warning(const char* part) {
  std::vector<Report> complaints;
  while (Ref<GstMessage> message{gst_bus_pop(bus())})
    if (GST_MESSAGE_TYPE(message.get()) & (GST_MESSAGE_ERROR | GST_MESSAGE_WARNING)) {
      fail_unless_equals_int(GST_MESSAGE_TYPE(message.get()), GST_MESSAGE_WARNING);
      complaints.push_back(report_of(message.get()));
    }
  fail_unless(complaints.size() == 1, "%zu warnings instead of one:\n%s", complaints.size(),
              describe(complaints).c_str());
  const Report& warning = complaints.front();
  fail_unless(warning.domain == GST_RESOURCE_ERROR && warning.code == GST_RESOURCE_ERROR_FAILED);
  fail_unless(warning.text.find(part) != std::string::npos, "no '%s' in: %s", part,
              warning.text.c_str());
}

std::uint64_t stat_uint64(GstElement* element, const char* field) {
  const Ref<GstStructure> stats = stats_of(element);
  return g_value_get_uint64(stat_field(stats.get(), field, G_TYPE_UINT64));
}

unsigned stat_uint(GstElement* element, const char* field) {
  const Ref<GstStructure> stats = stats_of(element);
  return g_value_get_uint(stat_field(stats.get(), field, G_TYPE_UINT));
}

bool stat_boolean(GstElement* element, const char* field) {
  const Ref<GstStructure> stats = stats_of(element);
  return g_value_get_boolean(stat_field(stats.get(), field, G_TYPE_BOOLEAN));
}

std::string stat_string(GstElement* element, const char* field) {
  const Ref<GstStructure> stats = stats_of(element);
  const char* text = g_value_get_string(stat_field(stats.get(), field, G_TYPE_STRING));
  return text ? text : "";
}

void set_nick(GstElement* element, const char* property, const char* nick) {
  gst_util_set_object_arg(G_OBJECT(element), property, nick);
}

const char* nick_of(GstElement* element, const char* property) {
  GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), property);
  fail_unless(spec != nullptr && G_IS_PARAM_SPEC_ENUM(spec), "%s is no enum property", property);
  gint number = 0;
  g_object_get(element, property, &number, nullptr);
  const GEnumValue* value = g_enum_get_value(G_PARAM_SPEC_ENUM(spec)->enum_class, number);
  fail_unless(value != nullptr, "%s is %d, which has no nick", property, number);
  return value->value_nick;
}

Ref<GstCaps> make_caps(const std::string& format, int width, int height,
                       const std::string& colorimetry, const std::string& interlace_mode) {
  Ref<GstCaps> caps(gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, format.c_str(),
                                        "width", G_TYPE_INT, width, "height", G_TYPE_INT, height,
                                        "framerate", GST_TYPE_FRACTION, 25, 1, nullptr));
  if (!colorimetry.empty())
    gst_caps_set_simple(caps.get(), "colorimetry", G_TYPE_STRING, colorimetry.c_str(), nullptr);
  if (!interlace_mode.empty())
    gst_caps_set_simple(caps.get(), "interlace-mode", G_TYPE_STRING, interlace_mode.c_str(),
                        nullptr);
  return caps;
}

StartResult try_start(GstElement* element) {
  const Ref<GstBus> bus(gst_bus_new());
  gst_element_set_bus(element, bus.get());
  StartResult result{};
  result.started = gst_element_set_state(element, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE;
  while (Ref<GstMessage> message{gst_bus_pop(bus.get())}) {
    if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_ERROR)
      result.errors.push_back(report_of(message.get()));
    if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_WARNING)
      result.warnings.push_back(report_of(message.get()));
    if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_INFO)
      result.infos.push_back(report_of(message.get()));
  }
  gst_element_set_state(element, GST_STATE_NULL);
  gst_element_set_bus(element, nullptr);
  return result;
}

StartResult try_backend(const char* backend, int cuda_device_id) {
  const Ref<GstElement> element = make_element();
  set_nick(element.get(), "backend", backend);
  g_object_set(element.get(), "cuda-device-id", cuda_device_id, nullptr);
  return try_start(element.get());
}

int run_element_suite(int argc, char** argv, Suite* (*make_suite)(), const char* name,
                      const char* file) {
  dont_fork_with_cuda();
  test_seed();
  gst_check_init(&argc, &argv);
  if (backend_is_cuda()) {
    const StartResult result = try_backend("cuda", -1);
    const bool no_device = !result.started && result.errors.size() == 1 &&
                           result.errors[0].domain == GST_RESOURCE_ERROR &&
                           result.errors[0].code == GST_RESOURCE_ERROR_NOT_FOUND;
    if (no_device) {
      std::printf("skipped: %s\n", describe(result.errors).c_str());
      return exit_skipped;
    }
  }
  return gst_check_run_suite(make_suite(), name, file);
}

}  // namespace test
