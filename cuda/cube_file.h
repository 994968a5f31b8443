// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "cuda/lut.h"

namespace stripe {

/// What is wrong with a LUT file, for its user: "name:line: what; what to do", without the line
/// where it isn't about one. What it quotes of the file is printable ASCII and short.
class CubeFileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr int largest_curve_size = 65536;
inline constexpr int largest_cube_size = 129;  ///< what DaVinci Resolve writes at most

/// No number in a file is beyond this, or minus this: floats that are differences, quotients and
/// products of a few of them stay finite.
inline constexpr float largest_number = 1e9f;

/// No table's max is less than this above its min.
inline constexpr float least_range = 1e-6f;

inline constexpr std::int64_t largest_cube_file_bytes = std::int64_t{256} << 20;

/// The tables that the text of a .cube file describes. `name` is for errors.
///
/// Units:   an entry is at least 6 bytes of text, so that less than 2 bytes of tables are allocated
///          for a byte of text, and nothing before the text is known to be long enough.
/// Thread:  any; independent of the locale.
/// Errors:  throws CubeFileError; std::bad_alloc.
/// Source:  Adobe, Cube LUT Specification 1.0; Blackmagic Design, Resolve LUT Info.
Lut parse_cube(std::string_view text, const std::string& name);

/// The same of a file. Only a regular file is read: nothing waits for a FIFO or a device.
///
/// Units:   at most largest_cube_file_bytes. Memory grows with what was read of it, and a NUL byte
///          ends reading: a sparse file is refused as fast as a small one.
/// Thread:  any; takes a while for a large file (a cube of 129 is some 60 MB of text).
/// Errors:  throws CubeFileError, also where the file changes meanwhile and where memory is short.
std::shared_ptr<const Lut> read_cube_file(const std::string& path);

}  // namespace stripe
