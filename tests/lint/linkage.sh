#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# linkage.sh BUILD_FOLDER
#
# The plugin loads where neither driver nor toolkit is installed: it links no CUDA library but the static runtime. And it
# shows nothing but GStreamer's two entry points, so that no other library in the process can get in its way.
set -euo pipefail

plugin=$1/gst/libgstcudastripe.so
status=0

needed=$(readelf --dynamic --wide "$plugin" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
if found=$(grep -E '^lib(cu|nv)' <<<"$needed"); then
  printf '%s must not need:\n%s\n' "$plugin" "$found"
  status=1
fi

# Weak symbols are templates of the standard library, which are the same everywhere.
symbols=$(nm --dynamic --defined-only --demangle "$plugin" | sed -n 's/^[0-9a-f]* [A-TX-Z] //p')
if found=$(grep -vE '^gst_plugin_cudastripe_(get_desc|register)$' <<<"$symbols"); then
  printf '%s must not export:\n%s\n' "$plugin" "$found"
  status=1
fi
exit "$status"
