// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace demo {

/// GStreamer counts references; these owners give theirs back.
struct Unref {
  void operator()(GstElement* element) const { gst_object_unref(element); }
  void operator()(GstPad* pad) const { gst_object_unref(pad); }
  void operator()(GstBus* bus) const { gst_object_unref(bus); }
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
  void operator()(GstCaps* caps) const { gst_caps_unref(caps); }
  void operator()(GstSample* sample) const { gst_sample_unref(sample); }
  void operator()(GstMessage* message) const { gst_message_unref(message); }
  void operator()(GstStructure* structure) const { gst_structure_free(structure); }
  void operator()(GError* error) const { g_error_free(error); }
};

template <typename T>
using Ref = std::unique_ptr<T, Unref>;

/// What went wrong, for people; `fallback` if GStreamer gave no reason. Takes the error.
std::string take_text(GError* error, const char* fallback = "unknown error");

/// A pipeline in gst-launch's words. It is stopped when this goes.
class Pipeline {
 public:
  /// Errors:  throws std::runtime_error, such as for an element that isn't installed.
  explicit Pipeline(const std::string& description);
  Pipeline(const Pipeline&) = delete;
  ~Pipeline();

  /// The element of that name.
  /// Errors:  throws std::runtime_error if there is none.
  Ref<GstElement> element(const char* name) const;

  /// Plays until the end of the stream, or until `go_on`, which is asked some times a second in the
  /// calling thread, says false. Elements keep what they counted until the pipeline is stopped.
  /// Errors:  throws what the pipeline reports as std::runtime_error; throws Interrupted.
  void play(const std::function<bool()>& go_on);

  void stop();

  /// The warnings of its elements while it played.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  bool handle(GstMessage* message);

  Ref<GstElement> pipeline_;
  std::vector<std::string> warnings_;
};

}  // namespace demo
