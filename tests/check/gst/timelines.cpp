// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/timelines.h"

#include <glib/gstdio.h>

#include <string_view>

#include "gst/outlet.h"

namespace test {

TempFolder::TempFolder() {
  gchar* path = g_dir_make_tmp("stripe-timeline-XXXXXX", nullptr);
  fail_unless(path != nullptr);
  path_ = path;
  g_free(path);
}

TempFolder::~TempFolder() { take_away(); }

void TempFolder::take_away() const {
  GDir* folder = g_dir_open(path_.c_str(), 0, nullptr);
  if (!folder) return;
  while (const gchar* name = g_dir_read_name(folder)) g_remove(file(name).c_str());
  g_dir_close(folder);
  g_rmdir(path_.c_str());
}

bool exists(const std::string& path) {
  return g_file_test(path.c_str(), G_FILE_TEST_EXISTS) != FALSE;
}

std::string read_file(const std::string& path) {
  gchar* text = nullptr;
  gsize size = 0;
  fail_unless(g_file_get_contents(path.c_str(), &text, &size, nullptr), "no file %s", path.c_str());
  const std::string out(text, size);
  g_free(text);
  return out;
}

std::vector<int> numbers(int first, int count) {
  std::vector<int> out;
  for (int i = 0; i < count; ++i) out.push_back(first + i);
  return out;
}

bool is_mapped_run() { return std::string_view(transfer_name()) == "mapped"; }

Ref<GstElement> make_timeline_element(const TimelineSetup& setup) {
  Ref<GstElement> element = make_locking_element({.depth = setup.depth});
  g_object_set(element.get(), "timeline-location", setup.location.c_str(), "timeline-frames",
               setup.frames, "stripe-count", setup.stripes, "stats-interval", setup.stats_interval,
               "stream-count", setup.streams, nullptr);
  return element;
}

TimelineFixture::TimelineFixture(const TimelineSetup& setup)
    : TimelineFixture(make_timeline_element(setup), setup) {}

TimelineFixture::TimelineFixture(Ref<GstElement> element, const TimelineSetup& setup)
    : LockFixture(std::move(element), {.depth = setup.depth}), again_(make()) {}

void TimelineFixture::run(int count) {
  process_again(again_, count);
  catch_up();
}

// Events keep their place among the frames.
void TimelineFixture::push_event(GstEvent* event) {
  const GstEventType type = GST_EVENT_TYPE(event);
  fail_unless(gst_harness_push_event(rig.harness(), event));
  wait_until(gst_event_type_get_name(type), [&] {
    while (Ref<GstEvent> out{gst_harness_try_pull_event(rig.harness())})
      if (GST_EVENT_TYPE(out.get()) == type) return true;
    return false;
  });
}

void TimelineFixture::catch_up() {
  push_event(gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty("all")));
}

void TimelineFixture::end_stream() { push_event(gst_event_new_eos()); }

Trace expect_trace(const std::string& path, const std::vector<int>& frames, unsigned stripes) {
  Trace trace = read_trace(read_file(path));
  fail_unless_empty(trace.fault);
  fail_unless_empty(frames_fault(trace, frames, static_cast<int>(stripes), is_mapped_run()));
  return trace;
}

std::vector<Said> take_said(GstBus* bus) {
  std::vector<Said> said;
  while (Ref<GstMessage> message{gst_bus_pop(bus)}) {
    GError* error = nullptr;
    gchar* debug = nullptr;
    const GstMessageType type = GST_MESSAGE_TYPE(message.get());
    if (type == GST_MESSAGE_ERROR) gst_message_parse_error(message.get(), &error, &debug);
    if (type == GST_MESSAGE_WARNING) gst_message_parse_warning(message.get(), &error, &debug);
    if (type == GST_MESSAGE_INFO) gst_message_parse_info(message.get(), &error, &debug);
    if (!error) continue;
    fail_unless(type != GST_MESSAGE_ERROR, "%s", error->message);
    said.push_back({type == GST_MESSAGE_WARNING, error->domain, error->code, error->message,
                    debug ? debug : ""});
    g_error_free(error);
    g_free(debug);
  }
  return said;
}

std::vector<Said> with(const std::vector<Said>& said, const std::string& part) {
  std::vector<Said> out;
  for (const Said& one : said)
    if (one.text.find(part) != std::string::npos) out.push_back(one);
  return out;
}

}  // namespace test
