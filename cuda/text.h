// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <charconv>
#include <string>

namespace stripe {

/// A number as text, with a point whatever the locale, and `decimals` after it.
inline std::string to_text(double value, int decimals) {
  std::array<char, 64> text;
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value,
                                    std::chars_format::fixed, decimals);
  return result.ec == std::errc{} ? std::string(text.data(), result.ptr) : "0";
}

}  // namespace stripe
