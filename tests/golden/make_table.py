#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The golden tables of docs/semantics.md: pixels, and what each setting must make of them.

  make_table.py                 prints the tables
  make_table.py --check FILE    fails unless FILE has exactly these tables

Everything here is worked out from the definitions in docs/semantics.md, in exact fractions: a setting is a function on
R'G'B', a colour space is a pair of functions between codes and R'G'B', and the integers of the 8-bit arithmetic are
read off their composition. Each row is also held against the closed form in double precision, within 1 code. Where a
setting is not affine, R'G'B' are rounded to 16 bits around it; no pixel may lie so near to a tie that more than that
would matter.
"""

import argparse
import dataclasses
import difflib
import pathlib
import random
import re
import sys
from fractions import Fraction
from math import cos, floor, pi, sin

ROWS = 50
SEED = 8601
ONE = 1 << 16  # coefficients are integers in 2^-16 of a code

# Kr and Kb.
BT601 = (Fraction("0.299"), Fraction("0.114"))
BT709 = (Fraction("0.2126"), Fraction("0.0722"))
BT2020 = (Fraction("0.2627"), Fraction("0.0593"))


@dataclasses.dataclass(frozen=True)
class Space:
    """How codes and R'G'B' belong together. Codes outside of the nominal range are colours outside of 0..1."""
    model: str  # rgb, gray or yuv
    kr: Fraction
    kb: Fraction
    full_range: bool

    def luma(self, rgb):
        red, green, blue = rgb
        return self.kr * red + (1 - self.kr - self.kb) * green + self.kb * blue

    def spans(self):
        """The code of 0, and how many codes 0..1 of luma and of chroma take."""
        return (0, 255, 255) if self.full_range else (16, 219, 224)

    def decode(self, codes):
        black, span, chroma_span = self.spans()
        if self.model == "rgb":
            return [(code - black) / Fraction(span) for code in codes]
        luma = (codes[0] - black) / Fraction(span)
        if self.model == "gray":
            return [luma] * 3
        red = luma + 2 * (1 - self.kr) * (codes[2] - 128) / Fraction(chroma_span)
        blue = luma + 2 * (1 - self.kb) * (codes[1] - 128) / Fraction(chroma_span)
        return [red, (luma - self.kr * red - self.kb * blue) / (1 - self.kr - self.kb), blue]

    def encode(self, rgb):
        black, span, chroma_span = self.spans()
        if self.model == "rgb":
            return [black + span * value for value in rgb]
        luma = self.luma(rgb)
        if self.model == "gray":
            return [black + span * luma]
        chroma = [(rgb[2] - luma) / (2 * (1 - self.kb)), (rgb[0] - luma) / (2 * (1 - self.kr))]
        return [black + span * luma] + [128 + chroma_span * value for value in chroma]


def by_matrix(*rows):
    rows = [[Fraction(value) for value in row.split()] for row in rows]
    return lambda space, rgb: [sum(c * v for c, v in zip(row, [*rgb, 1])) for row in rows]


def balance(brightness, contrast, hue, saturation):
    """videobalance's formula on YUV codes: the frame's own, or limited ones of BT.601."""
    cosine, sine = Fraction(cos(pi * hue)), Fraction(sin(pi * hue))

    def on_rgb(space, rgb):
        yuv = space if space.model == "yuv" else Space("yuv", *BT601, False)
        y, u, v = yuv.encode(rgb)
        return yuv.decode([16 + (y - 16) * Fraction(contrast) + 255 * Fraction(brightness),
                           128 + ((u - 128) * cosine + (v - 128) * sine) * Fraction(saturation),
                           128 + ((v - 128) * cosine - (u - 128) * sine) * Fraction(saturation)])
    return on_rgb


