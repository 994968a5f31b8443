// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/outlet.h"

#include <algorithm>
#include <chrono>
#include <string>

namespace test {
namespace {

constexpr int height = 16;
constexpr std::chrono::seconds patience{10};

int value_of(GstBuffer* buffer) {
  GstMapInfo map;
  fail_unless(gst_buffer_map(buffer, &map, GST_MAP_READ));
  const bool same = std::all_of(map.data, map.data + map.size,
                                [&](guint8 sample) { return sample == map.data[0]; });
  const int value = same ? map.data[0] : -1;
  gst_buffer_unmap(buffer, &map);
  return value;
}

int current_width(GstPad* pad) {
  const Ref<GstCaps> caps(gst_pad_get_current_caps(pad));
  int width = 0;
  if (caps) gst_structure_get_int(gst_caps_get_structure(caps.get(), 0), "width", &width);
  return width;
}

unsigned number_in_tags(GstEvent* event) {
  GstTagList* tags = nullptr;
  guint number = 0;
  gst_event_parse_tag(event, &tags);
  gst_tag_list_get_uint(tags, GST_TAG_TRACK_NUMBER, &number);
  return number;
}

unsigned number_of(GstEvent* event) {
  GstClockTime time = 0;
  const GstSegment* segment = nullptr;
  guint number = 0;
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_TAG:
      return number_in_tags(event);
    case GST_EVENT_GAP:
      gst_event_parse_gap(event, &time, nullptr);
      return static_cast<unsigned>(time);
    case GST_EVENT_SEGMENT:
      gst_event_parse_segment(event, &segment);
      return static_cast<unsigned>(segment->base);
    default:
      if (const GstStructure* structure = gst_event_get_structure(event))
        gst_structure_get_uint(structure, "number", &number);
      return number;
  }
}

std::string listed(const std::vector<unsigned>& numbers) {
  std::string text;
  for (const unsigned number : numbers) text += std::to_string(number) + " ";
  return text;
}

}  // namespace

void wait_until(const char* what, const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    fail_unless(std::chrono::steady_clock::now() < end, "waited in vain: %s", what);
    g_usleep(500);
  }
}

void settle() { g_usleep(40000); }

void Outlet::install(Rig& rig) {
  GstPad* pad = rig.harness()->sinkpad;
  gst_pad_set_chain_function_full(pad, chain, this, nullptr);
  const auto events = static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                                                   GST_PAD_PROBE_TYPE_EVENT_FLUSH);
  gst_pad_add_probe(pad, events, watch_event, this, nullptr);
}

void Outlet::hold() {
  const std::lock_guard lock(mutex_);
  held_ = true;
}

void Outlet::let_go() {
  {
    const std::lock_guard lock(mutex_);
    held_ = false;
  }
  changed_.notify_all();
}

void Outlet::answer(GstFlowReturn flow, unsigned first) {
  const std::lock_guard lock(mutex_);
  flow_ = flow;
  first_ = first;
}

void Outlet::on_frame(std::function<void(unsigned)> call) {
  const std::lock_guard lock(mutex_);
  on_frame_ = std::move(call);
}

GstFlowReturn Outlet::chain(GstPad* pad, GstObject*, GstBuffer* buffer) {
  return static_cast<Outlet*>(pad->chaindata)->take(pad, buffer);
}

GstFlowReturn Outlet::take(GstPad* pad, GstBuffer* buffer) {
  const Ref<GstBuffer> owner(buffer);
  Arrival arrival;
  arrival.number = static_cast<unsigned>(GST_BUFFER_OFFSET(buffer));
  arrival.value = value_of(buffer);
  arrival.flags = GST_BUFFER_FLAGS(buffer);
  arrival.width = current_width(pad);
  std::function<void(unsigned)> call;
  GstFlowReturn flow = GST_FLOW_OK;
  {
    std::unique_lock lock(mutex_);
    waiting_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !held_ || flushing_; });
    waiting_ = false;
    if (flushing_) return GST_FLOW_FLUSHING;
    arrivals_.push_back(arrival);
    if (++frames_ever_ >= first_) flow = flow_;
    call = on_frame_;
  }
  changed_.notify_all();
  if (call) call(arrival.number);
  return flow;
}

GstPadProbeReturn Outlet::watch_event(GstPad*, GstPadProbeInfo* info, gpointer self) {
  static_cast<Outlet*>(self)->note(GST_PAD_PROBE_INFO_EVENT(info));
  return GST_PAD_PROBE_OK;
}

void Outlet::note(GstEvent* event) {
  {
    const std::lock_guard lock(mutex_);
    Arrival arrival;
    arrival.event = GST_EVENT_TYPE(event);
    arrival.number = number_of(event);
    arrivals_.push_back(arrival);
    if (arrival.event == GST_EVENT_FLUSH_START) flushing_ = true;
    if (arrival.event == GST_EVENT_FLUSH_STOP) flushing_ = false;
  }
  changed_.notify_all();
}

void Outlet::wait_for_frames(unsigned count) {
  std::unique_lock lock(mutex_);
  const auto frames = [this] {
    return std::count_if(arrivals_.begin(), arrivals_.end(), std::mem_fn(&Arrival::is_frame));
  };
  const bool came = changed_.wait_for(lock, patience, [&] { return frames() >= count; });
  fail_unless(came, "%u frames wanted, %d came", count, static_cast<int>(frames()));
}

