#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Every source, script and build file names its licence in its first five lines.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly line='SPDX-License-Identifier: LGPL-2.1-or-later'
[[ -e .git ]] || { echo "no git checkout"; exit 77; }
missing=$(git ls-files -z --cached --others --exclude-standard -- \
  '*.h' '*.cpp' '*.cuh' '*.cu' '*.sh' '*.py' '*.h.in' '*meson.build' meson_options.txt .ci/run tests/gpu/run |
  while IFS= read -r -d '' file; do
    if [[ -f $file ]] && ! head -n 5 "$file" | grep -qE "$line\$"; then echo "$file"; fi
  done)
[[ -z $missing ]] || { printf "no line '%s' in:\n%s\n" "$line" "$missing"; exit 1; }
