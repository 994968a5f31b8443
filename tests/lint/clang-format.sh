#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Every C++ and CUDA source is as clang-format 14 would write it. To mend: clang-format -i FILE.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# Other versions disagree with 14 in details, so only that one may judge.
tool=$(command -v clang-format-14 || command -v clang-format || true)
if [[ -z $tool || $("$tool" --version) != *" version 14."* ]]; then
  echo "clang-format 14 is not installed"
  exit 77
fi

[[ -e .git ]] || { echo "no git checkout"; exit 77; }
# New files count too, before their first commit; deleted ones don't.
git ls-files -z --cached --others --exclude-standard -- '*.h' '*.cpp' '*.cuh' '*.cu' |
  while IFS= read -r -d '' file; do [[ ! -e $file ]] || printf '%s\0' "$file"; done |
  xargs -0 --no-run-if-empty "$tool" --dry-run -Werror
