// SPDX-License-Identifier: LGPL-2.1-or-later

// The CPU's loops: for each code, for matrices of all sorts, rows of all lengths and on each
// instruction set they give what the formula in 64 bits does, and touch not a byte beside.

#include "cuda/host_affine.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/device_bytes.h"
#include "support/library_main.h"

using stripe::ByteMap;
using stripe::InstructionSet;
using test::Bytes;
using test::Random;

namespace {

constexpr std::int64_t one = 65536;
constexpr int guard_bytes = 37;
constexpr InstructionSet instruction_sets[] = {InstructionSet::best, InstructionSet::baseline};

std::uint8_t code_of(std::int64_t sum) {
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>((sum + one / 2) >> 16, 0, 255));
}

/// Up to 63 in a row of three; often a whole number, or one that is next to it.
int random_factor(Random& random) {
  constexpr int special[] = {0, 65536, -65536, 65535, 65537, -65535, -65537, 1, -1, 32768};
  return random.one_in(2) ? random.pick(special) : random.between(-21 * 65536, 21 * 65536);
}

int random_offset(Random& random) {
  constexpr int special[] = {0, 255, 256, 251, 128, -1, 254, 511, 8191, -8191, -255, -256, -300};
  const int codes = random.one_in(2) ? random.pick(special) : random.between(-600, 600);
  constexpr int parts[] = {0, 0, 1, -1, 32767, 32768, -32768, 12345};
  return std::clamp(codes * 65536 + random.pick(parts), -(8192 << 16) + 1, (8192 << 16) - 1);
}

ByteMap diagonal_map(Random& random, int period, bool whole) {
  constexpr int whole_factors[] = {0, 65536, -65536};
  ByteMap map{ByteMap::Kind::diagonal, period, {}, {}};
  for (int i = 0; i < period; ++i) {
    map.coefficient[i][i] = whole ? random.pick(whole_factors) : random_factor(random);
    map.offset[i] = random_offset(random);
  }
  return map;
}

/// `alone`: this byte keeps its value and no other one depends on it; -1: none does.
ByteMap matrix_map(Random& random, int period, int alone) {
  ByteMap map{ByteMap::Kind::matrix, period, {}, {}};
  for (int i = 0; i < period; ++i) {
    for (int k = 0; k < period; ++k)
      map.coefficient[i][k] = i == alone || k == alone ? 0 : random_factor(random) * 3 / period;
    map.offset[i] = i == alone ? 0 : random_offset(random);
  }
  if (alone >= 0) map.coefficient[alone][alone] = one;
  return map;
}

std::uint8_t expected(const ByteMap& map, const std::uint8_t* pixel, int i) {
  std::int64_t sum = map.offset[i];
  for (int k = 0; k < map.period; ++k) sum += std::int64_t{map.coefficient[i][k]} * pixel[k];
  return code_of(sum);
}

/// Rows of pixels between guards and gaps.
struct Rows {
  int pixels, rows, gap, before;
};

Rows random_rows(Random& random) {
  return {random.one_in(4) ? random.between(300, 900) : random.between(1, 200),
          random.between(1, 4), random.between(0, 9), guard_bytes + random.between(0, 33)};
}

/// What is wrong, in words; empty if nothing.
std::string check_map(const ByteMap& map, const Rows& rows, const Bytes& input, Random& random) {
  const int row_bytes = rows.pixels * map.period, pitch = row_bytes + rows.gap;
  const Bytes before = test::random_bytes(random, input.size());
  Bytes want = before;
  for (int y = 0; y < rows.rows; ++y)
    for (int x = 0; x < row_bytes; ++x) {
      const int row = rows.before + y * pitch;
      want[row + x] = expected(map, &input[row + x - x % map.period], x % map.period);
    }
  for (const InstructionSet instructions : instruction_sets) {
    Bytes got = before;
    run_plane_on_host({map,
                       {&input[rows.before], &got[rows.before], pitch, pitch,
                        static_cast<unsigned>(rows.pixels), static_cast<unsigned>(rows.rows)}},
                      instructions);
    const auto [a, b] = std::mismatch(got.begin(), got.end(), want.begin());
    if (a == got.end()) continue;
    const auto at = a - got.begin();
    return "byte " + std::to_string(at) + " is " + std::to_string(*a) + ", not " +
           std::to_string(*b) + " (from " + std::to_string(input[at]) + "): period " +
           std::to_string(map.period) + ", " + std::to_string(rows.pixels) + " pixels x " +
           std::to_string(rows.rows) + ", instruction set " +
           std::to_string(static_cast<int>(instructions));
  }
  return {};
}

std::string check_map(const ByteMap& map, Random& random) {
  const Rows rows = random_rows(random);
  const std::size_t size =
      rows.before + rows.rows * (rows.pixels * map.period + rows.gap) + guard_bytes;
  return check_map(map, rows, test::random_bytes(random, size), random);
}

/// All 256 codes in each byte of the pixel.
std::string check_all_codes(const ByteMap& map, Random& random) {
  const Rows rows{256, 1, 0, guard_bytes};
  Bytes input(256 * map.period + 2 * guard_bytes);
  for (int i = 0; i < 256 * map.period; ++i)
    input[guard_bytes + i] = static_cast<std::uint8_t>(i / map.period + i % map.period * 85);
  return check_map(map, rows, input, random);
}

/// Components in planes of their own, the second and third one subsampled where they are a group.
stripe::PixelLayout planar_layout(bool subsampled) {
  const unsigned char sub = subsampled ? 1 : 0;
  return {stripe::ColorModel::yuv,
          3,
          3,
          false,
          {{0, 0, 1, 0, 0}, {1, 0, 1, sub, sub}, {2, 0, 1, sub, sub}}};
}

