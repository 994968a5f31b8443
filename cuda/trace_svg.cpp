// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "cuda/overlap.h"
#include "cuda/timeline.h"

namespace stripe {

namespace {

// Pixels.
constexpr double width = 1200;
constexpr double left = 92;
constexpr double right = 24;
constexpr double top = 78;
constexpr double stream_height = 30;
constexpr double host_height = 18;
constexpr double gap = 6;
constexpr double thinnest = 0.8;
constexpr double narrowest_with_text = 13;
constexpr int host_rows = static_cast<int>(host_row_names.size());

// A colour a frame; upload, kernel, download from light to dark to medium.
struct Shades {
  const char* upload;
  const char* kernel;
  const char* download;
};
constexpr std::array<Shades, 6> shades = {{{"#9ecae9", "#11406b", "#4c8fc0"},
                                           {"#fdc58a", "#8a4300", "#e58a2b"},
                                           {"#a8dba0", "#14561c", "#4da852"},
                                           {"#f2a7a5", "#7d1416", "#d1595a"},
                                           {"#cfb9e6", "#452073", "#8f68bd"},
                                           {"#9fdcd8", "#0b5552", "#3fa6a0"}}};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {  // "]]>" may not stand in text
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      out += c;
    }
  }
  return out;
}

std::string pixels(double value) { return to_text(value, 1); }

class Picture {
 public:
  explicit Picture(const Timeline& timeline)
      : timeline_(timeline),
        extent_(extent_of(timeline)),
        scale_((width - left - right) / std::max(1.0, microseconds(extent_.length()))) {}

  std::string draw() {
    const double streams_end = top + timeline_.streams * (stream_height + gap);
    height_ = streams_end + gap + host_rows * (host_height + gap) + 40;
    draw_frame_of_picture();
    draw_axis();
    for (int i = 0; i < timeline_.streams; ++i)
      row_label(stream_top(i), stream_height, "stream " + std::to_string(i));
    for (int i = 0; i < host_rows; ++i)
      row_label(host_top(i), host_height, host_row_names[static_cast<std::size_t>(i)]);
    for (const FrameTimes& frame : timeline_.frames) draw_frame(frame);
    return text_ + "</svg>\n";
  }

 private:
  double stream_top(int stream) const { return top + stream * (stream_height + gap); }
  double host_top(int row) const {
    return stream_top(timeline_.streams) + gap + row * (host_height + gap);
  }
  double x_of(Time time) const { return left + microseconds(time - extent_.begin) * scale_; }

  void write(double x, double y, const char* style, const std::string& text) {
    text_ += "<text x=\"" + pixels(x) + "\" y=\"" + pixels(y) + "\" " + style + ">" +
             escaped(text) + "</text>\n";
  }

  void row_label(double y, double height, const std::string& label) {
    write(left - 8, y + height / 2 + 4, "text-anchor=\"end\"", label);
  }

  // A white card of its own: readable on pages of any colour.
  void draw_frame_of_picture() {
    text_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + pixels(width) + " " +
            pixels(height_) + "\" width=\"" + pixels(width) + "\" height=\"" + pixels(height_) +
            "\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n"
            "<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"#fff\"/>\n";
    write(16, 24, "font-size=\"17\" font-weight=\"bold\"", title());
    write(16, 43, "", timeline_.device + ": " + timeline_.settings);
    write(16, 60, "fill=\"#666\"", legend());
  }

  std::string title() const {
    const Overlap overlap = measure_overlap(timeline_.frames);
    const std::string share = "link used " + to_text(100 * overlap.link_share, 0) + " %";
    if (timeline_.frames.empty()) return "No frames";
    if (overlap.overlap == 0) return "Mapped: " + share;
    return "Overlap " + to_text(overlap.overlap, 2) + " of at most " + to_text(overlap.ceiling, 2) +
           ", " + share;
  }

  std::string legend() const {
    std::string text =
        "a colour a frame; U upload (light), K kernel (dark), D download (medium); " +
        std::to_string(timeline_.frames.size()) + " frames";
    if (timeline_.warming_up) return text + ", of a stream that had only just begun";
    return text + ", after " + std::to_string(timeline_.left_out) + " that warmed up";
  }

  void draw_axis() {
    const double bottom = host_top(host_rows);
    const double length = microseconds(extent_.length());
    double step = std::pow(10, std::floor(std::log10(std::max(1.0, length / 4))));
    while (length / step > 12) step *= length / step > 24 ? 5 : 2;
    for (double t = 0; t <= length; t += step) {
      const double x = left + t * scale_;
      text_ += "<path d=\"M" + pixels(x) + " " + pixels(top - 6) + "V" + pixels(bottom) +
               "\" stroke=\"#ddd\"/>\n";
      write(x, bottom + 16, "text-anchor=\"middle\" fill=\"#666\"", to_text(t, 0));
    }
    write(width - right, bottom + 32, "text-anchor=\"end\" fill=\"#666\"", "microseconds");
  }

  void bar(const Span& span, double y, double height, const char* color, const char* letter,
           const std::string& tip) {
    if (span.length() <= 0) return;
    const double x = x_of(span.begin);
    const double wide = std::max(thinnest, microseconds(span.length()) * scale_);
    text_ += "<rect x=\"" + pixels(x) + "\" y=\"" + pixels(y) + "\" width=\"" + pixels(wide) +
             "\" height=\"" + pixels(height) + "\" fill=\"" + color + "\"><title>" + escaped(tip) +
             ", " + to_text(microseconds(span.length()), 1) + " us</title></rect>\n";
    if (wide >= narrowest_with_text && *letter)
      write(x + wide / 2, y + height / 2 + 4,
            *letter == 'U' ? "text-anchor=\"middle\" fill=\"#222\""
                           : "text-anchor=\"middle\" fill=\"#fff\"",
            letter);
  }

  void draw_frame(const FrameTimes& frame) {
    const Shades& colors = shades[frame.frame % shades.size()];
    const std::string name = "frame " + std::to_string(frame.frame);
    for (const StripeTimes& stripe : frame.stripes) {
      const double y = stream_top(stripe.stream);
      const std::string tip = name + ", stripe " + std::to_string(stripe.stripe) + ": ";
      bar(stripe.upload, y, stream_height, colors.upload, "U", tip + "upload");
      bar(stripe.kernel, y, stream_height, colors.kernel, "K", tip + "kernel");
      bar(stripe.download, y, stream_height, colors.download, "D", tip + "download");
    }
    bar(frame.submit, host_top(0), host_height, colors.download, "", name + ": submit");
    for (const Span& staging : frame.staging_in)
      bar(staging, host_top(1), host_height, colors.download, "", name + ": staging");
    for (const Span& staging : frame.staging_out)
      bar(staging, host_top(3), host_height, colors.download, "", name + ": staging");
    bar(frame.wait, host_top(2), host_height, colors.upload, "", name + ": wait");
    bar(frame.push, host_top(4), host_height, colors.kernel, "", name + ": push");
  }

  const Timeline& timeline_;
  const Span extent_;
  const double scale_;
  double height_ = 0;
  std::string text_;
};

}  // namespace

std::string to_svg(const Timeline& timeline) { return Picture(timeline).draw(); }

}  // namespace stripe
