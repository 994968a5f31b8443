// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/cube_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "cuda/cube_file.h"

namespace stripe {

namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
constexpr std::size_t longest_quote = 60;

bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

bool ends_line(char c) noexcept { return c == '\n' || c == '\r'; }

char to_upper(char c) noexcept {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

/// std::from_chars knows no plus.
std::string_view without_plus(std::string_view word) noexcept {
  const bool has_plus = word.size() > 1 && word[0] == '+' && word[1] != '-';
  return has_plus ? word.substr(1) : word;
}

template <typename Number>
std::errc read_all(std::string_view word, Number& number) noexcept {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return end == word.data() + word.size() ? error : std::errc::invalid_argument;
}

}  // namespace

CubeLines::CubeLines(std::string_view text) noexcept : rest_(text) {
  if (rest_.starts_with(byte_order_mark)) rest_.remove_prefix(byte_order_mark.size());
}

bool CubeLines::next() noexcept {
  line_ = {};
  bytes_left_ = rest_.size();
  if (rest_.empty()) return false;
  const auto end = std::find_if(rest_.begin(), rest_.end(), ends_line);
  line_ = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
  rest_.remove_prefix(line_.size());
  rest_.remove_prefix(rest_.starts_with("\r\n") ? 2 : rest_.empty() ? 0 : 1);
  ++number_;
  return true;
}

CubeWords::CubeWords(std::string_view line) noexcept {
  auto at = line.begin();
  while (count < word.size()) {
    at = std::find_if_not(at, line.end(), is_blank);
    if (at == line.end() || *at == '#') return;
    const auto end = std::find_if(at, line.end(), is_blank);
    word[count++] = line.substr(static_cast<std::size_t>(at - line.begin()),
                                static_cast<std::size_t>(end - at));
    at = end;
  }
}

std::string_view without_blanks(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_word(std::string_view word, std::string_view upper) noexcept {
  return std::equal(word.begin(), word.end(), upper.begin(), upper.end(),
                    [](char a, char b) { return to_upper(a) == b; });
}

std::optional<float> read_number(std::string_view word) noexcept {
  word = without_plus(word);
  float number = 0;
  std::errc error = read_all(word, number);
  if (error == std::errc::result_out_of_range) {
    // Too small for a float counts as 0, as with strtof; too large stays too large.
    double precise = 0;
    error = read_all(word, precise);
    number = std::abs(precise) < 1 ? static_cast<float>(precise) : HUGE_VALF;
  }
  // So that NaN isn't either.
  const bool is_in_range = std::abs(number) <= largest_number;
  return error == std::errc{} && is_in_range ? std::optional(number) : std::nullopt;
}

std::optional<int> read_whole_number(std::string_view word) noexcept {
  int number = 0;
  const std::errc error = read_all(without_plus(word), number);
  return error == std::errc{} ? std::optional(number) : std::nullopt;
}

std::string quoted_for_message(std::string_view text) {
  std::string out(1, '"');
  for (const char c : text.substr(0, longest_quote))
    out += c >= ' ' && c <= '~' ? c : c == '\t' ? ' ' : '?';
  out += text.size() > longest_quote ? "...\"" : "\"";
  return out;
}

}  // namespace stripe
