// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// A pipeline that is measured: a source that costs nothing, what is in question, a sink that drops its results. Each
// frame is mapped for reading before the sink drops it, whoever made it: some elements copy nothing until somebody
// does.

#include <gst/gst.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "measure.h"

namespace benchmark {

struct Unref {
  void operator()(gpointer object) const { gst_object_unref(object); }
};
using ElementRef = std::unique_ptr<GstElement, Unref>;

struct Picture {
  const char* format;  // GStreamer's name
  int width;
  int height;
};

Picture picture_of(const Size& size);

enum class Source {
  still,  // imagefreeze: one picture in ordinary memory, again and again
  pool,  // another buffer of the pool that the element offers for each frame, into which a line is written
};

// What is between source and sink, in gst-launch's language.
struct Chain {
  Picture picture;
  Source source;
  std::string elements;
};

// The whole pipeline, with so many frames; without `frames`, endless.
std::string pipeline_text(const Chain& chain, std::optional<int> frames);

// Throws std::runtime_error.
ElementRef make_pipeline(const std::string& text);

// Throws std::runtime_error with the message of an error that is on the pipeline's bus.
void throw_if_failed(GstElement* pipeline);

// Calls `seen` for each frame at the pipeline's sink, in its streaming thread.
class SinkProbe {
 public:
  SinkProbe(GstElement* pipeline, std::function<void()> seen);
  SinkProbe(const SinkProbe&) = delete;
  ~SinkProbe();

 private:
  static GstPadProbeReturn handle(GstPad* pad, GstPadProbeInfo* info, gpointer data);

  const std::function<void()> seen_;
  GstPad* pad_;
  gulong id_;
};

// Runs a pipeline over so many frames after a warm-up, to its end. `inspect`, if there is one, sees it when it has
// stopped. Throws std::runtime_error where it fails or hangs.
Sample run_chain(const Chain& chain, int frames,
                 const std::function<void(GstElement*)>& inspect = {});

// Runs a whole pipeline to its end. Throws as above.
void run_to_end(const std::string& text);

// The same as run_chain over as many frames as its pace allows.
Sample run_at_pace(const Chain& chain, Pace& pace,
                   const std::function<void(GstElement*)>& inspect = {});

// Why an element can't be made here; empty where it can. `plugin` is the one that should have it.
std::string why_missing(const std::string& element, const std::string& plugin);

}  // namespace benchmark
