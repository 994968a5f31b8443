// SPDX-License-Identifier: LGPL-2.1-or-later

// Copies of every device: the rectangle asked for and not a byte beside it, whatever the pitches.

#include <cstring>
#include <vector>

#include "cuda/device.h"
#include "support/device_bytes.h"
#include "support/library_main.h"

using stripe::CopyDirection;
using test::as_bytes;
using test::Bytes;

namespace {

/// A rectangle of bytes with a place in a host block and one in a device block.
struct Rectangle {
  std::size_t row_bytes, rows;
  std::size_t host_offset, host_pitch, device_offset, device_pitch;

  /// A block with guard bytes behind the rectangle too.
  std::size_t host_size() const { return host_offset + host_pitch * rows + row_bytes + 9; }
  std::size_t device_size() const { return device_offset + device_pitch * rows + row_bytes + 9; }
};

template <typename Check>
void for_every_rectangle(Check check) {
  for (const std::size_t row_bytes : {1, 3, 16, 17, 100})
    for (const std::size_t rows : {1, 2, 17})
      for (const std::size_t host_padding : {0, 1, 37})
        for (const std::size_t device_padding : {0, 1, 28})
          for (const std::size_t offset : {0, 1, 5})
            check(Rectangle{row_bytes, rows, offset, row_bytes + host_padding, offset * 3 % 7,
                            row_bytes + device_padding});
}

/// What a block must hold after a copy of the rectangle from `from` into it.
Bytes pasted(Bytes to, std::size_t to_offset, std::size_t to_pitch, const std::uint8_t* from,
             std::size_t from_pitch, const Rectangle& r) {
  for (std::size_t y = 0; y < r.rows; ++y)
    std::memcpy(&to[to_offset + y * to_pitch], from + y * from_pitch, r.row_bytes);
  return to;
}

/// Host memory of either kind.
class HostBlock {
 public:
  HostBlock(stripe::Device& device, const Bytes& bytes, bool page_locked) : bytes_(bytes) {
    if (!page_locked) return;
    block_ = device.allocate_pinned(bytes.size());
    std::memcpy(block_.data(), bytes.data(), bytes.size());
  }

  std::uint8_t* data() {
    return block_ ? reinterpret_cast<std::uint8_t*>(block_.data()) : bytes_.data();
  }
  Bytes now() { return Bytes(data(), data() + bytes_.size()); }

 private:
  Bytes bytes_;
  stripe::PinnedBlock block_;
};

void expect_upload(stripe::Device& device, stripe::Queue& queue, test::Random& random,
                   const Rectangle& r, bool page_locked) {
  const Bytes source = test::random_bytes(random, r.host_size());
  const Bytes before = test::random_bytes(random, r.device_size());
  HostBlock host(device, source, page_locked);
  const auto memory = test::on_device(device, queue, before);
  queue.copy({memory->data() + r.device_offset, static_cast<std::ptrdiff_t>(r.device_pitch),
              as_bytes(host.data() + r.host_offset), static_cast<std::ptrdiff_t>(r.host_pitch),
              r.row_bytes, r.rows, CopyDirection::upload});
  fail_unless(
      test::download(queue, *memory, before.size()) ==
          pasted(before, r.device_offset, r.device_pitch, &source[r.host_offset], r.host_pitch, r),
      "%zu bytes x %zu, host pitch %zu, device pitch %zu", r.row_bytes, r.rows, r.host_pitch,
      r.device_pitch);
}

void expect_download(stripe::Device& device, stripe::Queue& queue, test::Random& random,
                     const Rectangle& r, bool page_locked) {
  const Bytes source = test::random_bytes(random, r.device_size());
  const Bytes before = test::random_bytes(random, r.host_size());
  HostBlock host(device, before, page_locked);
  const auto memory = test::on_device(device, queue, source);
  queue.copy({as_bytes(host.data() + r.host_offset), static_cast<std::ptrdiff_t>(r.host_pitch),
              memory->data() + r.device_offset, static_cast<std::ptrdiff_t>(r.device_pitch),
              r.row_bytes, r.rows, CopyDirection::download});
  queue.synchronize();
  fail_unless(host.now() == pasted(before, r.host_offset, r.host_pitch, &source[r.device_offset],
                                   r.device_pitch, r),
              "%zu bytes x %zu, host pitch %zu, device pitch %zu", r.row_bytes, r.rows,
              r.host_pitch, r.device_pitch);
}

void expect_copy_on_device(stripe::Device& device, stripe::Queue& queue, test::Random& random,
                           const Rectangle& r) {
  const Bytes source = test::random_bytes(random, r.host_size());
  const Bytes before = test::random_bytes(random, r.device_size());
  const auto from = test::on_device(device, queue, source);
  const auto to = test::on_device(device, queue, before);
  queue.copy({to->data() + r.device_offset, static_cast<std::ptrdiff_t>(r.device_pitch),
              from->data() + r.host_offset, static_cast<std::ptrdiff_t>(r.host_pitch), r.row_bytes,
              r.rows, CopyDirection::on_device});
  fail_unless(
      test::download(queue, *to, before.size()) ==
          pasted(before, r.device_offset, r.device_pitch, &source[r.host_offset], r.host_pitch, r),
      "%zu bytes x %zu, pitches %zu and %zu", r.row_bytes, r.rows, r.host_pitch, r.device_pitch);
}

}  // namespace

