// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/page_lock.h"

#include <algorithm>

namespace test {

Ref<GstElement> make_locking_element(const LockSetup& setup) {
  Ref<GstElement> element = make_element();
  set_nick(element.get(), "page-lock", setup.mode);
  set_nick(element.get(), "transfer-mode", setup.transfer);
  g_object_set(element.get(), "async-depth", setup.depth, "max-pinned-bytes",
               guint64{setup.bound_bytes}, nullptr);
  return element;
}

LockFixture::LockFixture(Ref<GstElement> element, const LockSetup& setup)
    : caps(make_caps(setup.format, setup.width, setup.height)),
      random(setup.salt),
      rig(std::move(element)) {
  set_effect(rig.element(), Effect::invert);
  rig.set_caps(caps.get());
}

void LockFixture::check(GstBuffer* output, const ConstPicture& input) {
  fail_unless_empty(mistake(output, caps.get(), input, Effect::invert));
}

Ref<GstBuffer> LockFixture::process(const Frame& frame) {
  Ref<GstBuffer> output = rig.process(frame.share());
  check(output.get(), frame.image->view());
  fail_unless_empty(frame.image->any_damage());
  return output;
}

void LockFixture::process_again(const Frame& frame, int times) {
  for (int i = 0; i < times; ++i) {
    frame.image->refill(random);
    process(frame);
  }
}

std::vector<Ref<GstBuffer>> LockFixture::process_new(int frames) {
  std::vector<Frame> inputs;
  for (int i = 0; i < frames; ++i) {
    inputs.push_back(make());
    fail_unless_equals_int(rig.push(inputs.back().share()), GST_FLOW_OK);
  }
  std::vector<Ref<GstBuffer>> outputs;
  for (const Frame& input : inputs) {
    outputs.push_back(rig.pull());
    check(outputs.back().get(), input.image->view());
  }
  return outputs;
}

void LockFixture::process_in_offered_pool(int frames) {
  const Ref<GstQuery> query(gst_query_new_allocation(caps.get(), TRUE));
  fail_unless(gst_pad_peer_query(rig.harness()->srcpad, query.get()));
  GstBufferPool* offered = nullptr;
  gst_query_parse_nth_allocation_pool(query.get(), 0, &offered, nullptr, nullptr, nullptr);
  const Ref<GstBufferPool> pool(offered);
  fail_unless(gst_buffer_pool_set_active(pool.get(), TRUE));
  for (int i = 0; i < frames; ++i) {
    Ref<GstBuffer> buffer = acquire_from(pool.get());
    const GuardedImage image = fill_buffer(buffer.get(), caps.get(), random);
    check(rig.process(std::move(buffer)).get(), image.view());
  }
  gst_buffer_pool_set_active(pool.get(), FALSE);
}

void LockFixture::expect(
    std::initializer_list<std::pair<const char*, std::uint64_t>> fields) const {
  for (const auto& [field, value] : fields) {
    const std::uint64_t got = stat(field);
    fail_unless(got == value, "%s is %" G_GUINT64_FORMAT ", not %" G_GUINT64_FORMAT, field, got,
                value);
  }
}

std::uint64_t LockFixture::sample_bytes() const {
  const GstVideoInfo info = info_of(caps.get());
  const Format& format = format_named(GST_VIDEO_INFO_NAME(&info));
  std::uint64_t bytes = 0;
  for (int i = 0; i < format.planes; ++i)
    bytes += std::uint64_t(row_bytes(format, i, info.width)) * row_count(format, i, info.height);
  return bytes;
}

std::uint64_t LockFixture::block_bytes() const {
  constexpr std::uint64_t page = 4096;
  return (info_of(caps.get()).size + page - 1) / page * page;
}

Report LockFixture::expect_one_warning(int code) {
  const std::vector<Report> all = warnings();
  std::string text;
  for (const Report& report : all) text += report.text + "\n";
  fail_unless(all.size() == 1, "%zu warnings instead of one:\n%s", all.size(), text.c_str());
  fail_unless(all[0].domain == GST_RESOURCE_ERROR && all[0].code == code, "%s %d: %s",
              g_quark_to_string(all[0].domain), all[0].code, text.c_str());
  return all[0];
}

Ref<GstBufferPool> start_system_pool(GstCaps* caps, unsigned buffers) {
  Ref<GstBufferPool> pool(gst_video_buffer_pool_new());
  GstStructure* config = gst_buffer_pool_get_config(pool.get());
  gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(info_of(caps).size), buffers,
                                    buffers);
  fail_unless(gst_buffer_pool_set_config(pool.get(), config));
  fail_unless(gst_buffer_pool_set_active(pool.get(), TRUE));
  return pool;
}

Ref<GstBuffer> acquire_from(GstBufferPool* pool) {
  GstBuffer* buffer = nullptr;
  fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr), GST_FLOW_OK);
  return Ref<GstBuffer>(buffer);
}

GuardedImage fill_buffer(GstBuffer* buffer, const GstCaps* caps, Random& random) {
  const GstVideoInfo info = info_of(caps);
  const Format& format = format_named(GST_VIDEO_INFO_NAME(&info));
  GuardedImage image(format, info.width, info.height, {}, random);
  GstVideoFrame frame;
  fail_unless(gst_video_frame_map(&frame, &info, buffer, GST_MAP_WRITE));
  for (int i = 0; i < format.planes; ++i) {
    const auto& plane = image.picture().planes[i];
    for (int y = 0; y < row_count(format, i, info.height); ++y)
      std::copy_n(plane.data + y * plane.stride, row_bytes(format, i, info.width),
                  static_cast<std::uint8_t*>(frame.data[i]) + y * frame.info.stride[i]);
  }
  gst_video_frame_unmap(&frame);
  return image;
}

Ref<GstBuffer> make_pinned_buffer(const GstCaps* caps) {
  const Ref<GstAllocator> allocator(gst_allocator_find(pinned_type));
  fail_unless(allocator != nullptr);
  return Ref<GstBuffer>(gst_buffer_new_allocate(allocator.get(), info_of(caps).size, nullptr));
}

bool is_of_type(GstBuffer* buffer, const char* mem_type) {
  return gst_memory_is_type(gst_buffer_peek_memory(buffer, 0), mem_type);
}

}  // namespace test
