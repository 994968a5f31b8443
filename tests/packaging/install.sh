#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# install.sh BUILD_FOLDER PLUGINS_DIR [MESON]
#
# Installs a finished build below a temporary folder, and looks at what a package of it would hold: one file, which
# GStreamer finds and runs from there with none of the build folder's environment. PLUGINS_DIR is where the build says
# that the plugin goes, an absolute path.
set -euo pipefail

build=$(realpath -e "$1")
plugins_dir=$2
meson=${3:-meson}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
root=$scratch/root

fail() {
  echo "FAILED: $1"
  exit 1
}

check_files() {
  local installed
  installed=$(find "$root" -mindepth 1 ! -type d -printf '/%P\n' | sort)
  [[ $installed == "$plugins_dir/libgstcudastripe.so" ]] ||
    fail "installed is not just the plugin in $plugins_dir: $installed"
  echo "installed is one file: $installed"
}

# A path of the build machine would be searched for libraries on every user's.
check_search_path() {
  local path
  path=$(readelf --dynamic --wide "$plugin" | grep -E '\((RPATH|RUNPATH)\)' || true)
  [[ -z $path ]] || fail "the plugin has a search path of its own: $path"
  echo "the plugin has no search path of its own"
}

# Nothing but the installed plugin and the few of GStreamer's that the pipeline needs can be found.
restrict_gstreamer() {
  local name system_plugins
  system_plugins=$(pkg-config --variable=pluginsdir gstreamer-1.0)
  mkdir "$scratch/plugins"
  for name in coreelements videotestsrc; do ln -s "$system_plugins/libgst$name.so" "$scratch/plugins/"; done
  export GST_PLUGIN_SYSTEM_PATH_1_0=$scratch/plugins GST_PLUGIN_PATH_1_0=$root$plugins_dir
  export GST_REGISTRY_1_0=$scratch/registry.bin
  unset GST_PLUGIN_PATH GST_PLUGIN_SYSTEM_PATH LD_LIBRARY_PATH
}

check_inspect() {
  local found
  gst-inspect-1.0 cudastripetransform >"$scratch/inspect" || fail "gst-inspect-1.0 finds no cudastripetransform"
  found=$(sed -n 's/^ *Filename *//p' "$scratch/inspect")
  [[ $found == "$plugin" ]] || fail "gst-inspect-1.0 found another plugin: $found"
  echo "gst-inspect-1.0 finds the element in it"
}

# Black inverted is white, so every byte is 255.
check_pipeline() {
  local frames=10 width=64 height=48 size others
  gst-launch-1.0 -q videotestsrc num-buffers=$frames pattern=black \
    ! "video/x-raw,format=RGB,width=$width,height=$height" \
    ! cudastripetransform effect=invert \
    ! filesink location="$scratch/frames" || fail "the pipeline failed"
  size=$(stat -c %s "$scratch/frames")
  others=$(tr -d '\377' <"$scratch/frames" | wc -c)
  ((size == frames * width * height * 3)) || fail "$frames frames should not have $size bytes"
  ((others == 0)) || fail "black inverted is white, but $others bytes of $size are not"
  echo "a pipeline inverts $frames frames with it"
}

for tool in gst-inspect-1.0 gst-launch-1.0 pkg-config readelf; do
  command -v "$tool" >/dev/null || { echo "no $tool here"; exit 77; }
done
"$meson" install -C "$build" --no-rebuild --quiet --destdir "$root"
plugin=$root$plugins_dir/libgstcudastripe.so
check_files
check_search_path
restrict_gstreamer
check_inspect
check_pipeline
