// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

// The text of a .cube file as lines, words and numbers. For cube_file.cpp.

namespace stripe {

/// The lines of a text, one after another. A line ends with LF, CRLF, CR, or the text.
class CubeLines {
 public:
  /// A byte order mark of UTF-8 at the begin is left out.
  explicit CubeLines(std::string_view text) noexcept;

  /// Goes to the next line; false where there is none.
  bool next() noexcept;

  std::string_view line() const noexcept { return line_; }

  /// Of the line, counted from 1; 0 before the first one.
  int number() const noexcept { return number_; }

  /// Bytes of text from the begin of this line on; 0 after the last one.
  std::size_t bytes_left() const noexcept { return bytes_left_; }

 private:
  std::string_view line_;
  std::string_view rest_;
  std::size_t bytes_left_ = 0;
  int number_ = 0;
};

/// What blanks separate in a line, up to a word that begins with '#'.
struct CubeWords {
  explicit CubeWords(std::string_view line) noexcept;

  std::array<std::string_view, 5> word;  ///< one more than any line may have
  std::size_t count = 0;
};

/// A line's text without blanks at its ends.
std::string_view without_blanks(std::string_view text) noexcept;

/// Whether both are the same but for the case of ASCII letters; `upper` has no small ones.
bool is_word(std::string_view word, std::string_view upper) noexcept;

/// A decimal number with a point, as printf writes them in the C locale. None where `word` is
/// anything else, or beyond largest_number.
std::optional<float> read_number(std::string_view word) noexcept;

/// A decimal number without point or exponent. None where `word` is anything else.
std::optional<int> read_whole_number(std::string_view word) noexcept;

/// The text in quotes for a message: shortened, and with '?' for what isn't printable ASCII.
std::string quoted_for_message(std::string_view text);

}  // namespace stripe
