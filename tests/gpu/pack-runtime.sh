#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Packs this machine's GStreamer runtime for a GPU host that has none, so that tests/gpu/run works there.
#
#   tests/gpu/pack-runtime.sh OUT.tar.xz [BINARY...]
#
# In it: the tools, the plugins that tests/setup.sh names, gst-check, and every system library that these and each BINARY (test
# program, built plugin) need. Not in it: the BINARY itself and libraries of a build folder, which travel with the
# build, and the C and C++ runtime and the driver, which are the host's own.
#
# On the host: tests/gpu/run --runtime FOLDER, where FOLDER is the unpacked archive. By hand, from bash, in a subshell,
# since it hides the host's libraries:
#
#   mkdir gst && tar -C gst -xJf OUT.tar.xz && . gst/env
set -euo pipefail
# shellcheck source=tests/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"

out=${1:?usage: pack-runtime.sh OUT.tar.xz [BINARY...]}
shift

readonly tools="gst-launch-1.0 gst-inspect-1.0 gst-stats-1.0"
readonly libraries="gstallocators-1.0 gstapp-1.0 gstcheck-1.0 gstcontroller-1.0 gstvideo-1.0"
readonly host_libraries='libc|libm|libdl|libpthread|librt|libresolv|ld-linux-x86-64|libstdc\+\+|libgcc_s|libcuda'

libdir=$(pkg-config --variable=libdir gstreamer-1.0)
plugindir=$(pkg-config --variable=pluginsdir gstreamer-1.0)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$stage"/{bin,lib/gstreamer-1.0,libexec}

copy_gstreamer() {
  local name
  for name in $used_plugins; do cp "$plugindir/libgst$name.so" "$stage/lib/gstreamer-1.0/"; done
  for name in $tools; do cp "$(command -v "$name")" "$stage/bin/"; done
  for name in $libraries; do cp -L "$libdir/lib$name.so.0" "$stage/lib/"; done
  # Distributions put the scanner in different places.
  find "$libdir" /usr/libexec -name gst-plugin-scanner -exec cp {} "$stage/libexec/" \; -quit 2>/dev/null
}

# copy_needed BINARY...: the system libraries that these load, and those that they load in turn.
copy_needed() {
  local needed missing library
  needed=$(ldd "$@" || true) # false for a static program
  if missing=$(grep 'not found' <<<"$needed" | sort -u); then
    printf 'libraries not found here:\n%s\n' "$missing" >&2
    return 1
  fi
  awk '/=> \//{print $3}' <<<"$needed" | sort -u | { grep -vE "/($host_libraries)\.so" || true; } |
    while read -r library; do
      case $library in /lib/* | /usr/lib/*) cp -L "$library" "$stage/lib/" ;; esac
    done
}

write_env() {
  cat >"$stage/env" <<'ENV'
_gst_rt=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PATH=$_gst_rt/bin:$PATH LD_LIBRARY_PATH=$_gst_rt/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export GST_PLUGIN_SYSTEM_PATH_1_0=$_gst_rt/lib/gstreamer-1.0 GST_PLUGIN_SCANNER_1_0=$_gst_rt/libexec/gst-plugin-scanner
export GST_REGISTRY_1_0=$_gst_rt/registry.bin
unset _gst_rt
ENV
}

copy_gstreamer
copy_needed "$stage"/lib/gstreamer-1.0/*.so "$stage"/lib/*.so.0 "$stage"/bin/* "$stage"/libexec/* "$@"
write_env
tar -C "$stage" -cJf "$out" .
echo "$out: $(du -h "$out" | cut -f1)"
