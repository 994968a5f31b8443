// SPDX-License-Identifier: LGPL-2.1-or-later
// The text of .cube files: what is read of it.

#include "cuda/cube_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "support/allocations.h"
#include "support/comma_locale.h"
#include "support/cube_texts.h"
#include "support/library_main.h"

using namespace test;
using stripe::parse_cube;

namespace {

// --- what is read

GST_START_TEST(a_cube) {
  const Lut lut = parse_cube(plain_cube, "some.cube");
  expect_cube(lut);
  expect_no_curve(lut);
  fail_unless_equals_string(lut.title.c_str(), "");
}
GST_END_TEST;

GST_START_TEST(a_curve) {
  const Lut lut = parse_cube(plain_curve, "some.cube");
  expect_curve(lut);
  expect_no_cube(lut);
}
GST_END_TEST;

GST_START_TEST(a_curve_and_a_cube) {
  const std::string entries = curve_entries + cube_entries;
  for (const char* header :
       {"LUT_1D_SIZE 3\nLUT_3D_SIZE 2\n", "LUT_3D_SIZE 2\nLUT_1D_SIZE 3\n",
        "LUT_1D_SIZE 3\nLUT_3D_SIZE 2\nDOMAIN_MIN 0 0 0\nDOMAIN_MAX 1 1 1\n"}) {
    const Lut lut = parse_cube(header + entries, "some.cube");
    expect_curve(lut);
    expect_cube(lut);
  }
  const Lut lut = parse_cube(
      "LUT_1D_SIZE 3\nLUT_1D_INPUT_RANGE -0.5 4\nLUT_3D_SIZE 2\nLUT_3D_INPUT_RANGE 0.25 2\n" +
          entries,
      "some.cube");
  expect_curve(lut, {-0.5, -0.5, -0.5}, {4, 4, 4});
  expect_cube(lut, {0.25, 0.25, 0.25}, {2, 2, 2});
}
GST_END_TEST;

GST_START_TEST(ranges_of_one_table) {
  const LutColor min{-1, 0, 0.5}, max{1, 2, 0.75};
  const std::string domain = "DOMAIN_MIN -1 0 0.5\nDOMAIN_MAX 1 2 0.75\n";
  expect_cube(parse_cube(domain + plain_cube, ""), min, max);
  const Lut curve = parse_cube(domain + plain_curve, "");
  expect_curve(curve, min, max);
  expect_no_cube(curve);
  expect_cube(parse_cube("DOMAIN_MAX 1 2 0.75\n" + plain_cube, ""), zeros, max);
  expect_cube(parse_cube("DOMAIN_MIN -1 0 0.5\n" + plain_cube, ""), min, ones);
  expect_cube(parse_cube("LUT_3D_INPUT_RANGE -1 2\n" + plain_cube, ""), {-1, -1, -1}, {2, 2, 2});
  expect_curve(parse_cube("LUT_1D_INPUT_RANGE -1 2\n" + plain_curve, ""), {-1, -1, -1}, {2, 2, 2});
  // Both manners, saying the same.
  expect_cube(
      parse_cube("LUT_3D_INPUT_RANGE -1 2\nDOMAIN_MIN -1 -1 -1\nDOMAIN_MAX 2 2 2\n" + plain_cube,
                 ""),
      {-1, -1, -1}, {2, 2, 2});
  expect_cube(parse_cube("LUT_3D_INPUT_RANGE 0 1e-6\n" + plain_cube, ""), zeros,
              {1e-6f, 1e-6f, 1e-6f});
}
GST_END_TEST;

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
  return text;
}

GST_START_TEST(any_manner_of_writing) {
  const std::string all = "# made by hand\nDOMAIN_MIN -1 -1 -1\n" + plain_cube;
  for (const std::string& text : {all,
                                  replaced(all, "\n", "\r\n"),
                                  replaced(all, "\n", "\r"),
                                  replaced(all, "\n", "\r\r\n"),
                                  "\xef\xbb\xbf" + all,
                                  "\xef\xbb\xbf" + replaced(all, "\n", "\r\n"),
                                  replaced(all, " ", "\t"),
                                  replaced(all, " ", " \t\v\f  "),
                                  replaced(all, "\n", "\n\n\n"),
                                  replaced(all, "\n", "  \t\n \t"),
                                  "\n\n" + all + "\n\n \n",
                                  all.substr(0, all.size() - 1),
                                  all + "# end",
                                  all + " #",
                                  replaced(all, "\n", "\n#0 0 0\n"),
                                  replaced(all, "\n", "\n \t# LUT_3D_SIZE 5\n"),
                                  replaced(all, "\n", " # a comment\n"),
                                  replaced(all, "LUT_3D_SIZE", "lut_3d_size"),
                                  replaced(all, "DOMAIN_MIN", "Domain_Min"),
                                  replaced(all, "SIZE 2", "SIZE +2"),
                                  replaced(all, "SIZE 2", "SIZE 002"),
                                  replaced(all, " 1", " +1.0e0")}) {
    const std::string error = error_of(text);
    fail_unless(error.empty(), "%s", error.c_str());
    expect_cube(parse_cube(text, ""), {-1, -1, -1});
  }
}
GST_END_TEST;

