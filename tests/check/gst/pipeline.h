// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <functional>
#include <string>

#include "gst/support.h"

// Real pipelines with the element in them.

namespace test {

/// element_text() with "name=<name> async-depth=<depth>".
std::string stripes_at(unsigned depth, const std::string& name = "stripes");

/// "videotestsrc name=source ..." with small frames; `frames` of them, or without end for -1.
std::string small_source(int frames = -1, const std::string& framerate = "100/1");

/// A pipeline from a gst-launch line; NULL and gone at the end.
struct TestPipeline {
  explicit TestPipeline(const std::string& line);
  TestPipeline(const TestPipeline&) = delete;
  ~TestPipeline();

  Ref<GstElement> find(const char* name) const;
  Ref<GstPad> pad(const char* element_name, const char* pad_name) const;

  /// Goes there; fails unless it is reached within ten seconds.
  void set_state(GstState state) const;

  /// The next message of these types; fails on an error and where none comes within ten seconds.
  Ref<GstMessage> wait_for(GstMessageType types) const;

  void expect_no_error() const;

  bool seek(gint64 start, GstSeekFlags flags, gint64 stop = -1) const;

  Ref<GstElement> element;
  Ref<GstBus> bus;
};

/// Counts the frames that pass a pad; calls back in the thread that brings them, with the count so
/// far.
///
/// Owner: borrows the pipeline, and stops it at the end, since its threads come here.
class Counter {
 public:
  Counter(const TestPipeline& pipeline, const char* element_name, const char* pad_name,
          std::function<void(unsigned)> call = {});
  Counter(const Counter&) = delete;
  ~Counter();

  unsigned count() const { return count_; }

  /// Fails unless `more` frames come within ten seconds.
  void wait_for(unsigned more) const;

  /// The first frame may have come before anybody waited for it.
  void wait_for_first() const;

 private:
  const TestPipeline& pipeline_;
  std::function<void(unsigned)> call_;
  std::atomic<unsigned> count_ = 0;
};

/// Runs in a thread of its own and must end within ten seconds.
void expect_to_end(const char* what, const std::function<void()>& call);

}  // namespace test
