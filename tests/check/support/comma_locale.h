// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// A locale in which numbers have a comma.

#include <glib.h>
#include <glib/gstdio.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace test {

inline bool numbers_have_a_comma() {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f", 1.5);
  return std::string(text) == "1,5";
}

/// From now on the process has the locale de_DE; it is made first where it isn't installed. False,
/// and a line that says so, where that can't be done.
inline bool use_comma_locale() {
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "de_DE"})
    if (std::setlocale(LC_ALL, name) && numbers_have_a_comma()) return true;
  gchar* folder = g_dir_make_tmp("stripe-locale-XXXXXX", nullptr);
  const std::string path = folder ? folder : "/nowhere";
  g_free(folder);
  const std::string command = "localedef -i de_DE -f UTF-8 " + path + "/de_DE.UTF-8 2>/dev/null";
  setenv("LOCPATH", path.c_str(), 1);
  const bool made = std::system(command.c_str()) == 0 && std::setlocale(LC_ALL, "de_DE.UTF-8");
  unsetenv("LOCPATH");
  if (std::system(("rm -rf " + path).c_str()) != 0)
    std::fprintf(stderr, "%s is left\n", path.c_str());
  if (made && numbers_have_a_comma()) return true;
  std::fprintf(stderr, "NOT TESTED: de_DE is not installed, and localedef can't make it\n");
  return false;
}

}  // namespace test