# A column's heading: properties, and their meaning.
AFFINE = {
    "effect=none": lambda space, rgb: rgb,
    "effect=invert": lambda space, rgb: [1 - value for value in rgb],
    "effect=gray": lambda space, rgb: [space.luma(rgb)] * 3,
    "effect=sepia": by_matrix(".393 .769 .189 0", ".349 .686 .168 0", ".272 .534 .131 0"),
    "effect=swap-rb": lambda space, rgb: rgb[::-1],
    "brightness=-0.1 contrast=1.25": balance("-0.1", "1.25", 0, 1),
    "hue=0.2 saturation=1.5": balance(0, 1, 0.2, "1.5"),
    "matrix=<1,-0.5,0,0.25,0,0.75,0.25,0,0.5,0,0.5,-0.125>":
        by_matrix("1 -.5 0 .25", "0 .75 .25 0", ".5 0 .5 -.125"),
}


def gamma(space, rgb):
    return [Fraction(float(value) ** (1 / 0.45)) for value in rgb]


def threshold(space, rgb):
    luma = space.luma(rgb)
    assert abs(luma - Fraction(2, 5)) > Fraction(1, 10**4)
    return [int(luma >= Fraction(2, 5))] * 3


# On R'G'B' that are clamped.
STEPS = {"gamma=0.45": gamma, "threshold=0.4": threshold}

TABLES = [[heading for heading in AFFINE if heading.startswith("effect=")],
          [heading for heading in [*AFFINE, *STEPS] if not heading.startswith("effect=")]]


def closed_form(heading, space, codes):
    """The same without the way over R'G'B', in double precision, where that is easy to say."""
    if heading == "effect=none" or (heading == "effect=gray" and space.model == "gray"):
        return codes
    if heading == "effect=invert":
        mirror = 255.0 if space.full_range else 251.0
        return [(256.0 if space.model == "yuv" and i > 0 else mirror) - code for i, code in enumerate(codes)]
    if heading == "effect=gray" and space.model == "yuv":
        return [codes[0], 128.0, 128.0]
    if heading == "effect=gray":
        kr, kb = float(space.kr), float(space.kb)
        return [kr * codes[0] + (1.0 - kr - kb) * codes[1] + kb * codes[2]] * 3
    if heading == "brightness=-0.1 contrast=1.25" and space.model == "yuv":
        return [16.0 + 1.25 * (codes[0] - 16.0) - 25.5, *codes[1:]]
    if heading == "effect=swap-rb" and space.model != "yuv":
        return codes[::-1]
    return space.encode(AFFINE[heading](space, space.decode(codes)))


def to_integer(value):
    scaled = value * ONE
    # The element composes in double: nearer to a tie than this its rounding could be another one.
    assert abs(scaled - floor(scaled) - Fraction(1, 2)) > Fraction(1, 10**6)
    return floor(scaled + Fraction(1, 2))


def integer_matrix(heading, space):
    """Rows of coefficients and an offset: an affine function is known by its values at 0 and at the units."""
    size = 1 if space.model == "gray" else 3

    def at(codes):
        return space.encode(AFFINE[heading](space, space.decode(codes)))

    offset = at([0] * size)
    columns = [[a - b for a, b in zip(at([int(i == j) for i in range(size)]), offset)] for j in range(size)]
    return [[to_integer(column[i]) for column in columns] + [to_integer(offset[i])] for i in range(size)]


def saturate(code):
    return min(max(code, 0), 255)


