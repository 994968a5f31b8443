#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The two halves keep apart (docs/design.md, section 1): cuda/ includes nothing of GLib, GStreamer or gst/; gst/ includes
# no CUDA header; in cuda/ only the CUDA implementation does (cuda_*.h, cuda_*.cpp, *.cuh, *.cu).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly glib_headers='(glib|gst|gio|gobject|gmodule|glib-object|glib-unix)([/.-])'
readonly cuda_headers='(cuda|cuda_[a-z0-9_]+|cudart[a-z_]*|cuda[A-Z][A-Za-z]*|driver_(types|functions)|vector_(types|functions)|device_[a-z_]+|builtin_types|cooperative_groups|nvrtc|nvml|nvtx3?)(\.h|\.hpp|/)'
status=0

# forbid WHY HEADERS FILE...: HEADERS is a regular expression for the start of the name in an #include line. Our own
# headers are included as "cuda/NAME" and "gst/NAME", theirs as <NAME>.
forbid() {
  local why=$1 headers=$2 found
  shift 2
  (($# > 0)) || return 0
  if found=$(grep -nHE "^[[:space:]]*#[[:space:]]*include[[:space:]]*$headers" "$@"); then
    printf '%s:\n%s\n' "$why" "$found"
    status=1
  fi
}

mapfile -t all_cuda < <(find cuda -name '*.h' -o -name '*.cpp' -o -name '*.cuh' -o -name '*.cu')
mapfile -t plain_cuda < <(find cuda \( -name '*.h' -o -name '*.cpp' \) ! -name 'cuda_*')
mapfile -t all_gst < <(find gst -name '*.h' -o -name '*.cpp')

forbid "cuda/ must not know GLib or GStreamer" "[<\"]$glib_headers" "${all_cuda[@]}"
forbid "gst/ must not know CUDA" "<$cuda_headers" "${all_gst[@]}"
forbid "gst/ must not know CUDA" "\".*\\.cuh" "${all_gst[@]}"
forbid "only the CUDA implementation in cuda/ may know CUDA" "<$cuda_headers" "${plain_cuda[@]}"
exit "$status"
