// SPDX-License-Identifier: LGPL-2.1-or-later
// What lies in a buffer beside the picture: zeros in buffers of the element's pools, though their
// memory held something else before, written once.

#include <malloc.h>

#include <cstring>
#include <vector>

#include "gst/downstream.h"
#include "gst/frames.h"
#include "gst/page_lock.h"
#include "gst/support.h"

namespace {

using namespace test;

constexpr std::uint8_t old_byte = 0xa5;

struct Case {
  const char* format;
  int width;
  int height;
};

// Rows that end before their stride, planes with a gap, a tail; the last ones have none of it.
constexpr Case cases[] = {{"I420", 318, 178}, {"NV12", 257, 10},    {"GRAY8", 33, 64},
                          {"RGB", 65, 63},    {"I420", 1, 1},       {"RGBA", 37, 5},
                          {"I420", 1920, 64}, {"NV12", 1920, 1080}, {"RGB", 1920, 17}};
constexpr int case_count = static_cast<int>(std::size(cases));

/// A buffer's memory from end to end, prefix and padding included.
class Whole {
 public:
  explicit Whole(GstBuffer* buffer) : memory_(gst_buffer_peek_memory(buffer, 0)) {
    fail_unless_equals_int(gst_buffer_n_memory(buffer), 1);
    size_ = gst_memory_get_sizes(memory_, &offset_, &max_size_);
    gst_memory_resize(memory_, -static_cast<gssize>(offset_), max_size_);
    fail_unless(gst_memory_map(memory_, &map_, GST_MAP_READWRITE));
  }
  Whole(const Whole&) = delete;
  ~Whole() {
    gst_memory_unmap(memory_, &map_);
    gst_memory_resize(memory_, static_cast<gssize>(offset_), size_);
  }
  std::uint8_t* begin() const { return map_.data; }
  gsize size() const { return max_size_; }
  gsize offset() const { return offset_; }

 private:
  GstMemory* memory_;
  GstMapInfo map_;
  gsize size_;
  gsize offset_;
  gsize max_size_;
};

/// For each byte of the buffer's memory whether it is one of the picture.
std::vector<bool> picture_bytes(GstBuffer* buffer, const GstVideoInfo& info, const Whole& whole) {
  std::vector<bool> in_picture(whole.size());
  const Format& format = format_named(GST_VIDEO_INFO_NAME(&info));
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  for (int p = 0; p < format.planes; ++p)
    for (int y = 0; y < row_count(format, p, info.height); ++y) {
      const gsize row = whole.offset() + (meta ? meta->offset[p] : info.offset[p]) +
                        static_cast<gsize>(y * (meta ? meta->stride[p] : info.stride[p]));
      for (int x = 0; x < row_bytes(format, p, info.width); ++x)
        in_picture[row + static_cast<gsize>(x)] = true;
    }
  return in_picture;
}

/// How many bytes beside the picture are not `wanted`.
gsize count_other(GstBuffer* buffer, const GstVideoInfo& info, std::uint8_t wanted) {
  const Whole whole(buffer);
  const std::vector<bool> in_picture = picture_bytes(buffer, info, whole);
  gsize count = 0;
  for (gsize i = 0; i < whole.size(); ++i)
    if (!in_picture[i] && whole.begin()[i] != wanted) ++count;
  return count;
}

void fill_padding(GstBuffer* buffer, const GstVideoInfo& info, std::uint8_t value) {
  const Whole whole(buffer);
  const std::vector<bool> in_picture = picture_bytes(buffer, info, whole);
  for (gsize i = 0; i < whole.size(); ++i)
    if (!in_picture[i]) whole.begin()[i] = value;
}

/// What the element offers upstream.
struct Offer {
  Offer(Rig& rig, GstCaps* caps) {
    const Ref<GstQuery> query(gst_query_new_allocation(caps, TRUE));
    fail_unless(gst_pad_peer_query(rig.harness()->srcpad, query.get()));
    GstBufferPool* offered = nullptr;
    gst_query_parse_nth_allocation_pool(query.get(), 0, &offered, nullptr, nullptr, nullptr);
    pool.reset(offered);
    GstAllocator* its = nullptr;
    gst_query_parse_nth_allocation_param(query.get(), 0, &its, nullptr);
    allocator.reset(its);
  }

