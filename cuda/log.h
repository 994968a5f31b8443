// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace stripe {

/// Receives what destructors, which never throw, have to say. `message` is valid during the call.
///
/// Thread:  called from any thread, with no lock held.
using WarningSink = void (*)(const char* message);

/// Sets the process's sink; by default warnings go nowhere.
void set_warning_sink(WarningSink sink) noexcept;

/// Hands `message` to the sink.
void warn(const char* message) noexcept;

}  // namespace stripe
