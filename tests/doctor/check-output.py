#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs cuda-stripe-doctor as people would, on whatever machine this is.

  check-output.py PROGRAM

What it says and its exit status must agree; which of both it is depends on the machine.
"""

import os
import re
import subprocess
import sys

COLUMNS = 100
HEADINGS = ["Driver", "CUDA devices", "What auto picks", "Verdict"]


def run(program, *arguments, **environment):
    process = subprocess.run(
        [program, *arguments], env={**os.environ, **environment}, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=100)
    return process.returncode, process.stdout, process.stderr


def expect(condition, what, output):
    if not condition:
        sys.exit(f"{what}; the output was:\n{output}")


def check_form(output):
    lines = output.splitlines()
    expect(re.fullmatch(r"cudastripetransform \d+\.\d+\.\d+\S*", lines[0]), "no version in the first line", output)
    for label in ["built", "system", "machine", "locked memory limit", "environment", "NVIDIA driver"]:
        expect(re.search(rf"^  {label} +\S", output, re.MULTILINE), f"nothing about '{label}'", output)
    for heading in HEADINGS:
        expect(re.search(rf"^{heading}\b", output, re.MULTILINE), f"no heading '{heading}'", output)
    expect("\033" not in output, "colours", output)
    # A word that is longer than a line, such as a value of the environment, can't be broken.
    long_lines = [line for line in lines if len(line) > COLUMNS and line.strip().count(" ") > 1]
    expect(not long_lines, f"lines of more than {COLUMNS} columns", "\n".join(long_lines))


def check_choices(output):
    for size in ["1080p RGBA", "2160p RGBA"]:
        for depth in [1, 3]:
            expect(re.search(rf"^  {size} +async-depth={depth} +\d+ +\d+ +(copy|mapped)$", output, re.MULTILINE),
                   f"no choice for {size} and {depth} in flight", output)


def check_verdict(status, output):
    verdict = output.split("\nVerdict\n")[1]
    usable = verdict.startswith(("  OK", "  CUDA WORKS"))
    expect(usable or verdict.startswith("  CUDA CANNOT BE USED: "), "no verdict", output)
    expect(status == (0 if usable else 1), f"exit status {status} contradicts the verdict", output)
    expect("examined" in output if usable else "backend host" in output, "another device than the verdict's", output)
    return usable


def check_report(program, *arguments, **environment):
    status, output, errors = run(program, *arguments, **environment)
    expect(errors == "", "something on stderr", errors)
    check_form(output)
    check_choices(output)
    return check_verdict(status, output)


def check_usage(program):
    for arguments in [["--nonsense"], ["--device"], ["--device", "one"], ["--device", "-1"], ["--quick", "more"]]:
        status, output, errors = run(program, *arguments)
        expect(status == 2, f"exit status {status} for {arguments}", errors)
        expect(output == "" and "usage:" in errors, f"no usage for {arguments}", output + errors)
    status, output, _ = run(program, "--help")
    expect(status == 0 and output.startswith("usage:"), "--help does not help", output)


def main():
    program = sys.argv[1]
    usable = check_report(program, "--quick")
    expect(check_report(program) == usable, "measuring changed the verdict", "")
    expect(not check_report(program, "--quick", CUDA_VISIBLE_DEVICES="-1"), "a hidden device is usable", "")
    status, output, _ = run(program, "--quick", "--device", "4711")
    expect(status == 1 and "\nVerdict\n  CUDA CANNOT BE USED: " in output, "device 4711 is usable", output)
    check_usage(program)


if __name__ == "__main__":
    main()