def apply(matrix, codes):
    return [saturate((sum(c * code for c, code in zip(row, [*codes, 1])) + ONE // 2) >> 16) for row in matrix]


def to_16_bits(rgb):
    return [Fraction(floor(min(max(value, 0), 1) * 65535 + Fraction(1, 2)), 65535) for value in rgb]


def stepped(heading, space, codes):
    reals = space.encode(to_16_bits(STEPS[heading](space, to_16_bits(space.decode(codes)))))
    for value in reals:
        assert abs(value - floor(value) - Fraction(1, 2)) > Fraction(1, 60), (heading, space, codes, float(value))
    return [saturate(floor(value + Fraction(1, 2))) for value in reals]


def expected(heading, space, codes):
    colors = 1 if space.model == "gray" else 3
    extra = codes[colors:]  # alpha, or the padding byte
    if heading in STEPS:
        return stepped(heading, space, codes[:colors]) + extra
    out = apply(integer_matrix(heading, space), codes[:colors])
    for got, exact in zip(out, closed_form(heading, space, codes[:colors])):
        assert abs(got - saturate(exact)) <= 1, (heading, space, codes, out)
    return out + extra


# Format, colorimetry as in caps, its meaning, chosen pixels, and how many random ones. Some pixels show the rounding of
# the coefficients: in gray, 0 59 115 is nearer to 50 in BT.709, 0 14 17 nearer to 11 in BT.2020, and 0 0 250 lies on
# 28.5 in BT.601.
GROUPS = [
    ("GRAY8", "1:4:0:0", Space("gray", *BT601, True), ["0", "128", "255"], 0),
    ("GRAY8", "bt601", Space("gray", *BT601, False), ["16", "235", "0", "255"], 1),
    ("RGB", "sRGB", Space("rgb", *BT709, True),
     ["0 0 0", "255 255 255", "255 0 0", "0 255 0", "0 0 255", "0 59 115"], 1),
    ("RGBA", "sRGB", Space("rgb", *BT709, True), ["255 0 0 0", "16 128 235 255", "0 255 240 128"], 1),
    ("BGRx", "sRGB", Space("rgb", *BT709, True), ["255 128 0 77"], 0),
    ("RGB", "1:1:7:4", Space("rgb", *BT601, True), ["0 0 255", "0 0 250"], 1),
    ("RGB", "1:1:7:7", Space("rgb", *BT2020, True), ["0 0 255", "0 14 17"], 1),
    ("RGB", "2:1:7:1", Space("rgb", *BT709, False), ["16 16 16", "235 235 235", "0 255 128"], 1),
    ("I420", "bt601", Space("yuv", *BT601, False),
     ["16 128 128", "235 128 128", "0 0 0", "255 255 255", "81 90 240"], 1),
    ("NV12", "bt709", Space("yuv", *BT709, False), ["16 128 128", "235 128 128", "63 102 240", "235 240 16"], 1),
    ("NV12", "bt2020", Space("yuv", *BT2020, False), ["74 97 240", "254 1 255"], 1),
    ("I420", "1:4:0:0", Space("yuv", *BT601, True), ["0 128 128", "255 128 128", "76 85 255"], 1),
    ("NV12", "1:3:5:1", Space("yuv", *BT709, True), ["16 0 240"], 1),
]


def pixels():
    """Yields (format, colorimetry, space, codes)."""
    generator = random.Random(SEED)
    for name, colorimetry, space, chosen, random_count in GROUPS:
        all_codes = [[int(code) for code in text.split()] for text in chosen]
        for _ in range(random_count):
            # Of the module's functions this one alone is promised to stay as it is.
            all_codes.append([int(generator.random() * 256) for _ in all_codes[0]])
        for codes in all_codes:
            yield name, colorimetry, space, codes


def to_text(codes):
    return " ".join(str(code) for code in codes)


def table_rows(headings):
    rows = [["format", "colorimetry", "in", *headings]]
    for name, colorimetry, space, codes in pixels():
        rows.append([name, colorimetry, to_text(codes), *(to_text(expected(h, space, codes)) for h in headings)])
    assert len({tuple(row[:3]) for row in rows[1:]}) == ROWS
    return rows


def to_markdown(rows):
    widths = [max(len(cell) for cell in column) for column in zip(*rows)]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return lines


def golden_lines(text):
    """The lines of all tables in `text` whose columns begin as ours do."""
    lines, inside = [], False
    for line in text.splitlines():
        if not inside:
            inside = bool(re.match(r"\|\s*format\s*\|\s*colorimetry\s*\|\s*in\s*\|", line))
        inside = inside and line.startswith("|")
        if inside:
            lines.append(line)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", type=pathlib.Path, metavar="FILE")
    file = parser.parse_args().check
    tables = [to_markdown(table_rows(headings)) for headings in TABLES]
    if not file:
        print("\n\n".join("\n".join(table) for table in tables))
        return 0
    table = [line for lines in tables for line in lines]
    found = golden_lines(file.read_text())
    for line in difflib.unified_diff(found, table, str(file), "make_table.py", n=0, lineterm=""):
        print(line)
    return 0 if found == table else 1


if __name__ == "__main__":
    sys.exit(main())
