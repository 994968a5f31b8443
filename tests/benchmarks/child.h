// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The program runs itself where something has to happen in a process of its own: to be the first in it, to be kept to
// some CPUs, or since it may crash.

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace benchmark {

struct ChildResult {
  std::string output;
  std::string failure;  // empty: it ended well
};

// Runs this program as the child of that name, for two minutes at most.
ChildResult run_child(const std::string& name, const std::vector<std::string>& arguments);

// What a child does; its output goes to stdout, and what it throws to its parent.
using ChildMain = std::function<void(const std::vector<std::string>& arguments)>;

// Whether the command line is a child's; main then returns run_as_child's result.
bool is_child(int argc, char** argv);
int run_as_child(const std::map<std::string, ChildMain>& children, int argc, char** argv);

}  // namespace benchmark