void Outlet::wait_for_event(GstEventType type) {
  std::unique_lock lock(mutex_);
  const bool came = changed_.wait_for(lock, patience, [&] {
    return std::any_of(arrivals_.begin(), arrivals_.end(),
                       [type](const Arrival& arrival) { return arrival.event == type; });
  });
  fail_unless(came, "no event %s came", gst_event_type_get_name(type));
}

void Outlet::wait_for_a_held_frame() {
  std::unique_lock lock(mutex_);
  fail_unless(changed_.wait_for(lock, patience, [this] { return waiting_; }), "no frame comes");
}

std::vector<Arrival> Outlet::arrivals() {
  const std::lock_guard lock(mutex_);
  return arrivals_;
}

std::vector<unsigned> Outlet::frame_numbers() {
  std::vector<unsigned> numbers;
  for (const Arrival& arrival : arrivals())
    if (arrival.is_frame()) numbers.push_back(arrival.number);
  return numbers;
}

unsigned Outlet::frame_count() { return static_cast<unsigned>(frame_numbers().size()); }

unsigned Outlet::event_count(GstEventType type) {
  unsigned count = 0;
  for (const Arrival& arrival : arrivals()) count += arrival.event == type;
  return count;
}

void Outlet::expect_frames(unsigned begin, unsigned count) {
  std::vector<unsigned> wanted;
  for (unsigned i = begin; i < begin + count; ++i) wanted.push_back(i);
  const std::vector<unsigned> numbers = frame_numbers();
  fail_unless(numbers == wanted, "frames %sinstead of %s", listed(numbers).c_str(),
              listed(wanted).c_str());
}

void Outlet::forget() {
  const std::lock_guard lock(mutex_);
  arrivals_.clear();
}

Ref<GstCaps> small_caps(int width, const char* framerate) {
  const std::string text = "video/x-raw,format=GRAY8,height=16,width=" + std::to_string(width) +
                           ",framerate=" + framerate;
  return Ref<GstCaps>(gst_caps_from_string(text.c_str()));
}

Stream::Stream(unsigned depth, const char* framerate)
    : caps(small_caps(16, framerate)), rig(depth) {
  outlet.install(rig);
  rig.set_caps(caps.get());
  sink_.reset(gst_element_get_static_pad(rig.element(), "sink"));
  const auto count = [](GstPad*, GstPadProbeInfo*, gpointer number) {
    ++*static_cast<std::atomic<std::uint64_t>*>(number);
    return GST_PAD_PROBE_OK;
  };
  probe_ = gst_pad_add_probe(sink_.get(), GST_PAD_PROBE_TYPE_BUFFER, count, &entered, nullptr);
}

// A test may have taken the element for another rig.
Stream::~Stream() { gst_pad_remove_probe(sink_.get(), probe_); }

Ref<GstBuffer> Stream::frame(unsigned number) const {
  int width = 0;
  gst_structure_get_int(gst_caps_get_structure(caps.get(), 0), "width", &width);
  const auto size = static_cast<gsize>(width) * height;
  Ref<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, size, nullptr));
  gst_buffer_memset(buffer.get(), 0, number % 251, size);
  GST_BUFFER_PTS(buffer.get()) = number * (GST_SECOND / 25);
  GST_BUFFER_DURATION(buffer.get()) = GST_SECOND / 25;
  GST_BUFFER_OFFSET(buffer.get()) = number;
  return buffer;
}

void Stream::push_all(unsigned first, unsigned count) {
  for (unsigned i = first; i < first + count; ++i) fail_unless_equals_int(push(i), GST_FLOW_OK);
}

bool Stream::push_segment() {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  return push_event(gst_event_new_segment(&segment));
}

void Stream::flush() {
  fail_unless(push_event(gst_event_new_flush_start()));
  fail_unless(push_event(gst_event_new_flush_stop(TRUE)));
  fail_unless(push_segment());
}

void Stream::wait_for_all() {
  static unsigned last = 0;
  const unsigned number = 1000000 + ++last;
  fail_unless(push_event(numbered(GST_EVENT_CUSTOM_DOWNSTREAM, number)));
  wait_until("all to come out", [&] {
    const std::vector<Arrival> all = outlet.arrivals();
    return std::any_of(all.begin(), all.end(), [&](const Arrival& arrival) {
      return arrival.event == GST_EVENT_CUSTOM_DOWNSTREAM && arrival.number == number;
    });
  });
}

void Stream::expect_accounts() {
  const std::uint64_t out = counter("frames-out");
  const std::uint64_t dropped = counter("frames-dropped");
  fail_unless(entered == out + dropped, "%u in, %u out, %u dropped", static_cast<unsigned>(entered),
              static_cast<unsigned>(out), static_cast<unsigned>(dropped));
  fail_unless_equals_int(stat_uint(rig.element(), "frames-in-flight"), 0);
}

GstEvent* numbered(GstEventType type, unsigned number) {
  if (type == GST_EVENT_TAG)
    return gst_event_new_tag(gst_tag_list_new(GST_TAG_TRACK_NUMBER, number, nullptr));
  if (type == GST_EVENT_GAP) return gst_event_new_gap(number, 1);
  if (type != GST_EVENT_SEGMENT)
    return gst_event_new_custom(type,
                                gst_structure_new("test", "number", G_TYPE_UINT, number, nullptr));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.base = number;
  return gst_event_new_segment(&segment);
}

}  // namespace test
