// SPDX-License-Identifier: LGPL-2.1-or-later
#include "terminal.h"

#include <unistd.h>

#include <csignal>
#include <iostream>

namespace demo {

namespace {

volatile std::sig_atomic_t interrupted = 0;

void note_interrupt(int) { interrupted = 1; }

}  // namespace

void watch_for_interrupt() {
  std::signal(SIGINT, note_interrupt);
  std::signal(SIGTERM, note_interrupt);
}

void throw_if_interrupted() {
  if (interrupted) throw Interrupted();
}

Progress::Progress() : on_terminal_(isatty(STDOUT_FILENO) == 1) {}

Progress::~Progress() { show(""); }

void Progress::show(const std::string& text) {
  // Back to the start of the line, and what was there is erased up to its end.
  if (on_terminal_) std::cout << "\r\033[K" << text << std::flush;
}

}  // namespace demo
