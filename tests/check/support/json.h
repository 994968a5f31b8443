// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// JSON as RFC 8259 has it, and nothing else: what a browser refuses is refused here.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace test {

/// A value of JSON.
struct Json {
  enum class Type { null, boolean, number, string, array, object };
  Type type = Type::null;
  double number = 0;
  bool boolean = false;
  std::string string;
  std::vector<Json> items;
  std::map<std::string, Json> members;

  bool is(Type wanted) const { return type == wanted; }

  /// A member of an object; NULL where there is none.
  const Json* find(const std::string& name) const {
    const auto member = members.find(name);
    return member == members.end() ? nullptr : &member->second;
  }

  /// A member of this type; NULL where it isn't there or is another.
  const Json* find(const std::string& name, Type wanted) const {
    const Json* member = find(name);
    return member && member->is(wanted) ? member : nullptr;
  }
};

/// The value that is the whole text; nothing where it isn't JSON, or a name is there twice.
std::optional<Json> parse_json(std::string_view text);

}  // namespace test