GST_START_TEST(copies_on_the_device_touch_the_rectangle_alone) {
  const auto device = test::open_test_device();
  const auto queue = device->create_queue();
  test::Random random;
  for_every_rectangle([&](const Rectangle& rectangle) {
    expect_copy_on_device(*device, *queue, random, rectangle);
  });
}
GST_END_TEST;

GST_START_TEST(uploads_touch_the_rectangle_alone) {
  const auto device = test::open_test_device();
  const auto queue = device->create_queue();
  test::Random random;
  for_every_rectangle([&](const Rectangle& rectangle) {
    expect_upload(*device, *queue, random, rectangle, __i__ == 1);
  });
}
GST_END_TEST;

GST_START_TEST(downloads_touch_the_rectangle_alone) {
  const auto device = test::open_test_device();
  const auto queue = device->create_queue();
  test::Random random;
  for_every_rectangle([&](const Rectangle& rectangle) {
    expect_download(*device, *queue, random, rectangle, __i__ == 1);
  });
}
GST_END_TEST;

// A single row has no next one: its pitch means nothing.
GST_START_TEST(pitch_of_a_single_row_does_not_count) {
  const auto device = test::open_test_device();
  const auto queue = device->create_queue();
  test::Random random;
  const Rectangle rectangle{50, 1, 3, 1, 2, 7};
  expect_upload(*device, *queue, random, rectangle, true);
  expect_download(*device, *queue, random, rectangle, true);
}
GST_END_TEST;

GST_START_TEST(large_blocks_come_back) {
  const auto device = test::open_test_device();
  const auto queue = device->create_queue();
  test::Random random;
  const Bytes bytes = test::random_bytes(random, (std::size_t{24} << 20) + 13);
  fail_unless(test::download(*queue, *test::on_device(*device, *queue, bytes), bytes.size()) ==
              bytes);
}
GST_END_TEST;

static Suite* copies_suite() {
  Suite* suite = suite_create("copies");
  TCase* cases = tcase_create(test::backend_name());
  suite_add_tcase(suite, cases);
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, copies_on_the_device_touch_the_rectangle_alone);
  tcase_add_loop_test(cases, uploads_touch_the_rectangle_alone, 0, 2);
  tcase_add_loop_test(cases, downloads_touch_the_rectangle_alone, 0, 2);
  tcase_add_test(cases, pitch_of_a_single_row_does_not_count);
  tcase_add_test(cases, large_blocks_come_back);
  return suite;
}

LIBRARY_CHECK_MAIN(copies)