GST_START_TEST(titles) {
  const std::pair<const char*, const char*> titles[] = {
      {"TITLE \"Warm evening\"", "Warm evening"},
      {"TITLE Warm evening", "Warm evening"},
      {" \ttitle\t \" # 1 \"  ", " # 1 "},
      {"TITLE \"\"", ""},
      {"TITLE", ""},
      {"TITLE \"", ""},
      {"TITLE \"a \"b\" c\"", "a \"b\" c"},
      {"TITLE \"no end", "no end"},
      {"TITLE \"LUT_3D_SIZE 7\"", "LUT_3D_SIZE 7"},
      {"TITLE \"f\xc3\xbcr\xff\"", "f\xc3\xbcr\xff"},
      {"TITLE 0 0 0", "0 0 0"}};
  for (const auto& [line, title] : titles)
    for (const std::string end : {"\n", "\r\n", "\r"}) {
      const Lut lut = parse_cube(line + end + plain_cube, "");
      fail_unless_equals_string(lut.title.c_str(), title);
      expect_cube(lut);
    }
}
GST_END_TEST;

GST_START_TEST(numbers_that_are_read) {
  const std::pair<const char*, float> words[] = {{"0", 0.0f},
                                                 {"-0", -0.0f},
                                                 {"+0.5", 0.5f},
                                                 {"007", 7.0f},
                                                 {".5", 0.5f},
                                                 {"5.", 5.0f},
                                                 {"-.5e+1", -5.0f},
                                                 {"1E-3", 0.001f},
                                                 {"1e9", 1e9f},
                                                 {"-1e9", -1e9f},
                                                 {"1e-40", 1e-40f},
                                                 {"1e-45", 0x1p-149f},
                                                 {"1e-46", 0.0f},
                                                 {"-1e-60", -0.0f},
                                                 {"1e-300", 0.0f},
                                                 {"0e999", 0.0f},
                                                 {"0.1", 0x1.99999ap-4f},
                                                 {"16777217", 16777216.0f},
                                                 {"0.333333343267440796", 0x1.555556p-2f}};
  for (const auto& [word, value] : words) {
    const float got = parse_cube(cube_with(word), "").cube[1][1];
    fail_unless(std::memcmp(&got, &value, sizeof got) == 0, "%s is read as %a, not %a", word, got,
                value);
  }
}
GST_END_TEST;

// --- random files

/// A number as some program might write it.
std::string written(Random& random) {
  const char* formats[] = {"%g",    "%.9g",  "%f",    "%.3f", "%e",
                           "%+.5f", "%.12f", "%.17g", "%.0f", "%E"};
  double value = random.between(-2000000, 2000000) / 1000003.0;
  if (random.one_in(8)) value = random.between(-1, 2);
  if (random.one_in(8)) value *= std::pow(10.0, random.between(-50, 8));
  char text[128];
  std::snprintf(text, sizeof text, random.pick(formats), value);
  return text;
}

std::string blanks(Random& random) {
  return random.pick(std::array<const char*, 5>{" ", " ", "\t", "  ", " \t "});
}

void add_random_entries(std::string& text, Colors& expected, int count, const char* end,
                        Random& random) {
  for (int i = 0; i < count; ++i) {
    LutColor color;
    if (random.one_in(20)) text += random.one_in(2) ? end : std::string("# 1 2 3") + end;
    if (random.one_in(4)) text += blanks(random);
    for (float& component : color) {
      const std::string word = written(random);
      component = std::strtof(word.c_str(), nullptr);
      text += (&component == color.data() ? "" : blanks(random)) + word;
    }
    text += (random.one_in(4) ? blanks(random) : "") + end;
    expected.push_back(color);
  }
}

/// So that -0 isn't 0.
bool same_bits(const Colors& a, const Colors& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const LutColor& x, const LutColor& y) { return std::memcmp(&x, &y, sizeof x) == 0; });
}

