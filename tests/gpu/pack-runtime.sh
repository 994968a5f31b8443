#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Packs this machine's GStreamer runtime for a GPU host that has none, so that tests/gpu/run works there.
#
#   tests/gpu/pack-runtime.sh OUT.tar.xz [BINARY...]
#
# In it: the tools, the plugins that tests/setup.sh names, gst-check, and every system library that these and each BINARY (test
# program, built plugin) need; also the plugins that the benchmarks' peers come from, where this machine has them, with
# GLVND's part of OpenGL. Not in it: the BINARY itself and libraries of a build folder, which travel with the build, and
# the C and C++ runtime and the driver, which are the host's own.
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
readonly c_libraries='libc|libm|libdl|libpthread|librt|libresolv|ld-linux-x86-64|libstdc\+\+|libgcc_s'
readonly driver_libraries='libcuda|libnvcuvid|libnvidia[^/]*|lib(EGL|GLX|GLESv1_CM|GLESv2)_[^/]*'
# Debian 12: gstreamer1.0-plugins-bad, gstreamer1.0-gl.
readonly peer_plugins="nvcodec opengl"

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

# What a peer lacks here is no reason to have no archive: it is missing from the benchmarks, then.
copy_peers() {
  local name file
  for name in $peer_plugins; do
    file=$plugindir/libgst$name.so
    if [[ ! -e $file ]]; then
      echo "left out: plugin $name, which is not installed here"
    elif ldd "$file" | grep -q 'not found'; then
      echo "left out: plugin $name, of which libraries are not installed here"
    else
      cp "$file" "$stage/lib/gstreamer-1.0/"
    fi
  done
}

# Containers often have the driver's EGL without the file by which GLVND finds it.
write_egl_vendor() {
  mkdir -p "$stage/share/glvnd/egl_vendor.d"
  echo '{"file_format_version": "1.0.0", "ICD": {"library_path": "libEGL_nvidia.so.0"}}' \
    >"$stage/share/glvnd/egl_vendor.d/10_nvidia.json"
}

# copy_needed BINARY...: the system libraries that these load, and those that they load in turn.
copy_needed() {
  local needed missing library
  needed=$(ldd "$@" || true) # false for a static program
  if missing=$(grep 'not found' <<<"$needed" | sort -u); then
    printf 'libraries not found here:\n%s\n' "$missing" >&2
    return 1
  fi
  awk '/=> \//{print $3}' <<<"$needed" | sort -u | { grep -vE "/($c_libraries|$driver_libraries)\.so" || true; } |
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
export __EGL_VENDOR_LIBRARY_DIRS=/etc/glvnd/egl_vendor.d:/usr/share/glvnd/egl_vendor.d:$_gst_rt/share/glvnd/egl_vendor.d
unset _gst_rt
ENV
}

copy_gstreamer
copy_peers
write_egl_vendor
copy_needed "$stage"/lib/gstreamer-1.0/*.so "$stage"/lib/*.so.0 "$stage"/bin/* "$stage"/libexec/* "$@"
write_env
tar -C "$stage" -cJf "$out" .
echo "$out: $(du -h "$out" | cut -f1)"
