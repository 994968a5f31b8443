// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/kernel_trial.h"

#include <cstdio>

namespace test {
namespace {

/// Whether a matrix may mix two components.
bool may_mix(const Format& format, int a, int b) {
  return a == b || format.model == Model::rgb || (format.model == Model::yuv && a > 0 && b > 0);
}

std::int64_t random_coefficient(Random& random) { return random.between(-3 * 65536, 3 * 65536); }

std::int64_t random_offset(Random& random) { return random.between(-200 * 65536, 600 * 65536); }

/// Where the planes of `image` lie in a copy of its block.
stripe::Image image_in(std::byte* block, const GuardedImage& image) {
  stripe::Image view;
  for (int i = 0; i < image.picture().format->planes; ++i) {
    const auto& plane = image.picture().planes[i];
    view.planes[i] = {block + (plane.data - image.memory()), plane.stride};
  }
  return view;
}

}  // namespace

stripe::Rect random_area(Random& random, const Format& format, int width, int height) {
  if (random.one_in(3)) return {0, 0, width, height};
  const int unit = format.model == Model::yuv ? 2 : 1;
  const int x = random.between(0, (width - 1) / unit) * unit;
  const int y = random.between(0, (height - 1) / unit) * unit;
  return {x, y, random.between(1, width - x), random.between(1, height - y)};
}

Matrix random_matrix(Random& random, const Format& format) {
  Matrix matrix{};
  for (int row = 0; row < 3; ++row) {
    for (int i = 0; i < 3; ++i)
      if (may_mix(format, row, i)) matrix[row][i] = random_coefficient(random);
    matrix[row][3] = random_offset(random);
  }
  return matrix;
}

Matrix random_diagonal(Random& random) {
  Matrix matrix{};
  for (int row = 0; row < 3; ++row) {
    matrix[row][row] = random_coefficient(random);
    matrix[row][3] = random_offset(random);
  }
  return matrix;
}

Matrix random_uniform(Random& random) {
  Matrix matrix = random_diagonal(random);
  for (int row = 1; row < 3; ++row) {
    matrix[row][row] = matrix[0][0];
    matrix[row][3] = matrix[0][3];
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

KernelTrial::KernelTrial(const Format& format, int width, int height, const stripe::Rect& area,
                         const Geometry& input, const Geometry& output, Random& random)
    : format_(format),
      input_(format, width, height, input, random),
      output_(format, width, height, output, random),
      area_(area) {}

KernelTrial::KernelTrial(const Format& format, int width, int height, const Geometry& input,
                         const Geometry& output, Random& random)
    : KernelTrial(format, width, height, random_area(random, format, width, height), input, output,
                  random) {}

stripe::KernelJob KernelTrial::job(std::byte* input, std::byte* output) const {
  return {layout_of(format_), stripe::as_const(image_in(input, input_)), image_in(output, output_),
          area_};
}

// The oracle writes into the picture on the host, between its guards: all other bytes must be as
// they were.
std::string KernelTrial::verdict(const Bytes& got, const Matrix& matrix) {
  affine(matrix, part(input_.view()), part(output_.picture()));
  return compare(got);
}

std::string KernelTrial::verdict(const Bytes& got, Effect effect, const Colors& colors) {
  exact(effect, colors, part(input_.view()), part(output_.picture()));
  return compare(got);
}

std::string KernelTrial::verdict(const Bytes& got, const stripe::ColorSettings& settings,
                                 const Colors& colors) {
  const ConstPicture in = part(input_.view());
  const Picture out = part(output_.picture());
  Bytes least = block_of(output_), greatest = least;
  const auto in_block = [&](Bytes& block) {
    Picture picture = out;
    for (int i = 0; i < format_.planes; ++i)
      picture.planes[i].data = block.data() + (out.planes[i].data - output_.memory());
    return picture;
  };
  in_double(settings, colors, in, in_block(least), in_block(greatest));
  const std::string text = compare(got, least, greatest);
  if (!text.empty() || !is_affine(settings)) return text;
  exact(settings, colors, in, out);
  return compare(got);
}

std::string KernelTrial::compare(const Bytes& got) const {
  return compare(got, block_of(output_), block_of(output_));
}

std::string KernelTrial::compare(const Bytes& got, const Bytes& least,
                                 const Bytes& greatest) const {
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] >= least[i] && got[i] <= greatest[i]) continue;
    char text[200];
    std::snprintf(text, sizeof text, "%s %dx%d area %d,%d %dx%d: byte %zu is %d, expected %d to %d",
                  format_.name, output_.picture().width, output_.picture().height, area_.x, area_.y,
                  area_.width, area_.height, i, got[i], least[i], greatest[i]);
    return text;
  }
  return {};
}

}  // namespace test
