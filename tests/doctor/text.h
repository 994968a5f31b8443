// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace doctor {

inline constexpr std::size_t line_columns = 100;

/// A number with so many decimals.
std::string fixed(double value, int decimals);

/// CUDA's version, 13000, as 13.0; or the first one of its major version.
std::string version_text(int version);
std::string major_version_text(int version);

/// A size for people: 8 MiB, 139.8 GiB, unlimited.
std::string bytes_text(std::uint64_t size_bytes);

/// `text` in a column of that width, at its left or right edge; longer ones push what follows.
std::string left(const std::string& text, std::size_t columns);
std::string right(const std::string& text, std::size_t columns);

/// `label` in a column, then `value` in lines of at most `line_columns`, all that are not the first
/// one below it.
std::string field(const std::string& label, const std::string& value, std::size_t label_columns);

}  // namespace doctor
