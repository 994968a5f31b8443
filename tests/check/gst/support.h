// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/check.h"

// What every element test needs: owners, the element on the backend under test, a harness with a
// bus, the fields of `stats`, and a main that knows when to skip.

namespace test {

/// Gives back one reference, or the whole thing where it isn't counted.
struct Release {
  void operator()(GstElement* element) const { gst_object_unref(element); }
  void operator()(GstAllocator* allocator) const { gst_object_unref(allocator); }
  void operator()(GstBufferPool* pool) const { gst_object_unref(pool); }
  void operator()(GstBus* bus) const { gst_object_unref(bus); }
  void operator()(GstPad* pad) const { gst_object_unref(pad); }
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
  void operator()(GstMemory* memory) const { gst_memory_unref(memory); }
  void operator()(GstCaps* caps) const { gst_caps_unref(caps); }
  void operator()(GstEvent* event) const { gst_event_unref(event); }
  void operator()(GstQuery* query) const { gst_query_unref(query); }
  void operator()(GstMessage* message) const { gst_message_unref(message); }
  void operator()(GstSample* sample) const { gst_sample_unref(sample); }
  void operator()(GstStructure* structure) const { gst_structure_free(structure); }
};

/// Owner of one reference.
template <typename T>
using Ref = std::unique_ptr<T, Release>;

/// How frames reach the device in this run, a value of `transfer-mode`: STRIPE_TEST_TRANSFER=copy
/// (default) or mapped.
const char* transfer_name();

/// Whether an element of this run uses all memory where it lies, with `page-lock=auto`.
bool any_memory_will_do();

/// The element with `backend` and `transfer-mode` set to those of this run, in NULL.
Ref<GstElement> make_element();

/// The same with `async-depth` set.
Ref<GstElement> make_element(unsigned async_depth);

/// The same for gst-launch: "cudastripetransform backend=... transfer-mode=...".
std::string element_text();

/// What an error, warning or info message on the bus says.
struct Report {
  GQuark domain;
  int code;
  std::string text;   ///< for the user
  std::string debug;  ///< for the programmer
};

/// Takes all messages of `type` (ERROR, WARNING or INFO) off the bus, and every other one with
/// them.
std::vector<Report> take_reports(GstBus* bus, GstMessageType type);

/// Fails unless there is exactly one error on the bus, with this domain and code, and some text.
Report expect_one_error(GstBus* bus, GQuark domain, int code);

/// The element between the two pads of a harness, in PLAYING, with a bus of its own.
///
/// Owner: takes `element`; `release` gives it back in NULL, for a second harness.
class Rig {
 public:
  explicit Rig(Ref<GstElement> element = make_element());
  explicit Rig(unsigned async_depth) : Rig(make_element(async_depth)) {}
  Rig(const Rig&) = delete;
  ~Rig();

  GstElement* element() const { return element_.get(); }
  GstHarness* harness() const { return harness_; }
  GstBus* bus() const { return bus_.get(); }

  /// Pushes CAPS and SEGMENT into the element.
  void set_caps(GstCaps* caps);

  GstFlowReturn push(Ref<GstBuffer> buffer);

  /// The next frame that came out; fails the test where none comes.
  Ref<GstBuffer> pull();

  /// Pushes and pulls; fails the test unless the flow is OK.
  Ref<GstBuffer> process(Ref<GstBuffer> buffer);

  /// Fails if the element has complained on its bus.
  void expect_quiet();

  /// Fails unless all that the element has said on its bus is one warning, RESOURCE/FAILED, that
  /// memory can't be page-locked, whose text has `part` in it.
  void expect_one_memory_warning(const char* part);

  /// Takes the harness away and stops the element.
  Ref<GstElement> release();

 private:
  void tear_down();

  Ref<GstElement> element_;
  Ref<GstBus> bus_;
  GstHarness* harness_ = nullptr;
};

/// A number in `stats`; fails if the field is missing or of another type.
std::uint64_t stat_uint64(GstElement* element, const char* field);
unsigned stat_uint(GstElement* element, const char* field);
bool stat_boolean(GstElement* element, const char* field);
std::string stat_string(GstElement* element, const char* field);

/// Sets an enum property by nick, as a user would.
void set_nick(GstElement* element, const char* property, const char* nick);

/// "auto", "cuda" or "host", whatever `backend` is now.
const char* nick_of(GstElement* element, const char* property);

/// Caps of a raw picture; empty colorimetry or interlace mode: left out, so GStreamer's defaults
/// hold.
Ref<GstCaps> make_caps(const std::string& format, int width, int height,
                       const std::string& colorimetry = "", const std::string& interlace_mode = "");

/// Whether an element started, and what it said.
struct StartResult {
  bool started;
  std::vector<Report> errors;
  std::vector<Report> warnings;
  std::vector<Report> infos;
};

/// NULL→PAUSED→NULL, and what the bus heard of it.
StartResult try_start(GstElement* element);

/// The same for a new element with this backend and `cuda-device-id`.
StartResult try_backend(const char* backend, int cuda_device_id);

/// Runs the suite; 77 where the backend under test is cuda and there is no device.
int run_element_suite(int argc, char** argv, Suite* (*make_suite)(), const char* name,
                      const char* file);

}  // namespace test

#define ELEMENT_CHECK_MAIN(name)                                               \
  int main(int argc, char** argv) {                                            \
    return test::run_element_suite(argc, argv, name##_suite, #name, __FILE__); \
  }
