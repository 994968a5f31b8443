// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/doctor/text.h"

#include <cstdio>
#include <limits>
#include <sstream>

namespace doctor {

std::string fixed(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string major_version_text(int version) { return version_text(version / 1000 * 1000); }

std::string bytes_text(std::uint64_t size_bytes) {
  if (size_bytes == std::numeric_limits<std::uint64_t>::max()) return "unlimited";
  double value = static_cast<double>(size_bytes) / 1024;
  const char* unit = "KiB";
  for (const char* larger : {"MiB", "GiB", "TiB"}) {
    if (value < 1024) break;
    value /= 1024;
    unit = larger;
  }
  const bool whole = value == static_cast<double>(static_cast<std::uint64_t>(value));
  return fixed(value, whole ? 0 : 1) + " " + unit;
}

std::string left(const std::string& text, std::size_t columns) {
  return text + std::string(text.size() < columns ? columns - text.size() : 0, ' ');
}

std::string right(const std::string& text, std::size_t columns) {
  return std::string(text.size() < columns ? columns - text.size() : 0, ' ') + text;
}

std::string field(const std::string& label, const std::string& value, std::size_t label_columns) {
  std::string text;
  std::string line = left(label, label_columns);
  bool empty = true;
  std::istringstream words(value);
  for (std::string word; words >> word; empty = false) {
    if (!empty && line.size() + 1 + word.size() > line_columns) {
      text += line + "\n";
      line.assign(label_columns, ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + word;
  }
  return text + line + "\n";
}

}  // namespace doctor
