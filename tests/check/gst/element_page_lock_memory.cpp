// SPDX-License-Identifier: LGPL-2.1-or-later
// A registration lives as long as the memory it belongs to, whatever becomes of elements, parts and
// addresses.

#include <cstdlib>
#include <cstring>
#include <string>

#include "gst/foreign_memory.h"
#include "gst/page_lock.h"
#include "support/backend.h"

namespace {

using namespace test;

/// Nicks of modes that register memory of others.
constexpr const char* registering[] = {"auto", "register"};
constexpr int registering_count = static_cast<int>(std::size(registering));

std::shared_ptr<GuardedImage> make_image(LockFixture& one,
                                         const Allocate& allocate = allocate_on_heap,
                                         const Geometry& geometry = {}) {
  const GstVideoInfo info = info_of(one.caps.get());
  return std::make_shared<GuardedImage>(format_named(GST_VIDEO_INFO_NAME(&info)), info.width,
                                        info.height, geometry, one.random, allocate);
}

// --- the same address

// A registration that outlived its memory would deliver the bytes of pages that are gone.
GST_START_TEST(freed_and_mapped_again) {
  LockFixture one({.mode = registering[__i__ % 2], .depth = __i__ < 2 ? 1u : 3u});
  SameAddress pages(std::size_t{1} << 20);
  const Allocate allocate = pages.allocate();
  const std::uint8_t* address = nullptr;
  for (std::uint64_t generation = 1; generation <= 6; ++generation) {
    // A new GstMemory around new pages; both go at the end of the loop.
    const Frame frame = wrap(make_image(one, allocate));
    fail_unless(!address || address == frame.image->memory());
    address = frame.image->memory();
    one.process(frame);
    one.process_again(frame, 2);
    fail_unless(one.stat("registrations") >= generation);
  }
  fail_unless_equals_uint64(one.stat("refusals"), 0);
  one.rig.expect_quiet();
}
GST_END_TEST;

// As an application does that wraps its image anew for each frame.
GST_START_TEST(the_same_bytes_wrapped_anew) {
  LockFixture one;
  const auto image = make_image(one);
  for (int i = 0; i < 10; ++i) {
    image->refill(one.random);
    one.process(wrap(image));
  }
  one.expect({{"registrations", 0}, {"staged-frames", 10}, {"input-pinned-frames", 0}});
}
GST_END_TEST;

// --- lives that end in another order

GST_START_TEST(memory_outlives_the_element) {
  Frame frame;
  {
    LockFixture one({.mode = registering[__i__]});
    frame = one.make();
    one.process_again(frame, 3);
    fail_unless(one.stat("input-pinned-frames") >= 2);
  }
  // Not just readable: it can be written, and freed.
  std::memset(frame.image->memory(), 1, frame.image->size_bytes());
}
GST_END_TEST;

GST_START_TEST(another_element_sees_the_memory) {
  Frame frame;
  {
    LockFixture first({.mode = registering[__i__]});
    frame = first.make();
    first.process_again(frame, 3);
  }
  LockFixture second({.mode = registering[__i__], .salt = 61});
  second.process_again(frame, 3);
  // In auto it may take another second sight.
  const std::uint64_t staged = second.stat("staged-frames");
  fail_unless(staged <= (__i__ ? 0 : 1));
  second.expect({{"input-pinned-frames", 3 - staged}, {"refusals", 0}});
  second.rig.expect_quiet();
}
GST_END_TEST;

// Neither needs the other one.
GST_START_TEST(two_elements_one_memory) {
  LockFixture early({.depth = 1});
  Frame frame = early.make();
  early.process_again(frame, 2);
  LockFixture late({.mode = "register", .depth = 1, .salt = 61});
  late.process_again(frame, 2);
  early.process_again(frame, 2);
  early.expect({{"registrations", 1}, {"input-pinned-frames", 3}});
  late.expect({{"registrations", 1}, {"input-pinned-frames", 2}});  // of its output
  const std::uint64_t pinned = early.stat("pinned-bytes");
  const std::uint64_t size = frame.image->size_bytes();
  frame = {};
  fail_unless_equals_uint64(early.stat("pinned-bytes"), pinned - size);
}
GST_END_TEST;

GST_START_TEST(a_pool_outlives_the_element) {
  const Ref<GstCaps> caps = make_caps("I420", 65, 63);
  const Ref<GstBufferPool> pool = start_system_pool(caps.get(), 2);
  Ref<GstBuffer> held;
  {
    LockFixture one({.mode = registering[__i__]});
    for (int i = 0; i < 6; ++i) {
      Ref<GstBuffer> buffer = acquire_from(pool.get());
      const GuardedImage image = fill_buffer(buffer.get(), caps.get(), one.random);
      one.check(one.rig.process(std::move(buffer)).get(), image.view());
    }
    held = acquire_from(pool.get());
  }
  gst_buffer_memset(held.get(), 0, 7, gst_buffer_get_size(held.get()));
  held.reset();
  gst_buffer_pool_set_active(pool.get(), FALSE);
}
GST_END_TEST;

/// Outputs that the element registered.
GST_START_TEST(outputs_outlive_the_element) {
  std::vector<Ref<GstBuffer>> outputs;
  {
    LockFixture one({.mode = "register"});
    outputs = one.process_new(6);
    one.expect({{"output-pinned-frames", 6}});
  }
  for (const auto& output : outputs)
    gst_buffer_memset(output.get(), 0, 3, gst_buffer_get_size(output.get()));
}
GST_END_TEST;

// --- parts

// Frames that are parts of one memory: it is registered as a whole, once, and for all of them.
GST_START_TEST(parts_share_their_root_s_registration) {
  LockFixture one({.mode = registering[__i__], .depth = 1});
  const gsize size = info_of(one.caps.get()).size;
  constexpr int parts = 4;
  Ref<GstBuffer> whole(gst_buffer_new_allocate(nullptr, parts * size + 99, nullptr));
  for (int pass = 0; pass < 3; ++pass) {
    for (int i = 0; i < parts; ++i) {
      const Frame frame = one.make();
      gst_buffer_fill(whole.get(), 33 + i * size, frame.image->memory(), size);
      Ref<GstBuffer> part(
          gst_buffer_copy_region(whole.get(), GST_BUFFER_COPY_MEMORY, 33 + i * size, size));
      fail_unless(gst_buffer_peek_memory(part.get(), 0)->parent ==
                  gst_buffer_peek_memory(whole.get(), 0));
      one.check(one.rig.process(std::move(part)).get(), frame.image->view());
    }
  }
  const std::uint64_t outputs = __i__;  // one, where output is registered too
  one.expect({{"registrations", 1 + outputs},
              {"refusals", 0},
              {"staged-frames", 1 - outputs},
              {"input-pinned-frames", 3 * parts - 1 + outputs}});
  one.rig.expect_quiet();
}
GST_END_TEST;

/// A part of a part, and a part that begins within a page.
GST_START_TEST(a_share_of_a_share) {
  LockFixture one;
  const Frame frame = one.make();
  const gsize size = frame.image->size_bytes();
  GstMemory* root = gst_allocator_alloc(nullptr, size + 1000, nullptr);
  for (int i = 0; i < 4; ++i) {
    GstMemory* outer = gst_memory_share(root, 100 + i, size + 500);
    GstMemory* inner = gst_memory_share(outer, 77, size);
    Ref<GstBuffer> buffer(gst_buffer_new());
    gst_buffer_append_memory(buffer.get(), inner);
    frame.image->refill(one.random);
    GstMapInfo map;
    fail_unless(gst_memory_map(root, &map, GST_MAP_READ));
    std::memcpy(map.data + 177 + i, frame.image->memory(), size);
    gst_memory_unmap(root, &map);
    one.check(one.rig.process(std::move(buffer)).get(), frame.image->view());
    gst_memory_unref(outer);
  }
  one.expect({{"registrations", 1}, {"staged-frames", 1}, {"input-pinned-frames", 3}});
  gst_memory_unref(root);
}
GST_END_TEST;

GST_START_TEST(planes_in_memories_of_their_own) {
  for (const char* format : {"I420", "NV12"}) {
    LockFixture one({.format = format});
    const auto image = make_image(one, allocate_on_heap, random_geometry(one.random, false));
    const std::vector<int> cuts = plane_cuts(*image);
    const Frame frame = wrap(image, {.cuts = cuts});
    for (int i = 0; i < 4; ++i) one.process(frame);
    one.expect({{"registrations", cuts.size() + 1},
                {"refusals", 0},
                {"staged-frames", 1},
                {"input-pinned-frames", 3}});
  }
}
GST_END_TEST;

// --- what is pinned already

// Others' memory around page-locked bytes. CUDA sees it; a second registration would be refused.
GST_START_TEST(wrapped_memory_that_is_pinned) {
  LockFixture one({.mode = registering[__i__], .depth = 1});
  const Ref<GstBuffer> pinned = make_pinned_buffer(one.caps.get());
  GstMapInfo map;
  fail_unless(gst_buffer_map(pinned.get(), &map, GST_MAP_READWRITE));
  const Ref<GstBuffer> wrapped(gst_buffer_new_wrapped_full(
      static_cast<GstMemoryFlags>(0), map.data, map.size, 0, map.size, nullptr, nullptr));
  for (int i = 0; i < 4; ++i) {
    const Frame frame = one.make();
    std::memcpy(map.data, frame.image->memory(), map.size);
    one.check(one.rig.process(Ref<GstBuffer>(gst_buffer_ref(wrapped.get()))).get(),
              frame.image->view());
  }
  gst_buffer_unmap(pinned.get(), &map);
  const unsigned staged = __i__ == 0 && !backend_is_cuda() ? 1 : 0;
  one.expect({{"refusals", 0}, {"staged-frames", staged}, {"input-pinned-frames", 4 - staged}});
  if (backend_is_cuda()) one.expect({{"registrations", static_cast<unsigned>(__i__)}});
  one.rig.expect_quiet();
}
GST_END_TEST;

// --- references

// The bytes are spoilt with the last reference: right pixels mean that it was kept long enough; and
// it is given back by the time the frame is out.
GST_START_TEST(memory_is_held_until_its_frame_is_finished) {
  const char* mode = page_lock_modes[__i__ % mode_count];
  const int way = __i__ / mode_count;
  LockFixture one({.mode = mode,
                   .transfer = way / 2 ? "mapped" : "copy",
                   .depth = way % 2 ? 16u : 1u,
                   .width = 321,
                   .height = 99});
  std::atomic<int> gone{0};
  for (int round = 0; round < 3; ++round) {
    std::vector<std::shared_ptr<GuardedImage>> images;
    for (int i = 0; i < 20; ++i) {
      images.push_back(make_image(one));
      fail_unless_equals_int(one.rig.push(make_spoiling_buffer(*images.back(), gone)), GST_FLOW_OK);
    }
    for (int i = 0; i < 20; ++i) {
      const Ref<GstBuffer> output = one.rig.pull();
      fail_unless(gone >= round * 20 + i + 1, "%d of %d gone", gone.load(), round * 20 + i + 1);
      one.check(output.get(), images[i]->view());
    }
  }
  fail_unless_equals_int(gone, 60);
}
GST_END_TEST;

// --- the end of the process

std::uint64_t registrations_of(GstElement* element) {
  GstStructure* stats = nullptr;
  g_object_get(element, "stats", &stats, nullptr);
  guint64 count = 0;
  gst_structure_get_uint64(stats, "registrations", &count);
  gst_structure_free(stats);
  return count;
}

/// The child, which has no libcheck: main returns with memory registered, frames in flight and all
/// threads running. Nothing is given back.
int leave_a_running_pipeline() {
  gst_init(nullptr, nullptr);
  const std::string line =
      std::string(
          "videotestsrc is-live=true ! video/x-raw,width=321,height=241,framerate=200/1 ! ") +
      "identity drop-allocation=true ! " + element_text() +
      " name=stripes page-lock=register ! fakesink";
  static GstElement* const pipeline = gst_parse_launch(line.c_str(), nullptr);
  static GstElement* const element = gst_bin_get_by_name(GST_BIN(pipeline), "stripes");
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (int i = 0; i < 2000 && registrations_of(element) < 3; ++i) g_usleep(5000);
  return registrations_of(element) >= 3 ? EXIT_SUCCESS : EXIT_FAILURE;
}

gchar** child_environment() {
  gchar** environment = g_get_environ();
  const char* sanitizer = g_environ_getenv(environment, "ASAN_OPTIONS");
  const std::string options = std::string(sanitizer ? sanitizer : "") + ":detect_leaks=0";
  return g_environ_setenv(environment, "ASAN_OPTIONS", options.c_str(), TRUE);
}

GST_START_TEST(end_of_the_process) {
  gchar* program = g_file_read_link("/proc/self/exe", nullptr);
  gchar* arguments[] = {program, const_cast<gchar*>("--child"), nullptr};
  gchar** environment = child_environment();
  gchar* output = nullptr;
  gint status = 0;
  fail_unless(g_spawn_sync(nullptr, arguments, environment, G_SPAWN_DEFAULT, nullptr, nullptr,
                           nullptr, &output, &status, nullptr));
  const bool ended_well = g_spawn_check_wait_status(status, nullptr);
  if (!ended_well) g_printerr("%s\n", output);
  fail_unless(ended_well, "status %d: see above", status);
  g_free(output);
  g_free(program);
  g_strfreev(environment);
}
GST_END_TEST;

Suite* element_page_lock_memory_suite() {
  Suite* suite = suite_create("element-page-lock-memory");
  TCase* cases = tcase_create("memory");
  tcase_set_timeout(cases, 60);
  suite_add_tcase(suite, cases);
  tcase_add_loop_test(cases, freed_and_mapped_again, 0, 4);
  tcase_add_test(cases, the_same_bytes_wrapped_anew);
  tcase_add_loop_test(cases, memory_outlives_the_element, 0, registering_count);
  tcase_add_loop_test(cases, another_element_sees_the_memory, 0, registering_count);
  tcase_add_test(cases, two_elements_one_memory);
  tcase_add_loop_test(cases, a_pool_outlives_the_element, 0, registering_count);
  tcase_add_test(cases, outputs_outlive_the_element);
  tcase_add_loop_test(cases, parts_share_their_root_s_registration, 0, registering_count);
  tcase_add_test(cases, a_share_of_a_share);
  tcase_add_test(cases, planes_in_memories_of_their_own);
  tcase_add_loop_test(cases, wrapped_memory_that_is_pinned, 0, registering_count);
  tcase_add_loop_test(cases, memory_is_held_until_its_frame_is_finished, 0, 4 * mode_count);
  tcase_add_test(cases, end_of_the_process);
  return suite;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && !std::strcmp(argv[1], "--child")) return leave_a_running_pipeline();
  return test::run_element_suite(argc, argv, element_page_lock_memory_suite,
                                 "element_page_lock_memory", __FILE__);
}
