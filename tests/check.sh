#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds the plugin and runs all its tests. The last line is "N passed, N failed, N skipped".
#
#   tests/check.sh [--install] [-- MESON_OPTION...]
#
# --install lets it run the apt command that it prints when packages are missing. The build folder is build/ in the
# repository, or $BUILD_DIR.
set -euo pipefail
# shellcheck source=tests/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

setup_options "$@"
# shellcheck disable=SC2119 # no further needs
setup_all
status=0
run_tests --no-suite lint || status=$?
read -r passed failed skipped < <(count_results "$test_log")
print_totals "$passed" "$failed" "$skipped" || status=1
exit "$status"