  Ref<GstBufferPool> pool;
  Ref<GstAllocator> allocator;
};

/// Gives the allocator's cache blocks for buffers of that size in which all is old.
void soil(GstAllocator* allocator, gsize size) {
  std::vector<Ref<GstMemory>> held;
  for (int i = 0; i < 8; ++i) {
    held.emplace_back(gst_allocator_alloc(allocator, size, nullptr));
    GstMapInfo map;
    fail_unless(gst_memory_map(held.back().get(), &map, GST_MAP_WRITE));
    std::memset(map.data, old_byte, map.maxsize);
    gst_memory_unmap(held.back().get(), &map);
  }
}

void start(GstBufferPool* pool, const GstVideoAlignment* alignment = nullptr,
           gsize padding_bytes = 0) {
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (alignment) {
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
    gst_buffer_pool_config_set_video_alignment(config, const_cast<GstVideoAlignment*>(alignment));
  }
  GstAllocator* allocator = nullptr;
  GstAllocationParams params;
  gst_buffer_pool_config_get_allocator(config, &allocator, &params);
  params.prefix = params.padding = padding_bytes;
  gst_buffer_pool_config_set_allocator(config, allocator, &params);
  fail_unless(gst_buffer_pool_set_config(pool, config));
  fail_unless(gst_buffer_pool_set_active(pool, TRUE));
}

Ref<GstBuffer> acquire(GstBufferPool* pool) {
  GstBuffer* buffer = nullptr;
  fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr), GST_FLOW_OK);
  return Ref<GstBuffer>(buffer);
}

struct Fixture {
  explicit Fixture(const Case& c)
      : caps(make_caps(c.format, c.width, c.height)), info(info_of(caps.get())) {
    rig.set_caps(caps.get());
  }
  Ref<GstCaps> caps;
  GstVideoInfo info;
  Rig rig;
};

// The picture is left as it was: so many bytes are cleared as it has beside it, none where it has
// none.
GST_START_TEST(offered_buffers) {
  Fixture one(cases[__i__]);
  const Offer offer(one.rig, one.caps.get());
  soil(offer.allocator.get(), one.info.size);
  start(offer.pool.get());
  const Ref<GstBuffer> buffer = acquire(offer.pool.get());
  {
    const Whole whole(buffer.get());
    const std::vector<bool> in_picture = picture_bytes(buffer.get(), one.info, whole);
    for (gsize i = 0; i < whole.size(); ++i)
      fail_unless(whole.begin()[i] == (in_picture[i] ? old_byte : 0), "byte %zu is %d", i,
                  whole.begin()[i]);
    gsize zeros = 0;
    for (gsize i = 0; i < whole.size(); ++i) zeros += whole.begin()[i] == 0 ? 1 : 0;
    if (one.info.width == 1920) fail_unless_equals_uint64(zeros, 0);
  }
  gst_buffer_pool_set_active(offer.pool.get(), FALSE);
}
GST_END_TEST;

GST_START_TEST(offered_buffers_of_an_alignment) {
  Fixture one(cases[__i__]);
  const Offer offer(one.rig, one.caps.get());
  GstVideoAlignment alignment;
  gst_video_alignment_reset(&alignment);
  alignment.padding_left = 6;
  alignment.padding_top = 4;
  alignment.padding_right = 15;
  alignment.padding_bottom = 17;
  for (guint& align : alignment.stride_align) align = 31;
  GstVideoInfo aligned = one.info;
  fail_unless(gst_video_info_align(&aligned, &alignment));
  soil(offer.allocator.get(), aligned.size + 2 * 999);
  start(offer.pool.get(), &alignment, 999);
  const Ref<GstBuffer> buffer = acquire(offer.pool.get());
  fail_unless(gst_buffer_get_size(buffer.get()) > one.info.size);
  fail_unless(Whole(buffer.get()).offset() >= 999);
  fail_unless_equals_uint64(count_other(buffer.get(), one.info, 0), 0);
  gst_buffer_pool_set_active(offer.pool.get(), FALSE);
}
GST_END_TEST;

