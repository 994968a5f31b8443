#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# newest-gstreamer.sh [BUILD_FOLDER [SUITE]]
#
# Loads the plugin of a finished build in the GStreamer of another Debian, sid (the newest there is) or SUITE, such as
# trixie, and runs a pipeline there. The system goes into a temporary folder, so this needs root, debootstrap and the
# network; it is none of Meson's tests. GStreamer's own wheels would do without a system, but there are none for Linux.
set -euo pipefail

build=$(realpath -e "${1:-$(dirname "${BASH_SOURCE[0]}")/../../build}")
suite=${2:-sid}
((EUID == 0)) || { echo "chroot needs root"; exit 77; }
command -v debootstrap >/dev/null || { echo "no debootstrap here"; exit 77; }

root=$(mktemp -d)
chmod 755 "$root"
trap 'rm -rf --one-file-system "$root"' EXIT

inside() {
  chroot "$root" env -i PATH=/usr/bin:/bin GST_PLUGIN_PATH_1_0=/plugin GST_REGISTRY_1_0=/registry.bin "$@"
}

debootstrap --variant=minbase --include=gstreamer1.0-tools,gstreamer1.0-plugins-base "$suite" "$root" >"$root.log" ||
  { tail -n 20 "$root.log"; echo "no Debian $suite: $root.log"; exit 1; }
rm -f "$root.log"
mkdir "$root/plugin"
cp "$build/gst/libgstcudastripe.so" "$root/plugin/"

inside gst-inspect-1.0 --version | sed -n 2p
inside gst-inspect-1.0 cudastripetransform >/dev/null
# Black inverted is white, so every byte is 255.
inside gst-launch-1.0 -q videotestsrc num-buffers=10 pattern=black ! video/x-raw,format=RGB,width=64,height=48 \
  ! cudastripetransform effect=invert ! filesink location=/frames
[[ $(stat -c %s "$root/frames") == $((10 * 64 * 48 * 3)) && -z $(tr -d '\377' <"$root/frames") ]] ||
  { echo "FAILED: black inverted is not white there"; exit 1; }
echo "the plugin of $build works there"
