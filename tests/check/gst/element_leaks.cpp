// SPDX-License-Identifier: LGPL-2.1-or-later
// GStreamer's leaks tracer finds nothing. The tracer reports at gst_deinit, so each run is a child:
// this same program with a scenario as its argument and the tracer in its environment.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "gst/frames.h"
#include "gst/support.h"

namespace {

using namespace test;

std::string stripes(const std::string& properties) { return element_text() + " " + properties; }

/// Plays a pipeline to its end or error.
void play(const std::string& line) {
  Ref<GstElement> pipeline(gst_parse_launch(line.c_str(), nullptr));
  gst_object_ref_sink(pipeline.get());
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const Ref<GstBus> bus(gst_element_get_bus(pipeline.get()));
  const auto ends = static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  const Ref<GstMessage> message(gst_bus_timed_pop_filtered(bus.get(), 15 * GST_SECOND, ends));
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}

void pinned_input() {
  play("videotestsrc num-buffers=10 ! video/x-raw,format=I420,width=65,height=63 ! " +
       stripes("effect=invert") + " ! fakesink");
}

void staged_input() {
  play(
      "videotestsrc num-buffers=10 ! video/x-raw,format=NV12,width=65,height=63 ! tee name=t  t. "
      "! queue ! " +
      stripes("effect=gray") + " ! fakesink  t. ! queue ! " + stripes("stream-count=5") +
      " ! jpegenc ! fakesink");
}

void stopped_halfway() {
  for (int i = 0; i < 5; ++i) {
    Ref<GstElement> pipeline(gst_parse_launch(
        ("videotestsrc ! video/x-raw,width=65,height=63 ! " + stripes("") + " ! fakesink").c_str(),
        nullptr));
    gst_object_ref_sink(pipeline.get());
    gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
    g_usleep(20000);
    gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  }
}

void caps_change() {
  const Ref<GstCaps> first = make_caps("RGB", 65, 63);
  const Ref<GstCaps> second = make_caps("I420", 33, 31);
  Random random(120);
  Rig rig;
  for (const auto* caps : {&first, &second, &first}) {
    rig.set_caps(caps->get());
    rig.process(make_plain_frame(caps->get(), random).share());
  }
}

void lying_buffer() {
  const Ref<GstCaps> caps = make_caps("RGB", 65, 63);
  Rig rig;
  rig.set_caps(caps.get());
  rig.push(Ref<GstBuffer>(gst_buffer_new_allocate(nullptr, 10, nullptr)));
}

void no_device() { try_backend("cuda", 99); }

/// The control: were this not found, neither would be the element's own.
void a_leak() { gst_buffer_new_allocate(nullptr, 10, nullptr); }

const struct {
  const char* name;
  void (*run)();
  bool leaks;
} scenarios[] = {{"pinned-input", pinned_input, false},
                 {"staged-input", staged_input, false},
                 {"stopped-halfway", stopped_halfway, false},
                 {"caps-change", caps_change, false},
                 {"lying-buffer", lying_buffer, false},
                 {"no-device", no_device, false},
                 {"a-leak", a_leak, true}};

/// The one the child was asked for.
const char* wanted = nullptr;

GST_START_TEST(scenario) {
  for (const auto& entry : scenarios)
    if (!std::strcmp(entry.name, wanted)) entry.run();
}
GST_END_TEST;

Suite* scenario_suite() {
  Suite* suite = suite_create("scenario");
  TCase* cases = tcase_create("scenario");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, scenario);
  return suite;
}

/// In the child: gst_check_init arranges for gst_deinit at exit.
int run_scenario(const char* name) {
  wanted = name;
  int argc = 0;
  char** argv = nullptr;
  gst_check_init(&argc, &argv);
  return gst_check_run_suite(scenario_suite(), "scenario", __FILE__);
}

/// The child's environment: the tracer, and a log that nothing but the tracer writes to.
gchar** tracer_environment() {
  gchar** environment = g_get_environ();
  environment = g_environ_setenv(environment, "GST_TRACERS", "leaks", TRUE);
  environment = g_environ_setenv(environment, "GST_DEBUG", "GST_TRACER:7", TRUE);
  environment = g_environ_setenv(environment, "GST_DEBUG_NO_COLOR", "1", TRUE);
  environment = g_environ_setenv(environment, "CK_FORK", "no", TRUE);
  environment = g_environ_unsetenv(environment, "GST_CHECKS");
  // GLib leaks on purpose, which a sanitizer's own search for leaks would report.
  const char* sanitizer = g_environ_getenv(environment, "ASAN_OPTIONS");
  const std::string options = std::string(sanitizer ? sanitizer : "") + ":detect_leaks=0";
  environment = g_environ_setenv(environment, "ASAN_OPTIONS", options.c_str(), TRUE);
  return g_environ_unsetenv(environment, "GST_DEBUG_FILE");
}

/// The tracer also logs the format of such a line, with %s for the type.
bool names_a_live_object(const char* log) {
  return g_regex_match_simple("object-alive, type-name=\\(string\\)[^%]", log,
                              static_cast<GRegexCompileFlags>(0), static_cast<GRegexMatchFlags>(0));
}

GST_START_TEST(leaks) {
  const auto& scenario = scenarios[__i__];
  gchar* program = g_file_read_link("/proc/self/exe", nullptr);
  gchar* arguments[] = {program, const_cast<gchar*>("--scenario"),
                        const_cast<gchar*>(scenario.name), nullptr};
  gchar** environment = tracer_environment();
  gchar* log = nullptr;
  gint status = 0;
  fail_unless(g_spawn_sync(nullptr, arguments, environment, G_SPAWN_DEFAULT, nullptr, nullptr,
                           nullptr, &log, &status, nullptr));
  // Found leaks are a g_warning as well, which fails the child.
  const bool ended_well = g_spawn_check_wait_status(status, nullptr);
  const bool as_expected =
      ended_well == !scenario.leaks && names_a_live_object(log) == scenario.leaks;
  // libcheck's messages can't hold a log.
  if (!as_expected) g_printerr("%s\n", log);
  fail_unless(as_expected, "%s: see the tracer's log above", scenario.name);
  g_free(log);
  g_free(program);
  g_strfreev(environment);
}
GST_END_TEST;

Suite* element_leaks_suite() {
  Suite* suite = suite_create("element-leaks");
  TCase* cases = tcase_create("leaks");
  tcase_set_timeout(cases, 60);
  suite_add_tcase(suite, cases);
  tcase_add_loop_test(cases, leaks, 0, G_N_ELEMENTS(scenarios));
  return suite;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && !std::strcmp(argv[1], "--scenario")) return run_scenario(argv[2]);
  return test::run_element_suite(argc, argv, element_leaks_suite, "element_leaks", __FILE__);
}
