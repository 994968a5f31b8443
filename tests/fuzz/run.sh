#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# run.sh PROGRAM CORPUS DICTIONARY [SECONDS]
#
# Runs a fuzzing program of this folder from the committed corpus on, 30 seconds unless told otherwise, always with the
# same seed, or with STRIPE_TEST_SEED. What it finds stays beside PROGRAM: new inputs in PROGRAM.found, an input that
# breaks something as PROGRAM.crash-... and so on, which PROGRAM FILE repeats. Such a file belongs into the corpus, with
# what mends it.
set -euo pipefail

program=$1 corpus=$2 dictionary=$3 seconds=${4:-30}
found=$program.found

mkdir -p "$found"
# An input has at most 16 KiB, so a table at most 32: none of it may allocate a megabyte.
exec "$program" -seed="${STRIPE_TEST_SEED:-1}" -max_total_time="$seconds" -max_len=16384 -timeout=10 -malloc_limit_mb=1 \
  -rss_limit_mb=1024 -print_final_stats=1 -dict="$dictionary" -artifact_prefix="$program." "$found" "$corpus"
