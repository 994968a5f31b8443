// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/log.h"

#include <atomic>

namespace stripe {

namespace {

std::atomic<WarningSink> current_sink{nullptr};

}  // namespace

void set_warning_sink(WarningSink sink) noexcept { current_sink.store(sink); }

void warn(const char* message) noexcept {
  if (WarningSink sink = current_sink.load()) sink(message);
}

}  // namespace stripe
