// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The arithmetic of the affine kernels, shared by both backends. No host includes.

#if defined(__CUDACC__)
#define STRIPE_HOST_DEVICE __host__ __device__
#else
#define STRIPE_HOST_DEVICE
#endif

namespace stripe {

/// A 3x4 matrix on 8-bit component codes, as integers.
///
/// Units:   coefficients and offsets in 2^-16 of a code. The sum of a row's |coefficients| stays
///          below 64 and |offset| below 2^13 codes, so that int holds every sum.
struct Affine {
  int coefficient[3][3];
  int offset[3];

  bool operator==(const Affine&) const = default;
};

constexpr int affine_one = 1 << 16;

constexpr Affine identity_affine() {
  return {{{affine_one, 0, 0}, {0, affine_one, 0}, {0, 0, affine_one}}, {0, 0, 0}};
}

/// A sum in 2^-16 of a code, rounded half up and saturated to a code.
STRIPE_HOST_DEVICE constexpr unsigned char affine_code(int sum) {
  const int code = (sum + affine_one / 2) >> 16;
  return static_cast<unsigned char>(code < 0 ? 0 : code > 255 ? 255 : code);
}

/// Row `row` of the matrix on one component alone: what a row means whose other coefficients are
/// 0.
STRIPE_HOST_DEVICE constexpr unsigned char affine_diagonal(const Affine& affine, int row,
                                                           int value) {
  return affine_code(affine.coefficient[row][row] * value + affine.offset[row]);
}

/// Row `row` of the matrix on the three components of a pixel.
STRIPE_HOST_DEVICE constexpr unsigned char affine_row(const Affine& affine, int row, int a, int b,
                                                      int c) {
  return affine_code(affine.coefficient[row][0] * a + affine.coefficient[row][1] * b +
                     affine.coefficient[row][2] * c + affine.offset[row]);
}

}  // namespace stripe
