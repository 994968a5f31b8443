#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The main job on video: decodes an MJPEG file, inverts it in three stripes on three streams, encodes it again. Then what
# page-locked memory and frames in flight bring.
#
#   tests/demo.sh [--install] [-- MESON_OPTION...]
#
# Leaves before.png and after.png, the same frame as it went in and as it came out, both in side-by-side.png, and the
# videos, in demo-out/ of the build folder.
set -euo pipefail
# shellcheck source=tests/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

readonly frames=120 shown=60

fail() { # fail SENTENCE
  echo "Failed: $1" >&2
  exit 1
}

# What an earlier run left goes, so that nobody looks at it by mistake.
enter_folder() { # enter_folder FOLDER
  mkdir -p "$1" && [[ -w $1 ]] && cd "$1" && rm -f {before,after,side-by-side}.png output.avi
}

# Moving colour bars with a hard edge in every row: a stripe that is late, lost or shifted is seen at once.
make_video() { # make_video FILE
  [[ ! -e $1 ]] || return 0
  gst-launch-1.0 --quiet videotestsrc num-buffers=$frames pattern=smpte horizontal-speed=8 \
    ! video/x-raw,format=I420,width=1280,height=720,framerate=30/1 \
    ! jpegenc ! avimux ! filesink location="$1.part" </dev/null || fail "no video to begin with, see above."
  mv "$1.part" "$1"
}

# In the current folder.
run_demo() {
  local begin='filesrc location=input.avi ! avidemux ! jpegdec'
  local element='cudastripetransform stripe-count=3 stream-count=3 effect=invert'
  local end='jpegenc ! avimux ! filesink location=output.avi'
  echo "A video, decoded, inverted in three stripes on three streams, encoded again:"
  printf '  %s\n' "$begin" "! $element" "! $end"
  "$build_dir/tests/demo/demo" $frames $shown "$begin ! $element name=stripes ! $end" </dev/null
}

setup_options "$@"
# shellcheck disable=SC2119 # no further needs
setup_all

# What a program makes of Ctrl-C is its own affair; the demo ends.
trap 'exit 130' INT
out=$build_dir/demo-out
enter_folder "$out" || fail "can't write to $out."
# The plugin of this build, whatever the machine's registry knows.
export GST_PLUGIN_PATH_1_0=$build_dir/gst GST_REGISTRY_1_0=$out/registry.bin
echo
make_video input.avi
run_demo
printf '\nLook at %s: before left, after right.\n' "$out/side-by-side.png"
echo "Beside it: before.png, after.png, input.avi, output.avi"
