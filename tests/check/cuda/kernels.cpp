// SPDX-License-Identifier: LGPL-2.1-or-later

// What every device's kernels must do: the operation on the pixels of the area, and on no other
// byte, for every format, however bases and pitches are aligned.

#include <string>

#include "cuda/device.h"
#include "support/device_bytes.h"
#include "support/guarded_image.h"
#include "support/layouts.h"
#include "support/library_main.h"

using test::Format;
using test::Matrix;
using test::Model;

namespace {

constexpr int sizes[][2] = {{1, 1}, {1, 17}, {17, 1}, {3, 5}, {65, 63}, {130, 33}};

/// A whole image's block, guards included, in device memory, `shift` bytes off its alignment.
class DeviceImage {
 public:
  DeviceImage(stripe::Device& device, stripe::Queue& queue, const test::GuardedImage& image,
              int shift)
      : image_(image), shift_(shift), size_(image.size_bytes() + shift) {
    test::Bytes bytes(size_);
    std::copy_n(image.memory(), image.size_bytes(), bytes.data() + shift);
    memory_ = test::on_device(device, queue, bytes);
  }

  stripe::Image view() const {
    stripe::Image image;
    for (int i = 0; i < image_.picture().format->planes; ++i) {
      const auto& plane = image_.picture().planes[i];
      image.planes[i] = {memory_->data() + shift_ + (plane.data - image_.memory()), plane.stride};
    }
    return image;
  }

  /// What lies there now, guards included.
  test::Bytes now(stripe::Queue& queue) const {
    test::Bytes bytes = test::download(queue, *memory_, size_);
    bytes.erase(bytes.begin(), bytes.begin() + shift_);
    return bytes;
  }

 private:
  const test::GuardedImage& image_;
  int shift_;
  std::size_t size_;
  std::unique_ptr<stripe::DeviceMemory> memory_;
};

/// Part of the picture, begun on a whole block and now and then all of it.
stripe::Rect random_area(test::Random& random, const Format& format, int width, int height) {
  if (random.one_in(3)) return {0, 0, width, height};
  const int unit = format.model == Model::yuv ? 2 : 1;
  const int x = random.between(0, (width - 1) / unit) * unit;
  const int y = random.between(0, (height - 1) / unit) * unit;
  return {x, y, random.between(1, width - x), random.between(1, height - y)};
}

/// Whether a matrix may mix two components: subsampled chroma and luma stay apart.
bool may_mix(const Format& format, int a, int b) {
  return a == b || format.model == Model::rgb || (format.model == Model::yuv && a > 0 && b > 0);
}

/// Coefficients of all sorts, within the bound.
Matrix random_matrix(test::Random& random, const Format& format) {
  Matrix matrix{};
  for (int row = 0; row < 3; ++row) {
    for (int i = 0; i < 3; ++i)
      if (may_mix(format, row, i)) matrix[row][i] = random.between(-3 * 65536, 3 * 65536);
    matrix[row][3] = random.between(-200 * 65536, 600 * 65536);
  }
  return matrix;
}

stripe::Operation operation_of(const Matrix& matrix) {
  stripe::Operation operation;
  operation.kernel = stripe::Operation::Kernel::affine;
  for (int row = 0; row < 3; ++row) {
    for (int i = 0; i < 3; ++i)
      operation.affine.coefficient[row][i] = static_cast<int>(matrix[row][i]);
    operation.affine.offset[row] = static_cast<int>(matrix[row][3]);
  }
  return operation;
}

/// Pairs of images in which one area is worked on.
class Trial {
 public:
  Trial(const Format& format, int width, int height, test::Random& random)
      : format_(format),
        aligned_(random.one_in(3)),
        input_(format, width, height, geometry(width, random), random),
        output_(format, width, height, geometry(width, random), random),
        area_(random_area(random, format, width, height)),
        shift_(aligned_ ? 0 : random.between(0, 255)) {}

  test::ConstPicture source() const { return part(input_.view()); }
  test::Picture target() const { return part(output_.picture()); }

