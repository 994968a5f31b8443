// SPDX-License-Identifier: LGPL-2.1-or-later
#include "child.h"

#include <glib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>

namespace benchmark {

namespace {

constexpr const char* child_option = "--child";
constexpr unsigned int longest_run_s = 120;

std::string take(gchar* text) {
  const std::string copy = text ? text : "";
  g_free(text);
  return copy;
}

// Its own message comes last, behind whatever libraries have to say.
std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return {};
  const std::size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

std::string describe(int status, const std::string& errors) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (WIFSIGNALED(status))
    return WTERMSIG(status) == SIGALRM ? "came to no end within two minutes"
                                       : std::string("crashed: ") + strsignal(WTERMSIG(status));
  const std::string line = last_line(errors);
  return line.empty() ? "exit status " + std::to_string(WEXITSTATUS(status)) : line;
}

}  // namespace

ChildResult run_child(const std::string& name, const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {"/proc/self/exe", child_option, name};
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::vector<gchar*> argv;
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  gchar* output = nullptr;
  gchar* errors = nullptr;
  gint status = 0;
  GError* error = nullptr;
  // With descriptors left open GLib need not fork: a fork would make a device's pinned pages copies on write.
  if (!g_spawn_sync(nullptr, argv.data(), nullptr, G_SPAWN_LEAVE_DESCRIPTORS_OPEN, nullptr, nullptr,
                    &output, &errors, &status, &error)) {
    const ChildResult result{{}, error->message};
    g_error_free(error);
    return result;
  }
  ChildResult result{take(output), {}};
  result.failure = describe(status, take(errors));
  return result;
}

bool is_child(int argc, char** argv) { return argc > 2 && std::strcmp(argv[1], child_option) == 0; }

int run_as_child(const std::map<std::string, ChildMain>& children, int argc, char** argv) {
  alarm(longest_run_s);
  const auto found = children.find(argv[2]);
  if (found == children.end()) return 2;
  try {
    found->second({argv + 3, argv + argc});
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace benchmark
