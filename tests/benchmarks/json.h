// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// As much of JSON as a report needs. Numbers don't depend on the locale, which GStreamer sets.

#include <charconv>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>

namespace benchmark {

inline std::string json_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') quoted += '\\';
    if (code < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", code);
      quoted += escape;
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

// JSON has no word for what is not finite.
inline std::string json_number(double value, int decimals) {
  if (!std::isfinite(value)) return "null";
  char digits[400];  // the largest double has 309 before the point
  const auto end =
      std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed, decimals).ptr;
  return {digits, end};
}

// Writes members as they come, with their commas. The outer levels have a line for each member, an object in an array
// has one line in all, so that a difference between two reports can be read.
class JsonWriter {
 public:
  explicit JsonWriter(FILE* file) : file_(file) {}

  void begin_object(const char* key = nullptr) { begin(key, '{'); }
  void end_object() { end('}'); }
  void begin_array(const char* key) { begin(key, '['); }
  void end_array() { end(']'); }

  void text(const char* key, std::string_view value) { member(key, json_text(value)); }
  void number(const char* key, double value, int decimals) {
    member(key, json_number(value, decimals));
  }
  void number(const char* key, int value) { member(key, std::to_string(value)); }

 private:
  static constexpr int levels_in_lines = 2;

  void member(const char* key, const std::string& value) {
    if (!first_) std::fputc(',', file_);
    if (level_ <= levels_in_lines)
      new_line(level_);
    else if (!first_)
      std::fputc(' ', file_);
    first_ = false;
    if (key) std::fprintf(file_, "%s: ", json_text(key).c_str());
    std::fputs(value.c_str(), file_);
  }
  void begin(const char* key, char bracket) {
    if (level_ == 0)
      std::fputc(bracket, file_);
    else
      member(key, std::string(1, bracket));
    ++level_;
    first_ = true;
  }
  void end(char bracket) {
    if (!first_ && level_ <= levels_in_lines) new_line(level_ - 1);
    first_ = false;
    std::fputc(bracket, file_);
    if (--level_ == 0) std::fputc('\n', file_);
  }
  void new_line(int indentation) { std::fprintf(file_, "\n%*s", 2 * indentation, ""); }

  FILE* const file_;
  int level_ = 0;
  bool first_ = true;
};

}  // namespace benchmark
