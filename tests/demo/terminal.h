// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <exception>
#include <string>

namespace demo {

/// Ctrl-C was pressed.
struct Interrupted : std::exception {};

/// From now on Ctrl-C and SIGTERM only ask for an end, so that pipelines are stopped and the
/// terminal is left in order.
void watch_for_interrupt();

/// Errors:  throws Interrupted if an end was asked for.
void throw_if_interrupted();

/// One line that is written over again and again, and is gone in the end. Nothing where standard
/// output is no terminal: a log would keep every state of it.
class Progress {
 public:
  Progress();
  Progress(const Progress&) = delete;
  ~Progress();

  /// Shows `text`, of one line, instead of what was there.
  void show(const std::string& text);

 private:
  const bool on_terminal_;
};

}  // namespace demo
