#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# timelines.sh FOLDER
#
# The four timelines of docs/overlap.md, drawn by the element itself. GStreamer has to find the plugin
# (GST_PLUGIN_PATH), and a GPU should be there: on the CPU the pictures show its threads.
set -euo pipefail

folder=$1
mkdir -p "$folder"

draw() { # draw NAME PROPERTY...
  gst-launch-1.0 --quiet videotestsrc num-buffers=1 ! video/x-raw,framerate=0/1,format=RGBA,width=1920,height=1080 \
    ! imagefreeze num-buffers=60 ! video/x-raw,framerate=30/1 \
    ! cudastripetransform effect=invert timeline-location="$folder/$1.svg" "${@:2}" \
    ! fakesink sync=false </dev/null
  echo "$folder/$1.svg: ${*:2}"
}

draw pageable page-lock=off async-depth=1 stripe-count=3 stream-count=3 timeline-frames=3
draw page-locked async-depth=1 stripe-count=3 stream-count=3 transfer-mode=copy timeline-frames=4
draw in-flight async-depth=3 timeline-frames=9
draw mapped async-depth=1 stripe-count=3 transfer-mode=mapped timeline-frames=4
