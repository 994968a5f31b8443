// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "cuda/device.h"
#include "support/color_oracle.h"
#include "support/device_bytes.h"
#include "support/guarded_image.h"
#include "support/layouts.h"
#include "support/reference.h"

// One area of one picture for whatever does a kernel's work, between guards, with what must come
// out of it.

namespace test {

/// Part of the picture, begun on a whole block and now and then all of it.
stripe::Rect random_area(Random& random, const Format& format, int width, int height);

/// Coefficients of all sorts, within the bound. Subsampled chroma and luma stay apart.
Matrix random_matrix(Random& random, const Format& format);

/// One that gives each component a coefficient and an offset of its own.
Matrix random_diagonal(Random& random);

/// One that treats all components alike.
Matrix random_uniform(Random& random);

stripe::Operation operation_of(const Matrix& matrix);

/// Two pictures in blocks of bytes, of which one area is worked on.
class KernelTrial {
 public:
  KernelTrial(const Format& format, int width, int height, const stripe::Rect& area,
              const Geometry& input, const Geometry& output, Random& random);

  /// The same with a random area.
  KernelTrial(const Format& format, int width, int height, const Geometry& input,
              const Geometry& output, Random& random);

  /// The blocks as they are before, guards included.
  Bytes input_block() const { return block_of(input_); }
  Bytes output_block() const { return block_of(output_); }

  /// The job on blocks that lie there; `over_link` is left to the caller.
  stripe::KernelJob job(std::byte* input, std::byte* output) const;

  /// How `got`, the output's block afterwards, differs from what the matrix makes of the input, or
  /// the effect; empty if it does not. To be asked once.
  std::string verdict(const Bytes& got, const Matrix& matrix);
  std::string verdict(const Bytes& got, Effect effect, const Colors& colors);

  /// The same for settings: what the formula gives where they are affine, and within what double
  /// precision gives in any case.
  std::string verdict(const Bytes& got, const stripe::ColorSettings& settings,
                      const Colors& colors);

 private:
  static Bytes block_of(const GuardedImage& image) {
    return {image.memory(), image.memory() + image.size_bytes()};
  }
  template <typename Byte>
  BasicPicture<Byte> part(const BasicPicture<Byte>& picture) const {
    return sub_picture(picture, area_.x, area_.y, area_.width, area_.height);
  }
  std::string compare(const Bytes& got) const;
  std::string compare(const Bytes& got, const Bytes& least, const Bytes& greatest) const;

  const Format& format_;
  GuardedImage input_, output_;
  const stripe::Rect area_;
};

}  // namespace test