GST_START_TEST(random_files) {
  Random random(20);
  for (int run = 0; run < 150; ++run) {
    const int curve_size = random.one_in(2) ? random.between(2, 300) : 0;
    const int cube_size = curve_size == 0 || random.one_in(2) ? random.between(2, 11) : 0;
    const char* end = random.pick(std::array<const char*, 3>{"\n", "\r\n", "\r"});
    std::string text = random.one_in(3) ? "\xef\xbb\xbf" : "";
    if (curve_size) text += "LUT_1D_SIZE " + std::to_string(curve_size) + end;
    if (cube_size) text += "LUT_3D_SIZE " + std::to_string(cube_size) + end;
    Colors curve, cube;
    add_random_entries(text, curve, curve_size, end, random);
    add_random_entries(text, cube, cube_size * cube_size * cube_size, end, random);
    Lut lut;
    const std::size_t most = most_at_once([&] { lut = parse_cube(text, "random.cube"); });
    fail_unless(same_bits(lut.curve, curve) && same_bits(lut.cube, cube), "run %d", run);
    fail_unless_equals_int(lut.cube_size, cube_size);
    fail_unless(most <= std::max<std::size_t>(2 * text.size(), 1000), "%zu bytes at once", most);
  }
}
GST_END_TEST;

std::string six_decimals(int numerator, int denominator) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6f", static_cast<double>(numerator) / denominator);
  return text;
}

GST_START_TEST(the_largest_cube) {
  constexpr int size = 129;
  std::string words[size];
  float values[size];
  for (int i = 0; i < size; ++i) {
    words[i] = six_decimals(i, size - 1);
    values[i] = std::strtof(words[i].c_str(), nullptr);
  }
  std::string text = "LUT_3D_SIZE 129\n";
  for (int b = 0; b < size; ++b)
    for (int g = 0; g < size; ++g)
      for (int r = 0; r < size; ++r)
        text.append(words[r]).append(" ").append(words[g]).append(" ").append(words[b]).append(
            "\n");
  const Lut lut = parse_cube(text, "");
  fail_unless_equals_int(lut.cube_size, size);
  fail_unless_equals_uint64(lut.cube.size(), std::uint64_t{size} * size * size);
  std::size_t wrong = 0;  // fail_unless writes to a file each time
  for (std::size_t i = 0; i < lut.cube.size(); ++i)
    wrong +=
        lut.cube[i] != LutColor{values[i % size], values[i / size % size], values[i / size / size]};
  fail_unless(wrong == 0, "%zu entries are wrong", wrong);
}
GST_END_TEST;

GST_START_TEST(the_longest_curve) {
  constexpr int size = 65536;
  std::string text = "LUT_1D_SIZE 65536\n";
  for (int i = 0; i < size; ++i)
    text += std::to_string(i) + " 0 " + std::to_string(size - i) + "\n";
  const Lut lut = parse_cube(text, "");
  fail_unless_equals_uint64(lut.curve.size(), size);
  int wrong = 0;
  for (int i = 0; i < size; ++i)
    wrong += lut.curve[static_cast<std::size_t>(i)] !=
             LutColor{static_cast<float>(i), 0, static_cast<float>(size - i)};
  fail_unless_equals_int(wrong, 0);
}
GST_END_TEST;

GST_START_TEST(in_any_locale) {
  if (!use_comma_locale()) return;
  expect_cube(parse_cube("LUT_3D_INPUT_RANGE 0.5 1.5\n" + plain_cube, ""), {0.5, 0.5, 0.5},
              {1.5, 1.5, 1.5});
  expect_error(cube_with("0,5"), 3, "a point where it has a comma");
  std::setlocale(LC_ALL, "C");
}
GST_END_TEST;

Suite* cube_file_suite() {
  Suite* suite = suite_create("cube-file");
  TCase* cases = tcase_create("cube-file");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, a_cube);
  tcase_add_test(cases, a_curve);
  tcase_add_test(cases, a_curve_and_a_cube);
  tcase_add_test(cases, ranges_of_one_table);
  tcase_add_test(cases, any_manner_of_writing);
  tcase_add_test(cases, titles);
  tcase_add_test(cases, numbers_that_are_read);
  tcase_add_test(cases, random_files);
  tcase_add_test(cases, the_largest_cube);
  tcase_add_test(cases, the_longest_curve);
  tcase_add_test(cases, in_any_locale);
  return suite;
}

}  // namespace

LIBRARY_CHECK_MAIN(cube_file)
