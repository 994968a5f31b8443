// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace gst_stripe {

/// Something that the user should know, and what to do about it.
struct Notice {
  bool is_warning;  ///< else an information
  GstResourceError code;
  std::string text;
  std::string hint;
  std::string key = {};  ///< what it is about, where the text holds figures; empty: the text
};

/// Keeps what is to be said until somebody may post it; each once.
///
/// Thread:  any.
class Notices {
 public:
  Notices() = default;
  Notices(const Notices&) = delete;

  void tell(Notice notice);

  /// Other caps: what was said may be said again.
  void forget();

  /// What there is to say since the last call.
  std::vector<Notice> take();

 private:
  std::mutex mutex_;  // a leaf; guards both below
  std::set<std::string> told_;
  std::vector<Notice> untold_;
  std::atomic<bool> has_untold_{false};
};

}  // namespace gst_stripe
