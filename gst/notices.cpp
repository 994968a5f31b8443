// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/notices.h"

#include <utility>

namespace gst_stripe {

void Notices::tell(Notice notice) {
  const std::lock_guard lock(mutex_);
  if (!told_.insert(notice.key.empty() ? notice.text : notice.key).second) return;
  untold_.push_back(std::move(notice));
  has_untold_ = true;
}

void Notices::forget() {
  const std::lock_guard lock(mutex_);
  told_.clear();
}

std::vector<Notice> Notices::take() {
  if (!has_untold_) return {};
  const std::lock_guard lock(mutex_);
  has_untold_ = false;
  return std::exchange(untold_, {});
}

}  // namespace gst_stripe
