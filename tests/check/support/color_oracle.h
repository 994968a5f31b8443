// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What colour settings mean, written from their definitions and slowly: the oracles that outputs are
// compared with. Of the code under test they take only the settings as values.

#include "cuda/color_settings.h"
#include "support/random.h"
#include "support/reference.h"

namespace test {

/// Whether nothing but a matrix is left of the settings.
bool is_affine(const stripe::ColorSettings& settings);

/// Affine settings by the formula: coefficients in 2^-16, summed up as integers, chroma that pixels
/// share the mean of theirs, rounded half up once. Outputs must equal it to the bit.
void exact(const stripe::ColorSettings& settings, const Colors& colors, const ConstPicture& in,
           const Picture& out);

/// Any settings in double precision: the least and the greatest code that an output may have.
///
/// Within 1 of the real value. Between steps that are not affine R'G'B' are rounded to 16 bits, of
/// which a threshold, a steep curve or a rough table makes as much as they like: each step is given
/// all that may have been rounded to its input.
void in_double(const stripe::ColorSettings& settings, const Colors& colors, const ConstPicture& in,
               const Picture& least, const Picture& greatest);

/// Any of the settings, of each now and then none; `affine`: nothing but a matrix.
stripe::ColorSettings random_settings(Random& random, bool affine);

/// A table of curves, of a cube or of both, now and then with domains of their own.
std::shared_ptr<const stripe::Lut> random_lut(Random& random);

std::string describe(const stripe::ColorSettings& settings);

}  // namespace test
