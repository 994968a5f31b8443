// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/overlap.h"

#include <algorithm>
#include <limits>

namespace stripe {

namespace {

std::vector<Span> spans_of(std::span<const FrameTimes> frames, Span StripeTimes::*kind) {
  std::vector<Span> spans;
  for (const FrameTimes& frame : frames)
    for (const StripeTimes& stripe : frame.stripes)
      if ((stripe.*kind).length() > 0) spans.push_back(stripe.*kind);
  return spans;
}

Time first_begin(const std::vector<Span>& spans) {
  Time first = std::numeric_limits<Time>::max();
  for (const Span& span : spans) first = std::min(first, span.begin);
  return first;
}

Time last_end(const std::vector<Span>& spans) {
  Time last = std::numeric_limits<Time>::min();
  for (const Span& span : spans) last = std::max(last, span.end);
  return last;
}

Span inner_window(std::span<const FrameTimes> frames) {
  const std::vector<Span> downloads = spans_of(frames.first(1), &StripeTimes::download);
  const std::vector<Span> uploads = spans_of(frames.last(1), &StripeTimes::upload);
  if (frames.size() < 2 || downloads.empty() || uploads.empty()) return {};
  return {first_begin(downloads), last_end(uploads)};
}

Span whole_window(std::span<const FrameTimes> frames) {
  std::vector<Span> all;
  for (Span StripeTimes::*kind :
       {&StripeTimes::upload, &StripeTimes::kernel, &StripeTimes::download}) {
    const std::vector<Span> spans = spans_of(frames, kind);
    all.insert(all.end(), spans.begin(), spans.end());
  }
  if (all.empty()) return {};
  return {first_begin(all), last_end(all)};
}

// The bytes that went over the link within the window: a span's as the part of it that is inside.
double bytes_within(std::span<const FrameTimes> frames, Span StripeTimes::*kind,
                    std::uint64_t FrameTimes::*bytes, const Span& window) {
  double sum = 0;
  for (const FrameTimes& frame : frames) {
    Time whole = 0, inside = 0;
    for (const StripeTimes& stripe : frame.stripes) {
      const Span& span = stripe.*kind;
      whole += span.length();
      inside +=
          std::max<Time>(0, std::min(span.end, window.end) - std::max(span.begin, window.begin));
    }
    if (whole > 0)
      sum += static_cast<double>(frame.*bytes) * static_cast<double>(inside) /
             static_cast<double>(whole);
  }
  return sum;
}

bool is_mapped(std::span<const FrameTimes> frames) {
  return frames.front().transfer == Transfer::mapped;
}

}  // namespace

Time union_length(std::vector<Span> spans, const Span& window) {
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  Time sum = 0, done = window.begin;
  for (const Span& span : spans) {
    const Time begin = std::max(span.begin, done);
    const Time end = std::min(span.end, window.end);
    if (end <= begin) continue;
    sum += end - begin;
    done = end;
  }
  return sum;
}

Overlap measure_overlap(std::span<const FrameTimes> frames) {
  Overlap out;
  if (frames.empty()) return out;
  Span window = inner_window(frames);
  if (window.length() <= 0) window = whole_window(frames);
  if (window.length() <= 0) return out;
  const auto length = [&](Span StripeTimes::*kind) {
    return microseconds(union_length(spans_of(frames, kind), window));
  };
  out.window = microseconds(window.length());
  out.upload = length(&StripeTimes::upload);
  out.kernel = length(&StripeTimes::kernel);
  out.download = length(&StripeTimes::download);
  if (is_mapped(frames)) {
    out.link_share = out.kernel / out.window;
    return out;
  }
  const double sum = out.upload + out.kernel + out.download;
  const double longest = std::max({out.upload, out.kernel, out.download});
  out.overlap = sum / out.window;
  out.ceiling = longest > 0 ? sum / longest : 0;
  out.link_share = (out.upload + out.download) / 2 / out.window;
  const auto rate = [&](Span StripeTimes::*kind, std::uint64_t FrameTimes::*bytes) {
    return bytes_within(frames, kind, bytes, window) / (out.window / 1e6);
  };
  out.upload_bytes_per_second = rate(&StripeTimes::upload, &FrameTimes::bytes_uploaded);
  out.download_bytes_per_second = rate(&StripeTimes::download, &FrameTimes::bytes_downloaded);
  return out;
}

bool is_kernel_bound(const Overlap& overlap) {
  return overlap.overlap > 0 && overlap.kernel > 0.8 * overlap.window &&
         overlap.kernel > 1.1 * std::max(overlap.upload, overlap.download);
}

}  // namespace stripe
