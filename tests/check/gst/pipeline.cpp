// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/pipeline.h"

#include <thread>

#include "gst/outlet.h"

namespace test {

std::string stripes_at(unsigned depth, const std::string& name) {
  return element_text() + " name=" + name + " async-depth=" + std::to_string(depth);
}

std::string small_source(int frames, const std::string& framerate) {
  return "videotestsrc name=source pattern=snow num-buffers=" + std::to_string(frames) +
         " ! video/x-raw,format=I420,width=64,height=48,framerate=" + framerate;
}

TestPipeline::TestPipeline(const std::string& line) {
  GError* error = nullptr;
  element.reset(gst_parse_launch(line.c_str(), &error));
  fail_unless(error == nullptr, "%s: %s", line.c_str(), error ? error->message : "");
  gst_object_ref_sink(element.get());
  bus.reset(gst_element_get_bus(element.get()));
}

TestPipeline::~TestPipeline() { gst_element_set_state(element.get(), GST_STATE_NULL); }

Ref<GstElement> TestPipeline::find(const char* name) const {
  GstElement* found = gst_bin_get_by_name(GST_BIN(element.get()), name);
  fail_unless(found != nullptr, "no %s", name);
  return Ref<GstElement>(found);
}

Ref<GstPad> TestPipeline::pad(const char* element_name, const char* pad_name) const {
  return Ref<GstPad>(gst_element_get_static_pad(find(element_name).get(), pad_name));
}

void TestPipeline::set_state(GstState state) const {
  fail_unless(gst_element_set_state(element.get(), state) != GST_STATE_CHANGE_FAILURE);
  const GstStateChangeReturn reached =
      gst_element_get_state(element.get(), nullptr, nullptr, 10 * GST_SECOND);
  fail_unless(reached == GST_STATE_CHANGE_SUCCESS || reached == GST_STATE_CHANGE_NO_PREROLL,
              "%s is not reached: %s", gst_element_state_get_name(state),
              gst_element_state_change_return_get_name(reached));
}

Ref<GstMessage> TestPipeline::wait_for(GstMessageType types) const {
  const auto wanted = static_cast<GstMessageType>(types | GST_MESSAGE_ERROR);
  Ref<GstMessage> message(gst_bus_timed_pop_filtered(bus.get(), 10 * GST_SECOND, wanted));
  fail_unless(message != nullptr, "no %s came", gst_message_type_get_name(types));
  if (GST_MESSAGE_TYPE(message.get()) != GST_MESSAGE_ERROR || types & GST_MESSAGE_ERROR)
    return message;
  GError* error = nullptr;
  gst_message_parse_error(message.get(), &error, nullptr);
  ck_abort_msg("%s", error->message);
}

void TestPipeline::expect_no_error() const {
  const std::vector<Report> errors = take_reports(bus.get(), GST_MESSAGE_ERROR);
  fail_unless(errors.empty(), "%s", errors.empty() ? "" : errors[0].text.c_str());
}

bool TestPipeline::seek(gint64 start, GstSeekFlags flags, gint64 stop) const {
  return gst_element_seek(element.get(), 1.0, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET, start,
                          stop < 0 ? GST_SEEK_TYPE_NONE : GST_SEEK_TYPE_SET, stop);
}

Counter::Counter(const TestPipeline& pipeline, const char* element_name, const char* pad_name,
                 std::function<void(unsigned)> call)
    : pipeline_(pipeline), call_(std::move(call)) {
  const auto note = [](GstPad*, GstPadProbeInfo*, gpointer self) {
    auto* counter = static_cast<Counter*>(self);
    const unsigned count = ++counter->count_;
    if (counter->call_) counter->call_(count);
    return GST_PAD_PROBE_OK;
  };
  gst_pad_add_probe(pipeline.pad(element_name, pad_name).get(), GST_PAD_PROBE_TYPE_BUFFER, note,
                    this, nullptr);
}

Counter::~Counter() { gst_element_set_state(pipeline_.element.get(), GST_STATE_NULL); }

void Counter::wait_for(unsigned more) const {
  const unsigned before = count_;
  wait_until("more frames", [&] { return count_ >= before + more; });
}

void Counter::wait_for_first() const {
  wait_until("a first frame", [this] { return count_ >= 1; });
}

void expect_to_end(const char* what, const std::function<void()>& call) {
  std::atomic<bool> ended = false;
  std::thread thread([&] {
    call();
    ended = true;
  });
  wait_until(what, [&] { return ended.load(); });
  thread.join();
}

}  // namespace test
