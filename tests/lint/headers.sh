#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# headers.sh [BUILD_FOLDER]
#
# Each header compiles alone, with only the include folders that its half may use: cuda/ gets no GStreamer, gst/ no
# CUDA. That also finds a forbidden header which comes in through another one. CUDA headers need a toolkit.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# The environment could add include folders for all.
unset CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH

build=${1:-}
# shellcheck source=tests/setup.sh
toolkit=$(BUILD_DIR=$build && . tests/setup.sh && find_toolkit)
export common="-std=c++20 -Wall -Wextra -Werror -Wno-deprecated-enum-enum-conversion -I. ${build:+-I$build}"
export CXX=${CXX:-g++}

# check FLAGS: reads names of headers. -include, because a header as main file warns about its #pragma once.
check() {
  # shellcheck disable=SC2016 # for the inner shell
  FLAGS=$1 xargs --no-run-if-empty -P "$(nproc)" -I '{}' \
    bash -c '$CXX $common $FLAGS -fsyntax-only -include "$1" -x c++ /dev/null || { echo "$1 does not compile alone"; exit 1; }' check '{}'
}

# nvcc can't stop after the syntax, so these are compiled for one architecture.
check_cuh() {
  local header object
  object=$(mktemp --suffix=.o)
  while read -r header; do
    "$toolkit/bin/nvcc" -std=c++20 -I. -arch=sm_75 --pre-include "$header" -x cu -c /dev/null -o "$object" ||
      { echo "$header does not compile alone"; return 1; }
  done
  rm -f "$object"
}

status=0
find cuda -name '*.h' ! -name 'cuda_*' | check "" || status=1
find gst -name '*.h' | check "$(pkg-config --cflags gstreamer-video-1.0 gstreamer-base-1.0)" || status=1
if [[ -n $toolkit ]]; then
  find cuda -name 'cuda_*.h' | check "-isystem $toolkit/include" || status=1
  find cuda -name '*.cuh' | check_cuh || status=1
else
  echo "no CUDA toolkit: its headers are left out"
fi
exit "$status"