std::string check_group(stripe::SampleGroup group, int pitch, Random& random) {
  const stripe::PixelLayout layout = planar_layout(group.component_count < 3);
  stripe::Affine affine{};
  for (auto& row : affine.coefficient)
    for (int& factor : row) factor = random_factor(random);
  for (int& offset : affine.offset) offset = random_offset(random);
  const std::size_t plane_bytes = static_cast<std::size_t>(pitch) * (group.y + group.height + 1);
  const Bytes input = test::random_bytes(random, 3 * plane_bytes);
  const Bytes before = test::random_bytes(random, input.size());
  Bytes want = before;
  const int end = group.first_component + group.component_count;
  for (int y = group.y; y < group.y + group.height; ++y)
    for (int x = group.x; x < group.x + group.width; ++x)
      for (int c = group.first_component; c < end; ++c) {
        std::int64_t sum = affine.offset[c];
        for (int k = group.first_component; k < end; ++k)
          sum += std::int64_t{affine.coefficient[c][k]} * input[k * plane_bytes + y * pitch + x];
        want[c * plane_bytes + y * pitch + x] = code_of(sum);
      }
  for (const InstructionSet instructions : instruction_sets) {
    Bytes got = before;
    stripe::GroupJob job{};
    job.layout = layout;
    job.group = group;
    for (int p = 0; p < 3; ++p) {
      job.input[p] = {&input[p * plane_bytes], pitch};
      job.output[p] = {&got[p * plane_bytes], pitch};
    }
    run_group_on_host(affine, job, instructions);
    if (got != want)
      return std::to_string(group.component_count) + " planes, " + std::to_string(group.width) +
             " x " + std::to_string(group.height);
  }
  return {};
}

}  // namespace

// Rounding and saturation in 8 bits are those of the sums: for each code, factor and offset.
GST_START_TEST(whole_factors_on_all_codes) {
  Random random(__i__);
  for (int codes = -530; codes <= 530; ++codes)
    for (const int factor : {65536, -65536, 0})
      for (const int part : {0, 32767, 32768, -32768, -1}) {
        ByteMap map{ByteMap::Kind::diagonal, 1, {{factor}}, {codes * 65536 + part}};
        fail_unless_empty(check_all_codes(map, random));
      }
  for (int repeat = 0; repeat < 300; ++repeat)
    fail_unless_empty(check_all_codes(diagonal_map(random, 1 + repeat % 4, true), random));
}
GST_END_TEST;

GST_START_TEST(diagonals_on_all_codes) {
  Random random(100 + __i__);
  for (int repeat = 0; repeat < 500; ++repeat)
    fail_unless_empty(check_all_codes(diagonal_map(random, 1 + repeat % 4, false), random));
}
GST_END_TEST;

GST_START_TEST(diagonals_on_rows_of_any_length) {
  Random random(200 + __i__);
  for (int repeat = 0; repeat < 400; ++repeat)
    fail_unless_empty(check_map(diagonal_map(random, 1 + repeat % 4, random.one_in(2)), random));
}
GST_END_TEST;

GST_START_TEST(matrices_on_rows_of_any_length) {
  Random random(300 + __i__);
  for (int repeat = 0; repeat < 400; ++repeat) {
    const int period = 1 + repeat % 4;
    const int alone = period == 4 ? random.between(-1, 3) : -1;
    fail_unless_empty(check_map(matrix_map(random, period, alone), random));
  }
}
GST_END_TEST;

// What the arithmetic's bound allows at most does not overflow.
GST_START_TEST(largest_factors) {
  Random random;
  for (const int sign : {1, -1}) {
    ByteMap map{ByteMap::Kind::matrix, 3, {}, {}};
    for (int i = 0; i < 3; ++i) {
      map.coefficient[i][i] = sign * (63 << 16);
      map.coefficient[i][(i + 1) % 3] = sign * 65535;
      map.offset[i] = sign * ((8192 << 16) - 1);
    }
    fail_unless_empty(check_all_codes(map, random));
    map.kind = ByteMap::Kind::diagonal;
    for (int i = 0; i < 3; ++i) map.coefficient[i][(i + 1) % 3] = 0;
    fail_unless_empty(check_all_codes(map, random));
  }
}
GST_END_TEST;

GST_START_TEST(planes_that_mix) {
  Random random(400 + __i__);
  constexpr stripe::SampleGroup groups[] = {
      {0, 1, 0, 0, 0, 0}, {1, 2, 0, 0, 0, 0}, {0, 3, 0, 0, 0, 0}};
  for (int repeat = 0; repeat < 300; ++repeat) {
    stripe::SampleGroup group = groups[repeat % 3];
    group.x = random.between(0, 20);
    group.y = random.between(0, 3);
    group.width = random.between(1, 150);
    group.height = random.between(1, 6);
    fail_unless_empty(check_group(group, group.x + group.width + random.between(0, 30), random));
  }
}
GST_END_TEST;

static Suite* host_affine_suite() {
  Suite* suite = suite_create("host-affine");
  TCase* cases = tcase_create("host-affine");
  suite_add_tcase(suite, cases);
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, whole_factors_on_all_codes);
  tcase_add_test(cases, diagonals_on_all_codes);
  tcase_add_test(cases, diagonals_on_rows_of_any_length);
  tcase_add_loop_test(cases, matrices_on_rows_of_any_length, 0, 3);
  tcase_add_test(cases, largest_factors);
  tcase_add_loop_test(cases, planes_that_mix, 0, 3);
  return suite;
}

LIBRARY_CHECK_MAIN(host_affine)