  /// Runs on the device first, then lets `expect` write the expected area into the shadow on the
  /// host.
  template <typename Expect>
  std::string run(stripe::Device& device, const stripe::Operation& operation, Expect expect) {
    const auto queue = device.create_queue();
    const DeviceImage in(device, *queue, input_, shift_);
    const DeviceImage out(device, *queue, output_, shift_ / 2);
    queue->launch(operation, {test::layout_of(format_), as_const(in.view()), out.view(), area_});
    const test::Bytes got = out.now(*queue);
    expect(source(), target());
    return compare(got);
  }

 private:
  template <typename Byte>
  test::BasicPicture<Byte> part(const test::BasicPicture<Byte>& picture) const {
    return sub_picture(picture, area_.x, area_.y, area_.width, area_.height);
  }

  test::Geometry geometry(int width, test::Random& random) const {
    return aligned_ ? test::aligned_geometry(format_, width) : random_geometry(random, false);
  }

  std::string compare(const test::Bytes& got) const {
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (got[i] == output_.memory()[i]) continue;
      char text[200];
      std::snprintf(text, sizeof text, "%s %dx%d area %d,%d %dx%d: byte %zu is %d, expected %d",
                    format_.name, output_.picture().width, output_.picture().height, area_.x,
                    area_.y, area_.width, area_.height, i, got[i], output_.memory()[i]);
      return text;
    }
    return {};
  }

  const Format& format_;
  bool aligned_;
  test::GuardedImage input_, output_;
  stripe::Rect area_;
  int shift_;
};

template <typename Body>
void for_many_trials(const Format& format, std::uint64_t salt, Body body) {
  const auto device = test::open_test_device();
  test::Random random(salt);
  for (const auto& size : sizes)
    for (int repeat = 0; repeat < 12; ++repeat) {
      Trial trial(format, size[0], size[1], random);
      body(*device, trial, random);
    }
}

}  // namespace

GST_START_TEST(copy_copies_the_area) {
  const Format& format = test::formats[__i__];
  for_many_trials(format, __i__, [&](stripe::Device& device, Trial& trial, test::Random&) {
    fail_unless_empty(
        trial.run(device, {}, [](const test::ConstPicture& in, const test::Picture& out) {
          exact(test::Effect::none, test::bt709_full, in, out);
        }));
  });
}
GST_END_TEST;

// Matrices beyond those of today's effects too: a row must weigh all three components.
GST_START_TEST(affine_follows_the_formula) {
  const Format& format = test::formats[__i__];
  for_many_trials(
      format, 100 + __i__, [&](stripe::Device& device, Trial& trial, test::Random& random) {
        const Matrix matrix = random_matrix(random, format);
        fail_unless_empty(trial.run(device, operation_of(matrix),
                                    [&](const test::ConstPicture& in, const test::Picture& out) {
                                      affine(matrix, in, out);
                                    }));
      });
}
GST_END_TEST;

GST_START_TEST(effects_follow_the_formula) {
  const Format& format = test::formats[__i__];
  for_many_trials(
      format, 200 + __i__, [&](stripe::Device& device, Trial& trial, test::Random& random) {
        const test::Effect effect = random.pick(test::effects);
        const test::Colors& colors = random.one_in(2) ? test::bt601_limited : test::bt2020_full;
        fail_unless_empty(trial.run(device, test::operation_of(effect, format, colors),
                                    [&](const test::ConstPicture& in, const test::Picture& out) {
                                      exact(effect, colors, in, out);
                                    }));
      });
}
GST_END_TEST;

static Suite* kernels_suite() {
  Suite* suite = suite_create("kernels");
  TCase* cases = tcase_create(test::backend_name());
  suite_add_tcase(suite, cases);
  tcase_set_timeout(cases, 60);
  tcase_add_loop_test(cases, copy_copies_the_area, 0, test::format_count);
  tcase_add_loop_test(cases, affine_follows_the_formula, 0, test::format_count);
  tcase_add_loop_test(cases, effects_follow_the_formula, 0, test::format_count);
  return suite;
}

LIBRARY_CHECK_MAIN(kernels)
