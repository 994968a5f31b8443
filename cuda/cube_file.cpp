// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/cube_file.h"

#include <algorithm>

#include "cuda/cube_text.h"

namespace stripe {

namespace {

/// "0 0 0" and the end of its line.
constexpr std::size_t shortest_entry_bytes = 6;

enum Keyword { title, curve_size, cube_size, domain_min, domain_max, curve_range, cube_range };

constexpr std::array<std::string_view, 7> keyword_names = {
    "TITLE",      "LUT_1D_SIZE",        "LUT_3D_SIZE",       "DOMAIN_MIN",
    "DOMAIN_MAX", "LUT_1D_INPUT_RANGE", "LUT_3D_INPUT_RANGE"};

std::string name_of(Keyword keyword) { return std::string(keyword_names[keyword]); }

bool begins_number(std::string_view word) noexcept {
  return std::string_view("0123456789+-.").find(word[0]) != std::string_view::npos;
}

struct Range {
  LutColor min{0, 0, 0};
  LutColor max{1, 1, 1};

  bool operator==(const Range&) const = default;
};

class CubeParser {
 public:
  CubeParser(std::string_view text, const std::string& name) : lines_(text), name_(name) {}

  Lut parse();

 private:
  [[noreturn]] void fail(int line, const std::string& what) const;
  [[noreturn]] void fail(const std::string& what) const { fail(lines_.number(), what); }

  bool is_said(Keyword keyword) const noexcept { return said_in_[keyword] != 0; }

  Keyword keyword_of(std::string_view word) const;
  void read_keyword(const CubeWords& words);
  void read_title(std::string_view word);
  int read_size(Keyword keyword, const CubeWords& words, int largest) const;
  Range read_range(Keyword keyword, const CubeWords& words) const;
  LutColor read_color(Keyword keyword, const CubeWords& words) const;
  float read_one(std::string_view word) const;

  void begin_entries();
  void settle_ranges();
  void settle_domain();
  void expect_range(int line, const Range& range) const;
  void add_entry(const CubeWords& words);
  void end_entries() const;
  std::string sizes() const;

