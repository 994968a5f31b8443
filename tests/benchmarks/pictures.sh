#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# pictures.sh FILE.png
#
# The sheet of docs/semantics.md: one picture of videotestsrc, and what becomes of it. GStreamer has to find the plugin
# (GST_PLUGIN_PATH), and those of compositor and textoverlay (gst-plugins-base), with a font. On the CPU, as it is the
# same on a GPU.
set -euo pipefail

sheet=$1
readonly width=176 height=132 bars=96 columns=5
readonly caps="video/x-raw,format=RGB,framerate=1/1"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Colour bars, black and white, and below all hues from dark to light.
draw_picture() {
  gst-launch-1.0 --quiet compositor name=mix sink_1::ypos=$bars ! "$caps,width=$width,height=$height" \
    ! videoconvert ! pngenc snapshot=true ! filesink location="$work/before.png" \
    videotestsrc num-buffers=1 pattern=smpte ! "$caps,width=$width,height=$bars" ! mix.sink_0 \
    videotestsrc num-buffers=1 pattern=colors ! "$caps,width=$width,height=$((height - bars))" ! mix.sink_1 </dev/null
}

# A look of the cinema, as a cube: dark colours towards teal, light ones towards orange.
write_lut() {
  awk 'BEGIN {
    size = 9
    print "TITLE \"teal and orange\"\nLUT_3D_SIZE " size
    for (b = 0; b < size; ++b) for (g = 0; g < size; ++g) for (r = 0; r < size; ++r) {
      x = r / (size - 1); y = g / (size - 1); z = b / (size - 1)
      light = 0.2126 * x + 0.7152 * y + 0.0722 * z
      printf "%.4f %.4f %.4f\n", 0.75 * x + 0.3 * light - 0.05, 0.85 * y + 0.1 * light + 0.03, \
        0.75 * z + 0.2 * (1 - light)
    }
  }' >"$work/film.cube"
}

cells=()

# cell LABEL PROPERTY...: one more picture of the sheet.
cell() {
  local label=$1 number=${#cells[@]}
  gst-launch-1.0 --quiet filesrc location="$work/before.png" ! pngdec ! videoconvert ! "video/x-raw,format=RGB" \
    ! cudastripetransform backend=host "${@:2}" ! videoconvert ! pngenc snapshot=true \
    ! filesink location="$work/$number.png" </dev/null
  cells+=("$label")
}

# Each with its label below.
draw_sheet() {
  local i row column line=() places=()
  for i in "${!cells[@]}"; do
    row=$((i / columns)) column=$((i % columns))
    places+=("sink_$i::xpos=$((column * (width + 8) + 8))" "sink_$i::ypos=$((row * (height + 34) + 8))")
    line+=(filesrc location="$work/$i.png" ! pngdec ! videoconvert ! "video/x-raw,format=RGB" \
      ! videobox bottom=-26 fill=white \
      ! textoverlay text="${cells[$i]}" valignment=bottom ypad=4 font-desc="DejaVu Sans 11" color=0xff000000 \
        draw-shadow=false draw-outline=false auto-resize=false \
      ! "mix.sink_$i")
  done
  gst-launch-1.0 --quiet compositor name=mix background=white "${places[@]}" \
    ! videoconvert ! "video/x-raw,format=RGB" ! pngenc snapshot=true compression-level=9 ! filesink location="$sheet" \
    "${line[@]}" </dev/null
}

draw_picture
write_lut
cell "before"
cell "effect=invert" effect=invert
cell "effect=gray" effect=gray
cell "effect=sepia" effect=sepia
cell "effect=swap-rb" effect=swap-rb
cell "brightness=-0.3" brightness=-0.3
cell "brightness=0.3" brightness=0.3
cell "contrast=0.5" contrast=0.5
cell "contrast=2" contrast=2
cell "hue=-0.5" hue=-0.5
cell "hue=0.5" hue=0.5
cell "hue=1" hue=1
cell "saturation=0" saturation=0
cell "saturation=0.5" saturation=0.5
cell "saturation=2" saturation=2
cell "gamma=0.5" gamma=0.5
cell "gamma=2" gamma=2
cell "threshold=0.5" threshold=0.5
cell "matrix: red of all" matrix="<0.33,0.33,0.33,0, 0,1,0,0, 0,0,1,0>"
cell "lut-location=film.cube" lut-location="$work/film.cube"
draw_sheet
echo "$sheet: $(du -h "$sheet" | cut -f1)"