// Clearing costs: whoever gets a buffer again finds what was left there.
GST_START_TEST(once_for_each_buffer) {
  Fixture one({"I420", 318, 178});
  const Offer offer(one.rig, one.caps.get());
  start(offer.pool.get());
  std::vector<Ref<GstBuffer>> held;
  for (int i = 0; i < 8; ++i) {
    held.push_back(acquire(offer.pool.get()));
    fill_padding(held.back().get(), one.info, 0x77);
  }
  held.clear();
  for (int i = 0; i < 8; ++i) {
    held.push_back(acquire(offer.pool.get()));
    fail_unless_equals_uint64(count_other(held.back().get(), one.info, 0x77), 0);
  }
  held.clear();
  gst_buffer_pool_set_active(offer.pool.get(), FALSE);
}
GST_END_TEST;

// With and without GstVideoMeta, larger than the picture, and with room around.
GST_START_TEST(output) {
  const Case& c = cases[__i__];
  for (const bool meta : {false, true}) {
    Downstream answer = offering(nullptr);
    answer.video_meta = meta;
    answer.has_params = true;
    answer.params.prefix = 64;
    answer.params.padding = 33;
    InvertingFixture one(answer, c.format, c.width, c.height);
    const gsize size = one.info().size + 777;
    one.downstream.size_bytes = static_cast<unsigned>(size);
    gst_harness_push_upstream_event(one.rig.harness(), gst_event_new_reconfigure());
    soil(Offer(one.rig, one.caps.get()).allocator.get(), size + 64 + 33);
    std::vector<Ref<GstBuffer>> held;
    for (int i = 0; i < 3; ++i) {
      held.push_back(one.process());
      expect_pinned(held.back().get());
      fail_unless_equals_uint64(count_other(held.back().get(), one.info(), 0), 0);
    }
  }
}
GST_END_TEST;

// Where output lies in system memory. The C library fills all that it gives.
GST_START_TEST(plain_output) {
  const Case& c = cases[__i__];
  for (const char* mode : {"register", "stage", "off"}) {
    LockSetup setup;
    setup.mode = mode;
    setup.format = c.format;
    setup.width = c.width;
    setup.height = c.height;
    LockFixture one(setup);
    mallopt(M_PERTURB, old_byte);
    std::vector<Ref<GstBuffer>> held = one.process_new(3);
    mallopt(M_PERTURB, 0);
    for (const Ref<GstBuffer>& output : held)
      fail_unless_equals_uint64(count_other(output.get(), info_of(one.caps.get()), 0), 0);
  }
}
GST_END_TEST;

// Another element's offer is as plain as a GstVideoBufferPool: whoever is to do without page-locked
// memory does not take it.
GST_START_TEST(a_pool_of_ours_is_not_special) {
  Fixture other({"I420", 65, 63});
  const Offer offer(other.rig, other.caps.get());
  LockSetup setup;
  setup.mode = "stage";
  Downstream answer = offering(offer.pool.get());
  LockFixture one(setup);
  install(one.rig, answer);
  gst_harness_push_upstream_event(one.rig.harness(), gst_event_new_reconfigure());
  const Ref<GstBuffer> output = one.process(one.make());
  fail_unless(answer.queries > 0);
  fail_unless(output->pool != nullptr && output->pool != offer.pool.get());
  fail_if(gst_memory_is_type(gst_buffer_peek_memory(output.get(), 0), pinned_type));
}
GST_END_TEST;

Suite* element_padding_suite() {
  Suite* suite = suite_create("element-padding");
  TCase* padding = tcase_create("padding");
  suite_add_tcase(suite, padding);
  tcase_add_loop_test(padding, offered_buffers, 0, case_count);
  tcase_add_loop_test(padding, offered_buffers_of_an_alignment, 0, case_count);
  tcase_add_test(padding, once_for_each_buffer);
  tcase_add_loop_test(padding, output, 0, case_count);
  tcase_add_loop_test(padding, plain_output, 0, case_count);
  tcase_add_test(padding, a_pool_of_ours_is_not_special);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_padding)