  CubeLines lines_;
  const std::string& name_;
  std::array<int, keyword_names.size()> said_in_{};  ///< lines; 0: not said
  int curve_size_ = 0;
  Range curve_range_, cube_range_, domain_;
  bool has_begun_ = false;  ///< the entries
  std::size_t curve_entries_ = 0, cube_entries_ = 0;
  Lut lut_;
};

void CubeParser::fail(int line, const std::string& what) const {
  throw CubeFileError(name_ + ":" + std::to_string(std::max(line, 1)) + ": " + what);
}

Lut CubeParser::parse() {
  while (lines_.next()) {
    const CubeWords words(lines_.line());
    if (words.count == 0) continue;
    if (!begins_number(words.word[0])) {
      read_keyword(words);
      continue;
    }
    if (!has_begun_) begin_entries();
    add_entry(words);
  }
  if (!has_begun_) begin_entries();
  end_entries();
  return std::move(lut_);
}

// --- keywords

Keyword CubeParser::keyword_of(std::string_view word) const {
  for (std::size_t i = 0; i < keyword_names.size(); ++i)
    if (is_word(word, keyword_names[i])) return static_cast<Keyword>(i);
  if (is_word(word, "LUT_IN_VIDEO_RANGE") || is_word(word, "LUT_OUT_VIDEO_RANGE"))
    fail(quoted_for_message(word) +
         ": 0 and 1 are black and white here; export the LUT for data (full) range, without it");
  std::string known;
  for (const std::string_view name : keyword_names)
    known += (known.empty() ? "" : ", ") + std::string(name);
  fail(quoted_for_message(word) + " is neither a number nor a keyword that is known here (" +
       known +
       "); begin a comment with #, or remove the line if the LUT means the same without it");
}

void CubeParser::read_keyword(const CubeWords& words) {
  const Keyword keyword = keyword_of(words.word[0]);
  if (has_begun_)
    fail(name_of(keyword) + " comes after the first entry; move it before all entries");
  if (is_said(keyword))
    fail(name_of(keyword) + " was said in line " + std::to_string(said_in_[keyword]) +
         " already; remove one of the two");
  said_in_[keyword] = lines_.number();
  switch (keyword) {
    case title:
      read_title(words.word[0]);
      return;
    case curve_size:
      curve_size_ = read_size(keyword, words, largest_curve_size);
      return;
    case cube_size:
      lut_.cube_size = read_size(keyword, words, largest_cube_size);
      return;
    case domain_min:
      domain_.min = read_color(keyword, words);
      return;
    case domain_max:
      domain_.max = read_color(keyword, words);
      return;
    case curve_range:
      curve_range_ = read_range(keyword, words);
      return;
    case cube_range:
      cube_range_ = read_range(keyword, words);
      return;
  }
}

void CubeParser::read_title(std::string_view word) {
  std::string_view text = without_blanks(lines_.line());
  text = without_blanks(text.substr(word.size()));
  if (text.starts_with('"')) {
    text.remove_prefix(1);
    text = text.substr(0, text.rfind('"'));
  }
  lut_.title = text;
}

int CubeParser::read_size(Keyword keyword, const CubeWords& words, int largest) const {
  const std::optional<int> size =
      words.count == 2 ? read_whole_number(words.word[1]) : std::nullopt;
  if (!size || *size < 2 || *size > largest)
    fail(quoted_for_message(without_blanks(lines_.line())) + ": " + name_of(keyword) +
         " takes one whole number from 2 to " + std::to_string(largest) +
         "; export the LUT in such a size");
  return *size;
}

Range CubeParser::read_range(Keyword keyword, const CubeWords& words) const {
  if (words.count != 3)
    fail(quoted_for_message(without_blanks(lines_.line())) + ": " + name_of(keyword) +
         " takes two numbers; write the inputs of the first and of the last entry");
  const float min = read_one(words.word[1]);
  const float max = read_one(words.word[2]);
  const Range range{{min, min, min}, {max, max, max}};
  expect_range(lines_.number(), range);
  return range;
}

LutColor CubeParser::read_color(Keyword keyword, const CubeWords& words) const {
  if (words.count != 4)
    fail(quoted_for_message(without_blanks(lines_.line())) + ": " + name_of(keyword) +
         " takes three numbers; write one each for red, green and blue");
  return {read_one(words.word[1]), read_one(words.word[2]), read_one(words.word[3])};
}

float CubeParser::read_one(std::string_view word) const {
  const std::optional<float> number = read_number(word);
  if (number) return *number;
  if (word.find(',') != std::string_view::npos)
    fail(quoted_for_message(word) + " is not a number; write a point where it has a comma");
  fail(quoted_for_message(word) +
       " is not a decimal number from -1e9 to 1e9; write one, such as 0.25 or 1e-3");
}

// --- entries

std::string CubeParser::sizes() const {
  std::string out;
  if (curve_size_ > 0) out = name_of(curve_size) + " " + std::to_string(curve_size_);
  if (lut_.cube_size > 0)
    out += (out.empty() ? "" : " and ") + name_of(cube_size) + " " + std::to_string(lut_.cube_size);
  return out;
}

void CubeParser::begin_entries() {
  has_begun_ = true;
  if (!is_said(curve_size) && !is_said(cube_size))
    fail("no LUT_1D_SIZE or LUT_3D_SIZE comes before the entries; add it, or choose a .cube file");
  settle_ranges();
  const std::size_t side = static_cast<std::size_t>(lut_.cube_size);
  curve_entries_ = static_cast<std::size_t>(curve_size_);
  cube_entries_ = side * side * side;
  const std::size_t room = (lines_.bytes_left() + 1) / shortest_entry_bytes;
  const std::size_t entries = curve_entries_ + cube_entries_;
  if (room < entries)
    fail(sizes() + " means " + std::to_string(entries) +
         " entries, but what follows is too short for more than " + std::to_string(room) +
         "; get the whole file, or correct the size");
  lut_.curve.reserve(curve_entries_);
  lut_.cube.reserve(cube_entries_);
}

void CubeParser::expect_range(int line, const Range& range) const {
  for (std::size_t i = 0; i < range.min.size(); ++i)
    if (range.max[i] - range.min[i] < least_range)
      fail(line,
           "the input of the last entry must be at least 1e-6 above that of the first; "
           "write the smaller number first, or into DOMAIN_MIN");
}

void CubeParser::settle_ranges() {
  for (const auto& [range, size] : {std::pair{curve_range, curve_size}, {cube_range, cube_size}})
    if (is_said(range) && !is_said(size))
      fail(said_in_[range],
           name_of(range) + " without " + name_of(size) + "; remove it, or add the size");
  if (is_said(domain_min) || is_said(domain_max)) settle_domain();
  if (is_said(curve_size)) {
    lut_.curve_min = curve_range_.min;
    lut_.curve_max = curve_range_.max;
  }
  if (is_said(cube_size)) {
    lut_.cube_min = cube_range_.min;
    lut_.cube_max = cube_range_.max;
  }
}

// It is the range of the only table. Where there are two, or a range of Resolve's kind too, nobody
// knows which is meant unless all say the same.
void CubeParser::settle_domain() {
  const int line = std::max(said_in_[domain_min], said_in_[domain_max]);
  expect_range(line, domain_);
  const bool is_only_table = is_said(curve_size) != is_said(cube_size);
  const bool has_range = is_said(curve_range) || is_said(cube_range);
  if (is_only_table && !has_range) curve_range_ = cube_range_ = domain_;
  if ((is_said(curve_size) && curve_range_ != domain_) ||
      (is_said(cube_size) && cube_range_ != domain_))
    fail(line,
         "DOMAIN_MIN and DOMAIN_MAX contradict a table's own range, which is 0 to 1 where none is "
         "said; remove them, and say LUT_1D_INPUT_RANGE or LUT_3D_INPUT_RANGE instead");
}

void CubeParser::add_entry(const CubeWords& words) {
  const bool is_curve = lut_.curve.size() < curve_entries_;
  if (!is_curve && lut_.cube.size() == cube_entries_)
    fail("this is an entry more than the " + std::to_string(curve_entries_ + cube_entries_) +
         " of " + sizes() + "; remove what is too much, or correct the size");
  if (words.count != 3)
    fail(quoted_for_message(without_blanks(lines_.line())) +
         " is no entry; write three numbers, red, green and blue, with blanks between");
  (is_curve ? lut_.curve : lut_.cube)
      .push_back({read_one(words.word[0]), read_one(words.word[1]), read_one(words.word[2])});
}

void CubeParser::end_entries() const {
  const std::size_t entries = curve_entries_ + cube_entries_;
  const std::size_t found = lut_.curve.size() + lut_.cube.size();
  if (found < entries)
    fail("the file ends after " + std::to_string(found) + " of the " + std::to_string(entries) +
         " entries of " + sizes() + "; get the whole file, or correct the size");
}

void expect_text(std::string_view text, const std::string& name) {
  const std::size_t at = text.find('\0');
  if (at == std::string_view::npos) return;
  CubeLines lines(text.substr(0, at + 1));
  while (lines.next()) {
  }
  throw CubeFileError(name + ":" + std::to_string(lines.number()) +
                      ": a NUL byte, so this is no text in UTF-8 or ASCII; choose a .cube file, or "
                      "save it as UTF-8");
}

}  // namespace

Lut parse_cube(std::string_view text, const std::string& name) {
  expect_text(text, name);
  return CubeParser(text, name).parse();
}

}  // namespace stripe
