// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/timing.h"

#include <algorithm>

namespace gst_stripe {

namespace {

int most_stripes(const stripe::FrameShape& shape, const Settings& settings) {
  const int count = std::max(1, static_cast<int>(settings.stripe_count));
  return static_cast<int>(
      stripe::make_plan({shape.width, shape.height, settings.stripe_layout, count,
                         stripe::stripe_unit(shape.layout, shape.interlaced)})
          .size());
}

std::string counted(int count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string describe(const GstVideoInfo& info, const Settings& settings,
                     const stripe::Choice& choice) {
  const char* const modes[] = {"auto", "register", "stage", "off"};
  return std::to_string(info.width) + "x" + std::to_string(info.height) + " " +
         gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info)) + ", " +
         counted(settings.stripes_or(choice), "stripe") + " a frame, " +
         counted(choice.stream_count, "stream") +
         ", async-depth=" + std::to_string(settings.async_depth) +
         ", transfer-mode=" + stripe::name_of(choice.transfer) +
         ", page-lock=" + modes[static_cast<std::size_t>(settings.page_lock)];
}

}  // namespace

Timing::Timing(const Settings& settings, const stripe::DeviceInfo& device, Notices& notices)
    : device_(device),
      notices_(notices),
      sampling_(static_cast<int>(settings.async_depth), settings.stats_interval) {
  if (settings.timeline_location.empty()) return;
  stripe::Timeline timeline;
  timeline.device = device.name + " (" + device.backend + ")";
  timeline.streams = stripe::choose(settings.choice_request(), device).stream_count;
  timeline_.emplace(settings.timeline_location, static_cast<int>(settings.timeline_frames),
                    stripe::Sampling::warm_up_frames(static_cast<int>(settings.async_depth)),
                    std::move(timeline));
}

void Timing::set_format(const GstVideoInfo& info, const stripe::FrameShape& shape,
                        const Settings& settings, const stripe::Choice& choice) {
  sampling_.reset();
  next_in_format_ = 0;
  if (timeline_) timeline_->set_settings(describe(info, settings, choice));
  stripe::Situation situation{device_,
                              settings.choice_request(),
                              choice,
                              GST_VIDEO_INFO_SIZE(&info),
                              most_stripes(shape, settings),
                              {},
                              {}};
  stripe::read_environment(situation);
  for (const stripe::Advice& advice : stripe::advise(situation)) tell(advice);
}

TimedFrame Timing::next() noexcept {
  TimedFrame frame{next_number_++, next_in_format_++, false, false};
  frame.sampled = sampling_.wants(frame.in_format);
  frame.traced = timeline_ && timeline_->wants(frame.number);
  return frame;
}

void Timing::add(const TimedFrame& frame, stripe::FrameTimes times) {
  times.frame = frame.number;
  if (frame.sampled)
    if (const auto overlap = sampling_.add(times, frame.in_format))
      for (const stripe::Advice& advice : stripe::advise(*overlap, device_)) tell(advice);
  if (!frame.traced) return;
  timeline_->add(std::move(times));
  write(false);
}

void Timing::finish() {
  if (timeline_) write(true);
}

// Frames go on whatever becomes of the file.
void Timing::write(bool now) {
  try {
    timeline_->write(now);
  } catch (const std::exception& error) {
    notices_.tell({true, GST_RESOURCE_ERROR_WRITE,
                   std::string("The timeline is lost: ") + error.what() + ".",
                   "set timeline-location to a file that can be written"});
  }
}

void Timing::tell(const stripe::Advice& advice) {
  notices_.tell({!advice.is_users_choice,
                 advice.is_users_choice ? GST_RESOURCE_ERROR_SETTINGS : GST_RESOURCE_ERROR_FAILED,
                 "Little overlap: " + advice.text + ".", advice.hint,
                 "advice " + std::to_string(static_cast<int>(advice.cause))});
}

}  // namespace gst_stripe
