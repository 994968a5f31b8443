// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory that is never page-locked, or can't be: it is staged, counted once a memory, said once a
// cause, and the stream goes on.

#include <string>

#include "gst/foreign_memory.h"
#include "gst/page_lock.h"
#include "support/backend.h"

namespace {

using namespace test;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A picture in the layout of the caps, for memory of whatever kind.
GuardedImage make_image(LockFixture& one) {
  const GstVideoInfo info = info_of(one.caps.get());
  return GuardedImage(format_named(GST_VIDEO_INFO_NAME(&info)), info.width, info.height,
                      random_geometry(one.random, false), one.random);
}

void check_times(LockFixture& one, GstBuffer* buffer, const GuardedImage& image, int times) {
  for (int i = 0; i < times; ++i)
    one.check(one.rig.process(Ref<GstBuffer>(gst_buffer_ref(buffer))).get(), image.view());
}

// --- file descriptors

const struct {
  const char* mode;
  bool dmabuf;
  GstFdMemoryFlags flags;
} fd_cases[] = {{"auto", false, GST_FD_MEMORY_FLAG_NONE},
                {"auto", false, GST_FD_MEMORY_FLAG_KEEP_MAPPED},
                {"auto", true, GST_FD_MEMORY_FLAG_NONE},
                {"register", false, GST_FD_MEMORY_FLAG_NONE},
                {"register", false, GST_FD_MEMORY_FLAG_KEEP_MAPPED},
                {"register", true, GST_FD_MEMORY_FLAG_NONE}};

// Whether it keeps its mapping can't be seen, so it is staged even where it does.
GST_START_TEST(fd_memory_is_staged) {
  const auto& entry = fd_cases[__i__];
  LockFixture one({.mode = entry.mode});
  const Ref<GstAllocator> allocator = make_fd_allocator(entry.dmabuf);
  for (unsigned memories = 1; memories <= 3; ++memories) {
    const GuardedImage image = make_image(one);
    const Ref<GstBuffer> buffer = make_fd_buffer(allocator.get(), image, entry.flags);
    check_times(one, buffer.get(), image, 4);
    one.expect({{"refusals", memories},
                {"staged-frames", 4 * memories},
                {"input-pinned-frames", 0},
                {"output-pinned-frames", 4 * memories}});
  }
  const Report warning = one.expect_one_warning(GST_RESOURCE_ERROR_FAILED);
  const std::string name = entry.dmabuf ? GST_ALLOCATOR_DMABUF : GST_ALLOCATOR_FD;
  fail_unless(contains(warning.text, "allocator " + name + " "), "%s", warning.text.c_str());
}
GST_END_TEST;

// Nobody asked for it to be page-locked.
GST_START_TEST(fd_memory_where_nothing_is_registered) {
  for (const char* mode : {"stage", "off"}) {
    LockFixture one({.mode = mode});
    const Ref<GstAllocator> allocator = make_fd_allocator(false);
    const GuardedImage image = make_image(one);
    const Ref<GstBuffer> buffer = make_fd_buffer(allocator.get(), image);
    check_times(one, buffer.get(), image, 4);
    one.expect({{"refusals", 0}, {"input-pinned-frames", 0}});
    one.rig.expect_quiet();
  }
}
GST_END_TEST;

GST_START_TEST(a_warning_for_each_session) {
  const LockSetup setup;
  Ref<GstElement> element = make_locking_element(setup);
  const Ref<GstAllocator> allocator = make_fd_allocator(false);
  for (int session = 0; session < 3; ++session) {
    LockFixture one(std::move(element), setup);
    const GuardedImage image = make_image(one);
    const Ref<GstBuffer> buffer = make_fd_buffer(allocator.get(), image);
    check_times(one, buffer.get(), image, 3);
    one.expect({{"refusals", 1}, {"staged-frames", 3}});
    one.expect_one_warning(GST_RESOURCE_ERROR_FAILED);
    element = one.rig.release();
  }
}
GST_END_TEST;

// --- allocators of others

GST_START_TEST(an_unknown_allocator) {
  LockFixture one({.mode = __i__ ? "register" : "auto"});
  for (unsigned memories = 1; memories <= 3; ++memories) {
    const Frame frame = one.make();
    const Ref<GstBuffer> buffer = make_foreign_buffer(nullptr, *frame.image);
    check_times(one, buffer.get(), *frame.image, 4);
    one.expect({{"refusals", memories}, {"staged-frames", 4 * memories}});
  }
  const Report warning = one.expect_one_warning(GST_RESOURCE_ERROR_FAILED);
  fail_unless(contains(warning.text, "allocator TestForeign "), "%s", warning.text.c_str());
}
GST_END_TEST;

// Somebody else's page-locked memory, of whatever allocator, is used as it is. Where nothing needs
// page-locking nobody can see that it is.
GST_START_TEST(an_unknown_allocator_that_pins) {
  LockFixture one;
  const Ref<GstAllocator> storage(gst_allocator_find(pinned_type));
  const Frame frame = one.make();
  const Ref<GstBuffer> buffer = make_foreign_buffer(storage.get(), *frame.image);
  check_times(one, buffer.get(), *frame.image, 4);
  one.expect({{"registrations", 0}});
  if (backend_is_cuda()) {
    one.expect({{"refusals", 0}, {"staged-frames", 0}, {"input-pinned-frames", 4}});
    one.rig.expect_quiet();
  } else {
    one.expect({{"refusals", 1}, {"staged-frames", 4}, {"input-pinned-frames", 0}});
    one.expect_one_warning(GST_RESOURCE_ERROR_FAILED);
  }
}
GST_END_TEST;

// One plane in memory that can't be registered: the frame is staged, the others' memory is seen.
GST_START_TEST(one_plane_of_an_unknown_allocator) {
  LockFixture one;
  const Frame frame = one.make();
  const GstVideoInfo info = info_of(one.caps.get());
  Ref<GstBuffer> buffer(gst_buffer_new());
  const gsize split = info.offset[1];
  gst_buffer_append_memory(buffer.get(), gst_allocator_alloc(nullptr, split, nullptr));
  gst_buffer_append_memory(buffer.get(), make_foreign_memory(nullptr, info.size - split).release());
  gst_buffer_fill(buffer.get(), 0, frame.image->memory(), info.size);
  check_times(one, buffer.get(), *frame.image, 4);
  one.expect({{"registrations", 1}, {"refusals", 1}, {"staged-frames", 4}});
  one.expect_one_warning(GST_RESOURCE_ERROR_FAILED);
}
GST_END_TEST;

// Each cause is said, also where a frame has two of them.
GST_START_TEST(two_causes_in_one_frame) {
  LockFixture one;
  const Frame frame = one.make();
  const GstVideoInfo info = info_of(one.caps.get());
  const Ref<GstAllocator> fd_allocator = make_fd_allocator(false);
  Ref<GstBuffer> buffer = make_fd_buffer(fd_allocator.get(), *frame.image);
  const gsize split = info.offset[1];
  gst_buffer_resize_range(buffer.get(), 0, 1, 0, split);
  gst_buffer_append_memory(buffer.get(), make_foreign_memory(nullptr, info.size - split).release());
  gst_buffer_fill(buffer.get(), split, frame.image->memory() + split, info.size - split);
  check_times(one, buffer.get(), *frame.image, 4);
  const std::vector<Report> warnings = one.warnings();
  fail_unless_equals_int(warnings.size(), 2);
  const std::string text = warnings[0].text + warnings[1].text;
  fail_unless(contains(text, "allocator fd ") && contains(text, "allocator TestForeign "), "%s",
              text.c_str());
}
GST_END_TEST;

// --- planes

GST_START_TEST(a_plane_across_two_memories) {
  LockFixture one({.mode = __i__ ? "register" : "auto"});
  const GstVideoInfo info = info_of(one.caps.get());
  for (int i = 0; i < 3; ++i) {
    const Frame frame =
        make_frame(one.caps.get(), default_geometry(info), one.random, {.cuts = {1001}});
    check_times(one, frame.buffer.get(), *frame.image, 4);
    fail_unless_empty(frame.damage());
  }
  one.expect({{"staged-frames", 12}, {"input-pinned-frames", 0}, {"output-pinned-frames", 12}});
  const Report warning = one.expect_one_warning(GST_RESOURCE_ERROR_FAILED);
  fail_unless(contains(warning.text, "two memories"), "%s", warning.text.c_str());
}
GST_END_TEST;

// --- what can't be written

const FileOptions file_options[] = {{.shared = false, .said_read_only = true},
                                    {.shared = true, .said_read_only = true},
                                    {.shared = false, .said_read_only = false},
                                    {.shared = true, .said_read_only = false}};

// What the driver takes of these depends on it: never wrong pixels, never a second try.
GST_START_TEST(read_only_file_mappings) {
  for (const char* mode : {"auto", "register"}) {
    LockFixture one({.mode = mode});
    const GuardedImage image = make_image(one);
    const Ref<GstBuffer> buffer = wrap_file(image, file_options[__i__]);
    check_times(one, buffer.get(), image, 6);
    const std::uint64_t pinned = one.stat("input-pinned-frames");
    fail_unless_equals_uint64(pinned + one.stat("staged-frames"), 6);
    if (pinned == 0) {
      one.expect({{"refusals", 1}});
      const Report warning = one.expect_one_warning(GST_RESOURCE_ERROR_FAILED);
      fail_unless(contains(warning.text, "cannot be page-locked"), "%s", warning.text.c_str());
    } else {
      one.expect({{"refusals", 0}});
      fail_unless(pinned >= 5);
      one.rig.expect_quiet();
    }
  }
}
GST_END_TEST;

// Said to be read-only, which the pages are not.
GST_START_TEST(read_only_memory) {
  LockFixture one;
  const GstVideoInfo info = info_of(one.caps.get());
  const Frame frame = make_frame(one.caps.get(), default_geometry(info), one.random,
                                 {.meta = false, .read_only = true});
  fail_unless(GST_MEMORY_IS_READONLY(gst_buffer_peek_memory(frame.buffer.get(), 0)));
  one.process_again(frame, 6);
  one.expect({{"registrations", 1}, {"refusals", 0}, {"input-pinned-frames", 5}});
}
GST_END_TEST;

GST_START_TEST(writable_memory) {
  LockFixture one;
  const GstVideoInfo info = info_of(one.caps.get());
  const Frame frame = make_frame(one.caps.get(), default_geometry(info), one.random,
                                 {.meta = false, .read_only = false});
  one.process_again(frame, 6);
  one.expect({{"registrations", 1}, {"refusals", 0}, {"input-pinned-frames", 5}});
}
GST_END_TEST;

Suite* element_page_lock_refusals_suite() {
  Suite* suite = suite_create("element-page-lock-refusals");
  TCase* cases = tcase_create("refusals");
  suite_add_tcase(suite, cases);
  tcase_add_loop_test(cases, fd_memory_is_staged, 0, G_N_ELEMENTS(fd_cases));
  tcase_add_test(cases, fd_memory_where_nothing_is_registered);
  tcase_add_test(cases, a_warning_for_each_session);
  tcase_add_loop_test(cases, an_unknown_allocator, 0, 2);
  tcase_add_test(cases, an_unknown_allocator_that_pins);
  tcase_add_test(cases, one_plane_of_an_unknown_allocator);
  tcase_add_test(cases, two_causes_in_one_frame);
  tcase_add_loop_test(cases, a_plane_across_two_memories, 0, 2);
  tcase_add_loop_test(cases, read_only_file_mappings, 0, G_N_ELEMENTS(file_options));
  tcase_add_test(cases, read_only_memory);
  tcase_add_test(cases, writable_memory);
  return suite;
}

}  // namespace

ELEMENT_CHECK_MAIN(element_page_lock_refusals)
