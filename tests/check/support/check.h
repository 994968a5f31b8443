// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// gst-check for C++: libcheck's macro `fail` would eat every member function of that name.

#include <gst/check/gstcheck.h>

#undef fail

/// Fails the case with `text`, a std::string, unless it is empty.
#define fail_unless_empty(text)                      \
  do {                                               \
    const std::string text_ = (text);                \
    fail_unless(text_.empty(), "%s", text_.c_str()); \
  } while (0)
