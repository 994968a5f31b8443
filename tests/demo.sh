#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The main job on video: decodes an MJPEG file, inverts it in three stripes on three streams, encodes it again.
#
#   tests/demo.sh [--install] [-- MESON_OPTION...]
#
# Leaves before.png and after.png, the same frame as it went in and as it came out, in demo-out/ of the build folder.
set -euo pipefail
# shellcheck source=tests/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

readonly frame=60

# Moving colour bars with a hard edge in every row: a stripe that is late, lost or shifted is seen at once.
make_video() { # make_video FILE
  [[ ! -e $1 ]] || return 0
  gst-launch-1.0 --quiet videotestsrc num-buffers=120 pattern=smpte horizontal-speed=8 \
    ! video/x-raw,format=I420,width=1280,height=720,framerate=30/1 \
    ! jpegenc ! avimux ! filesink location="$1.part" </dev/null
  mv "$1.part" "$1"
}

run_pipeline() { # run_pipeline FOLDER
  local pipeline="filesrc location=$1/input.avi ! avidemux ! jpegdec
    ! cudastripetransform name=stripes stripe-count=3 stream-count=3 effect=invert
    ! jpegenc ! avimux ! filesink location=$1/output.avi"
  printf 'Pipeline: %s\n' "$(xargs <<<"$pipeline")"
  "$build_dir/tests/demo/demo" "$frame" "$1/before.png" "$1/after.png" "$pipeline" </dev/null
}

setup_options "$@"
# shellcheck disable=SC2119 # no further needs
setup_all

out=$build_dir/demo-out
mkdir -p "$out"
# The plugin of this build, whatever the machine's registry knows.
export GST_PLUGIN_PATH_1_0=$build_dir/gst GST_REGISTRY_1_0=$out/registry.bin
echo
make_video "$out/input.avi"
run_pipeline "$out"
echo "Pictures: $out/before.png and after.png (frame $frame)"
echo "Video:    $out/output.avi"
