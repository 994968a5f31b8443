// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/json.h"

#include <charconv>
#include <cstring>

namespace test {
namespace {

struct NotJson {};

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  Json whole() {
    Json value = next_value();
    skip_space();
    if (!rest_.empty()) throw NotJson();
    return value;
  }

 private:
  void skip_space() {
    while (!rest_.empty() && std::strchr(" \t\r\n", rest_.front())) rest_.remove_prefix(1);
  }

  char peek() const { return rest_.empty() ? '\0' : rest_.front(); }

  char take() {
    if (rest_.empty()) throw NotJson();
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  void expect(std::string_view word) {
    if (rest_.substr(0, word.size()) != word) throw NotJson();
    rest_.remove_prefix(word.size());
  }

  // The next thing is this; then it is taken.
  bool accept(char c) {
    skip_space();
    if (peek() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  Json next_value() {
    skip_space();
    Json value;
    switch (peek()) {
      case '{':
        return next_object();
      case '[':
        return next_array();
      case '"':
        value.type = Json::Type::string;
        value.string = next_string();
        return value;
      case 't':
      case 'f':
        value.type = Json::Type::boolean;
        value.boolean = peek() == 't';
        expect(value.boolean ? "true" : "false");
        return value;
      case 'n':
        expect("null");
        return value;
      default:
        value.type = Json::Type::number;
        value.number = next_number();
        return value;
    }
  }

  Json next_object() {
    Json value;
    value.type = Json::Type::object;
    expect("{");
    if (accept('}')) return value;
    do {
      skip_space();
      const std::string name = next_string();
      if (!accept(':')) throw NotJson();
      if (!value.members.emplace(name, next_value()).second) throw NotJson();
    } while (accept(','));
    if (!accept('}')) throw NotJson();
    return value;
  }

  Json next_array() {
    Json value;
    value.type = Json::Type::array;
    expect("[");
    if (accept(']')) return value;
    do {
      value.items.push_back(next_value());
    } while (accept(','));
    if (!accept(']')) throw NotJson();
    return value;
  }

  std::string next_string() {
    std::string out;
    expect("\"");
    for (char c = take(); c != '"'; c = take()) {
      if (static_cast<unsigned char>(c) < 0x20) throw NotJson();
      out += c == '\\' ? escaped() : c;
    }
    return out;
  }

  // Of \u only what is one byte: nothing here writes more.
  char escaped() {
    const char c = take();
    if (c == 'u') return code_point();
    constexpr char names[] = "\"\\/bfnrt";
    constexpr char values[] = "\"\\/\b\f\n\r\t";
    const char* found = std::strchr(names, c);
    if (!found || !c) throw NotJson();
    return values[found - names];
  }

  char code_point() {
    unsigned code = 0;
    if (rest_.size() < 4) throw NotJson();
    const auto end = std::from_chars(rest_.data(), rest_.data() + 4, code, 16).ptr;
    if (end != rest_.data() + 4 || code > 0x7f) throw NotJson();
    rest_.remove_prefix(4);
    return static_cast<char>(code);
  }

  std::size_t digits(std::size_t at) const {
    std::size_t end = at;
    while (end < rest_.size() && rest_[end] >= '0' && rest_[end] <= '9') ++end;
    if (end == at) throw NotJson();
    return end;
  }

  double next_number() {
    const std::size_t begin = peek() == '-' ? 1 : 0;
    std::size_t end = digits(begin);
    if (rest_[begin] == '0' && end != begin + 1) throw NotJson();
    if (end < rest_.size() && rest_[end] == '.') end = digits(end + 1);
    if (end < rest_.size() && (rest_[end] == 'e' || rest_[end] == 'E')) {
      ++end;
      if (end < rest_.size() && (rest_[end] == '+' || rest_[end] == '-')) ++end;
      end = digits(end);
    }
    double value = 0;
    std::from_chars(rest_.data(), rest_.data() + end, value);
    rest_.remove_prefix(end);
    return value;
  }

  std::string_view rest_;
};

}  // namespace

std::optional<Json> parse_json(std::string_view text) {
  try {
    return Parser(text).whole();
  } catch (const NotJson&) {
    return {};
  }
}

}  // namespace test
