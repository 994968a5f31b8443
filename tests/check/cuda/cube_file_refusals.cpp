// SPDX-License-Identifier: LGPL-2.1-or-later
// The text of .cube files: what is refused, in which line and with which words.

#include "cuda/cube_file.h"
#include "support/allocations.h"
#include "support/cube_texts.h"
#include "support/library_main.h"

using namespace test;

namespace {

GST_START_TEST(numbers_that_are_refused) {
  for (const std::string word : {"nan",
                                 "NaN",
                                 "-nan",
                                 "nan(1)",
                                 "inf",
                                 "+inf",
                                 "-inf",
                                 "INFINITY",
                                 "0x1",
                                 "0x1p3",
                                 "1p3",
                                 "1e",
                                 "1e+",
                                 "--1",
                                 "+-1",
                                 "-+1",
                                 "++1",
                                 "+",
                                 "-",
                                 ".",
                                 "-.",
                                 "e5",
                                 "1.2.3",
                                 "1_000",
                                 "1f",
                                 "1.5f",
                                 "1/2",
                                 "50%",
                                 "1000000100",
                                 "-1.1e9",
                                 "3.4e38",
                                 "1e39",
                                 "1e999",
                                 "-1e999",
                                 "1e-400",
                                 "\xef\xbb\xbf"
                                 "1",
                                 "\xe2\x88\x92"
                                 "1",
                                 "1\xc2\xa0"}) {
    expect_error(cube_with(word), 3, " is not a decimal number");
    expect_error("DOMAIN_MIN 0 " + word + " 0\n" + plain_cube, 1, " is not a decimal number");
    expect_error("\nLUT_3D_INPUT_RANGE 0 " + word + "\n" + plain_cube, 2,
                 " is not a decimal number");
  }
  expect_error(cube_with("0,5"), 3, "a point where it has a comma");
  expect_error("LUT_3D_SIZE 2\nnan 0 0\n", 2, "neither a number nor a keyword");
  expect_error("LUT_3D_SIZE 2\n-inf 0 0\n" + cube_entries, 2, " is not a decimal number");
}
GST_END_TEST;

GST_START_TEST(sizes_that_are_refused) {
  for (const std::string size : {"1", "0", "-2", "130", "256", "1000000", "99999999999999999999",
                                 "2.0", "2e0", "0x2", "two", "", "2 2", "2 2 2 2 2"})
    expect_error("#\nLUT_3D_SIZE " + size + "\n" + cube_entries, 2, "whole number from 2 to 129");
  for (const std::string size : {"1", "0", "-3", "65537", "4294967299", "3.5", "", "3 3"})
    expect_error("LUT_1D_SIZE " + size + "\n" + curve_entries, 1, "whole number from 2 to 65536");
}
GST_END_TEST;

GST_START_TEST(ranges_that_are_refused) {
  for (const std::string range : {"1 0", "0.5 0.5", "0 9e-7", "-1 -2", "1e9 -1e9"}) {
    expect_error("LUT_3D_INPUT_RANGE " + range + "\n" + plain_cube, 1, "at least 1e-6 above");
    expect_error("\nLUT_1D_INPUT_RANGE " + range + "\n" + plain_curve, 2, "at least 1e-6 above");
  }
  expect_error("DOMAIN_MIN 0 0 2\nDOMAIN_MAX 1 1 1\n" + plain_cube, 2, "at least 1e-6 above");
  expect_error("DOMAIN_MAX 0 1 1\n\nDOMAIN_MIN 0 0 0\n" + plain_cube, 3, "at least 1e-6 above");
  expect_error("DOMAIN_MIN 1 0 0\n" + plain_curve, 1, "at least 1e-6 above");
  for (const std::string range : {"", "0", "0 1 2", "0 0 0 1 1 1"}) {
    expect_error("LUT_3D_INPUT_RANGE " + range + "\n" + plain_cube, 1, "takes two numbers");
    expect_error("LUT_1D_INPUT_RANGE " + range + "\n" + plain_curve, 1, "takes two numbers");
  }
  for (const std::string color : {"", "0", "0 0", "0 0 0 0", "0 0 0 0 0 0"}) {
    expect_error("DOMAIN_MIN " + color + "\n" + plain_cube, 1, "takes three numbers");
    expect_error("DOMAIN_MAX " + color + "\n" + plain_cube, 1, "takes three numbers");
  }
  expect_error("LUT_1D_INPUT_RANGE 0 1\n" + plain_cube, 1, "without LUT_1D_SIZE");
  expect_error("LUT_3D_INPUT_RANGE 0 1\n" + plain_curve, 1, "without LUT_3D_SIZE");
}
GST_END_TEST;

GST_START_TEST(ranges_that_contradict) {
  const std::string both = "LUT_1D_SIZE 3\nLUT_3D_SIZE 2\n";
  const std::string entries = curve_entries + cube_entries;
  expect_error(both + "DOMAIN_MAX 1 1 2\n" + entries, 3, "contradict");
  expect_error(both + "DOMAIN_MAX 2 2 2\nLUT_1D_INPUT_RANGE 0 2\n" + entries, 3, "contradict");
  expect_error(both + "DOMAIN_MAX 2 2 2\nLUT_3D_INPUT_RANGE 0 2\n" + entries, 3, "contradict");
  expect_error("LUT_3D_INPUT_RANGE 0 2\nDOMAIN_MIN 0 0 0\n" + plain_cube, 2, "contradict");
  expect_error("DOMAIN_MAX 4 4 4\nLUT_1D_INPUT_RANGE 0 2\n" + plain_curve, 1, "contradict");
}
GST_END_TEST;

GST_START_TEST(keywords_that_are_refused) {
  for (const std::string line : {"LUT_2D_SIZE 2\n", "LUT_3D_SIZE_ 2\n", "LUT_3D_SIZ 2\n",
                                 "TITLE\"x\"\n", "{\n", "//\n", ";\n", ",1 0 0\n", "\x80 0 0\n"})
    expect_error(line + plain_cube, 1, "neither a number nor a keyword");
  expect_error("LUT_3D_SIZE 2\n3DLUTSIZE 2\n" + cube_entries, 2, "three numbers");
  expect_error("LUT_IN_VIDEO_RANGE\n" + plain_cube, 1, "full");
  expect_error("lut_out_video_range\n" + plain_cube, 1, "full");
  for (const std::string line : {"TITLE \"a\"", "DOMAIN_MIN 0 0 0", "DOMAIN_MAX 1 1 1",
                                 "LUT_3D_INPUT_RANGE 0 1", "LUT_1D_INPUT_RANGE 0 1"}) {
    const std::string twice = line + "\n\n" + line + "\n" + plain_cube;
    expect_error(twice, 3, "was said in line 1 already");
    expect_error(plain_cube + line, 10, "comes after the first entry");
  }
  expect_error("LUT_3D_SIZE 2\n" + plain_cube, 2, "was said in line 1 already");
  expect_error("LUT_1D_SIZE 3\nlut_1d_size 3\n" + curve_entries, 2, "was said in line 1 already");
  expect_error(plain_curve + plain_cube, 5, "comes after the first entry");
}
GST_END_TEST;

GST_START_TEST(entries_that_are_refused) {
  for (const std::string entry : {"0", "0 0", "0 0 0 0", "0 0 0 0 0 0 0", "0,0,0", "0;0;0"})
    expect_error("LUT_3D_SIZE 2\n0 0 0\n" + entry + "\n" + cube_entries, 3, "three numbers");
  expect_error(cube_entries, 1, "no LUT_1D_SIZE or LUT_3D_SIZE");
  expect_error("", 1, "no LUT_1D_SIZE or LUT_3D_SIZE");
  expect_error("\xef\xbb\xbf", 1, "no LUT_1D_SIZE or LUT_3D_SIZE");
  expect_error("# 1\n# 2\n\n", 3, "no LUT_1D_SIZE or LUT_3D_SIZE");
  expect_error("LUT_3D_SIZE 2\n", 1, "means 8 entries");
  expect_error("LUT_3D_SIZE 2\n# a comment that is much longer than the eight entries would be\n",
               2, "means 8 entries");
  expect_error(plain_cube + "\n0 0 0", 11, "more than the 8 of LUT_3D_SIZE 2");
  expect_error(plain_curve + "0 0 0", 5, "more than the 3 of LUT_1D_SIZE 3");
  expect_error("LUT_1D_SIZE 3\nLUT_3D_SIZE 2\n" + curve_entries + cube_entries + "1 1 1", 14,
               "more than the 11 of LUT_1D_SIZE 3 and LUT_3D_SIZE 2");
  expect_error("LUT_1D_SIZE 4\n0.000 0.000 0.000\n0 0 0\n1.000 1.000 1.000\n", 4,
               "3 of the 4 entries");
}
GST_END_TEST;

// What was cut off is never taken for the whole.
GST_START_TEST(cut_off_anywhere) {
  const std::string all =
      "TITLE \"x\"\nLUT_1D_SIZE 3\nLUT_3D_SIZE 2\n" + curve_entries + cube_entries;
  for (std::size_t size = 0; size + 1 < all.size(); ++size) {
    const std::string error = error_of(std::string_view(all).substr(0, size));
    fail_unless(error.starts_with("some.cube:"), "%zu of %zu bytes pass", size, all.size());
  }
  fail_unless_empty(error_of(std::string_view(all).substr(0, all.size() - 1)));
}
GST_END_TEST;

GST_START_TEST(lines_are_counted_as_editors_do) {
  for (const std::string end : {"\n", "\r\n", "\r"})
    for (const std::string mark : {"", "\xef\xbb\xbf"})
      expect_error(
          mark + "# a" + end + end + "LUT_3D_SIZE 2" + end + "0 0 zero" + end + cube_entries, 4,
          "zero");
}
GST_END_TEST;

GST_START_TEST(binary_is_refused) {
  using namespace std::string_literals;
  expect_error("\0"s, 1, "NUL");
  expect_error(plain_cube + "\0"s, 10, "NUL");
  expect_error("# \0\n"s + plain_cube, 1, "NUL");
  expect_error("TITLE \"\0\"\n"s + plain_cube, 1, "NUL");
  expect_error("\n\r\n\0"s + plain_cube, 3, "NUL");
  expect_error("\xff\xfeL\0U\0T\0"s, 1, "NUL");
}
GST_END_TEST;

// Messages go to terminals and into GLib, which want no control characters, UTF-8, and no end of it.
GST_START_TEST(messages_quote_little_and_clean) {
  const std::string nasty = "\x1b[2J\x7f\x80\xff%s%n";
  for (const std::string& line :
       {nasty, "0 0 " + nasty, "LUT_3D_SIZE " + nasty, "LUT_3D_INPUT_RANGE 0 1 " + nasty,
        "DOMAIN_MIN " + nasty, std::string(100000, 'x'), std::string(100000, '1'),
        "0 0 " + std::string(100000, '9'), "LUT_3D_SIZE " + std::string(100000, '\xe4')}) {
    const std::string error = error_of("LUT_1D_SIZE 2\n" + line + "\n" + cube_entries);
    fail_unless(error.starts_with("some.cube:2: ") && error.size() < 500, "%s", error.c_str());
    for (const char c : error) fail_unless(c >= ' ' && c <= '~', "%s", error.c_str());
  }
  expect_error("LUT_1D_SIZE 2\n0\t0\t" + nasty + "\n" + cube_entries, 2, "\"?[2J???%s%n\"");
}
GST_END_TEST;

// --- memory

GST_START_TEST(no_memory_before_the_text_is_long_enough) {
  for (const std::string header :
       {"LUT_3D_SIZE 129\n", "LUT_1D_SIZE 65536\n", "LUT_1D_SIZE 65536\nLUT_3D_SIZE 129\n"})
    for (const std::string& entries : {std::string(), cube_entries, plain_cube}) {
      const std::string text = header + entries;
      std::string error;
      const std::size_t most = most_at_once([&] { error = error_of(text); });
      fail_unless(most < 1000 && !error.empty(), "%zu bytes at once for %zu", most, text.size());
    }
  // One byte less than eight of the shortest entries, and eight.
  const std::string shortest =
      "LUT_3D_SIZE 2\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n0 0 0\n0 0 ";
  expect_error(shortest, 2, "means 8 entries");
  fail_unless_empty(error_of(shortest + "0"));
}
GST_END_TEST;

Suite* cube_file_refusals_suite() {
  Suite* suite = suite_create("cube-file-refusals");
  TCase* cases = tcase_create("cube-file-refusals");
  suite_add_tcase(suite, cases);
  tcase_add_test(cases, numbers_that_are_refused);
  tcase_add_test(cases, sizes_that_are_refused);
  tcase_add_test(cases, ranges_that_are_refused);
  tcase_add_test(cases, ranges_that_contradict);
  tcase_add_test(cases, keywords_that_are_refused);
  tcase_add_test(cases, entries_that_are_refused);
  tcase_add_test(cases, cut_off_anywhere);
  tcase_add_test(cases, lines_are_counted_as_editors_do);
  tcase_add_test(cases, binary_is_refused);
  tcase_add_test(cases, messages_quote_little_and_clean);
  tcase_add_test(cases, no_memory_before_the_text_is_long_enough);
  return suite;
}

}  // namespace

LIBRARY_CHECK_MAIN(cube_file_refusals)
