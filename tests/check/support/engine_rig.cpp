// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/engine_rig.h"

namespace test {

std::string Setting::describe() const {
  return std::string(format->name) + " " + std::to_string(width) + "x" + std::to_string(height) +
         (interlaced ? " interlaced" : "") + ", " + std::to_string(options.stream_count) +
         " streams, depth " + std::to_string(options.depth) + ", " +
         stripe::name_of(options.transfer);
}

std::string Feeder::feed(const Access& access, const Treatment& treatment) {
  if (static_cast<int>(flying_.size()) == setting_.options.depth) {
    const std::string text = finish_oldest();
    if (!text.empty()) return text;
  }
  flying_.push_back(std::make_unique<TestFrame>(*frame_device_, setting_.shape(), *setting_.format,
                                                access, random_));
  TestFrame& frame = *flying_.back();
  frame.expect(treatment);
  stripe::FrameParameters parameters = treatment.parameters(*setting_.format);
  if (treatment.settings) engine_->prepare(parameters.operation);
  if (engine_->submit(frame.job(), parameters) != next_++) return "tickets do not count up from 0";
  if (access.input == stripe::HostAccess::staged) frame.overwrite_input(random_);
  return {};
}

std::string Feeder::finish_oldest() {
  engine_->wait(oldest_);
  const std::string text = flying_.front()->verdict();
  flying_.pop_front();
  const stripe::Ticket ticket = oldest_++;
  return text.empty() ? text
                      : setting_.describe() + ": frame " + std::to_string(ticket) + ": " + text;
}

std::string Feeder::finish() {
  std::string text;
  while (text.empty() && !flying_.empty()) text = finish_oldest();
  return text;
}

std::string feed_alike(std::shared_ptr<stripe::Device> device, const Setting& setting,
                       const Access& access, const Treatment& treatment, int frames,
                       Random& random) {
  Feeder feeder(std::move(device), setting, random);
  std::string text;
  for (int i = 0; i < frames && text.empty(); ++i) text = feeder.feed(access, treatment);
  return text.empty() ? feeder.finish() : text;
}

std::size_t sample_bytes(const Setting& setting) {
  std::size_t bytes = 0;
  for (int i = 0; i < setting.format->planes; ++i)
    bytes += std::size_t(row_bytes(*setting.format, i, setting.width)) *
             row_count(*setting.format, i, setting.height);
  return bytes;
}

}  // namespace test
