// SPDX-License-Identifier: LGPL-2.1-or-later
#include <array>
#include <cstdio>
#include <string_view>

#include "cuda/overlap.h"
#include "cuda/timeline.h"

namespace stripe {

namespace {

constexpr int device_process = 1;
constexpr int host_process = 2;

enum HostRow { submit_row = 1, staging_in_row, wait_row, staging_out_row, push_row };

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> escape;
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(c));
      out += escape.data();
    } else {
      out += c;
    }
  }
  return out + '"';
}

class Events {
 public:
  explicit Events(Time origin) : origin_(origin) {}

  void name(const char* what, int process, int row, const std::string& name) {
    add("{\"ph\":\"M\",\"name\":" + json_string(what) + ",\"pid\":" + std::to_string(process) +
        ",\"tid\":" + std::to_string(row) + ",\"args\":{\"name\":" + json_string(name) + "}}");
  }

  void order(int process, int row) {
    add("{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":" + std::to_string(process) +
        ",\"tid\":" + std::to_string(row) + ",\"args\":{\"sort_index\":" + std::to_string(row) +
        "}}");
  }

  void span(const char* name, int process, int row, const Span& span, const std::string& args) {
    if (span.length() <= 0) return;
    add("{\"ph\":\"X\",\"name\":" + json_string(name) +
        ",\"cat\":" + (process == device_process ? "\"device\"" : "\"host\"") +
        ",\"pid\":" + std::to_string(process) + ",\"tid\":" + std::to_string(row) +
        ",\"ts\":" + to_text(microseconds(span.begin - origin_), 3) +
        ",\"dur\":" + to_text(microseconds(span.length()), 3) + ",\"args\":{" + args + "}}");
  }

  const std::string& text() const { return text_; }

 private:
  void add(const std::string& event) {
    if (!text_.empty()) text_ += ",\n";
    text_ += event;
  }

  const Time origin_;
  std::string text_;
};

void add_names(Events& events, const Timeline& timeline) {
  events.name("process_name", device_process, 0, timeline.device);
  events.name("process_name", host_process, 0, "host");
  for (int i = 0; i < timeline.streams; ++i) {
    events.name("thread_name", device_process, i + 1, "stream " + std::to_string(i));
    events.order(device_process, i + 1);
  }
  for (int row = submit_row; row <= push_row; ++row) {
    events.name("thread_name", host_process, row,
                host_row_names[static_cast<std::size_t>(row - 1)]);
    events.order(host_process, row);
  }
}

void add_frame(Events& events, const FrameTimes& frame) {
  const std::string frame_argument = "\"frame\":" + std::to_string(frame.frame);
  events.span("submit", host_process, submit_row, frame.submit, frame_argument);
  events.span("wait", host_process, wait_row, frame.wait, frame_argument);
  events.span("push", host_process, push_row, frame.push, frame_argument);
  for (const Span& staging : frame.staging_in)
    events.span("staging", host_process, staging_in_row, staging, frame_argument);
  for (const Span& staging : frame.staging_out)
    events.span("staging", host_process, staging_out_row, staging, frame_argument);
  for (const StripeTimes& stripe : frame.stripes) {
    const std::string args = frame_argument + ",\"stripe\":" + std::to_string(stripe.stripe);
    const int row = stripe.stream + 1;
    events.span("upload", device_process, row, stripe.upload, args);
    events.span("kernel", device_process, row, stripe.kernel, args);
    events.span("download", device_process, row, stripe.download, args);
  }
}

std::string other_data(const Timeline& timeline) {
  const Overlap overlap = measure_overlap(timeline.frames);
  return "{\"device\":" + json_string(timeline.device) +
         ",\"settings\":" + json_string(timeline.settings) +
         ",\"frames\":" + std::to_string(timeline.frames.size()) +
         ",\"warm-up-frames-left-out\":" + std::to_string(timeline.left_out) +
         ",\"warming-up\":" + (timeline.warming_up ? "true" : "false") +
         ",\"overlap\":" + to_text(overlap.overlap, 3) +
         ",\"overlap-ceiling\":" + to_text(overlap.ceiling, 3) +
         ",\"link-share\":" + to_text(overlap.link_share, 3) + "}";
}

}  // namespace

std::string to_trace_json(const Timeline& timeline) {
  Events events(extent_of(timeline).begin);
  add_names(events, timeline);
  for (const FrameTimes& frame : timeline.frames) add_frame(events, frame);
  return "{\"displayTimeUnit\":\"ns\",\n\"otherData\":" + other_data(timeline) +
         ",\n\"traceEvents\":[\n" + events.text() + "\n]}\n";
}

}  // namespace stripe
