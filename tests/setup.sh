#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What tests/check.sh, tests/demo.sh and .ci/run have in common: packages, CUDA toolkit, build, and counting.
# It is meant to be sourced. Run by itself it only sees to the packages:
#
#   tests/setup.sh [--install]

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build_dir=$(realpath -m "${BUILD_DIR:-$repo/build}")

# Packages are looked for by what they bring, so that a tool from elsewhere (meson from pip, say) will do.
# One line each: kind, what it brings, Debian 12's name of the package.
readonly build_needs="
  tool    g++                   g++
  tool    meson                 meson
  tool    ninja                 ninja-build
  tool    pkg-config            pkg-config
  tool    python3               python3
  tool    gst-launch-1.0        gstreamer1.0-tools
  module  gstreamer-check-1.0   libgstreamer1.0-dev
  module  gstreamer-video-1.0   libgstreamer-plugins-base1.0-dev
  plugin  videotestsrc          gstreamer1.0-plugins-base
  plugin  jpeg                  gstreamer1.0-plugins-good"
# shellcheck disable=SC2034
readonly lint_needs="
  tool    clang-format          clang-format
  tool    git                   git"
# shellcheck disable=SC2034
readonly sanitizer_needs="
  tool    clang++               clang
  clang   libclang_rt.asan      libclang-rt-14-dev
  clang   libclang_rt.fuzzer    libclang-rt-14-dev
  tool    llvm-symbolizer       llvm"
# For the CUDA wheels, and so only where there is no toolkit.
readonly wheel_needs="
  python  ensurepip             python3-venv"

# The plugins of GStreamer that tests, demo and benchmarks use.
# shellcheck disable=SC2034
readonly used_plugins="app avi coreelements coretracers imagefreeze jpeg playback png rawparse typefindfunctions
  videoconvertscale videofilter videorate videotestsrc"

# setup_options "$@": takes --install and, after --, options for Meson.
setup_options() {
  install=no
  meson_options=()
  while (($# > 0)); do
    case $1 in
      --install) install=yes ;;
      --) shift; meson_options=("$@"); return ;;
      *) echo "usage: $(basename "$0") [--install] [-- MESON_OPTION...]" >&2; exit 2 ;;
    esac
    shift
  done
}

has() { # has KIND NAME
  case $1 in
    tool) command -v "$2" >/dev/null ;;
    module) pkg-config --exists "$2" 2>/dev/null ;;
    plugin) [[ -e $(pkg-config --variable=pluginsdir gstreamer-1.0 2>/dev/null)/libgst$2.so ]] ;;
    python) python3 -c "import $2" 2>/dev/null ;;
    clang) [[ -e $(clang++ -print-file-name="$2-$(uname -m).a" 2>/dev/null) ]] ;;
  esac
}

missing_packages() { # missing_packages NEEDS...
  local kind name package
  while read -r kind name package; do
    [[ -z $kind ]] || has "$kind" "$name" || echo "$package"
  done < <(printf '%s\n' "$@") | sort -u | xargs
}

# setup_packages NEEDS...: prints the one command that brings what is missing; runs it as root or with --install.
setup_packages() {
  local missing sudo='' command
  missing=$(missing_packages "$@")
  [[ -n $missing ]] || return 0
  ((EUID == 0)) || sudo='sudo '
  command="${sudo}apt-get update && ${sudo}apt-get install -y --no-install-recommends $missing"
  printf 'Packages are missing. On Debian 12 this brings them:\n\n  %s\n\n' "$command"
  if [[ $EUID != 0 && $install == no ]]; then
    echo "Run it, or say --install, and start again." >&2
    exit 1
  fi
  DEBIAN_FRONTEND=noninteractive bash -ec "$command" </dev/null
  missing=$(missing_packages "$@")
  [[ -z $missing ]] || { echo "Still missing: $missing" >&2; exit 1; }
}

# nvcc_toolkit NVCC: the toolkit's folder as this nvcc itself reports it, since it may be a script or a link to one that
# lies elsewhere. Empty for a release before 13, which the build would refuse.
nvcc_toolkit() {
  local release top
  release=$("$1" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
  ((${release:-0} >= 13)) || return 0
  top=$("$1" --dryrun -E -x cu /dev/null 2>&1 | sed -n 's/^#\$ TOP=//p')
  realpath -e "${top:-/nonexistent}" 2>/dev/null || true
}

# The folder of a CUDA toolkit: of nvcc on PATH, else $CUDA_PATH, else /usr/local/cuda, else the wheels that
# install_toolkit_wheels fetched (whose lib64 comes last: without it the installation broke off). Empty if there is none.
find_toolkit() {
  local nvcc toolkit
  for nvcc in "$(command -v nvcc || true)" "${CUDA_PATH:-/nonexistent}/bin/nvcc" /usr/local/cuda/bin/nvcc \
    "$build_dir"/cuda-toolkit/lib/python3*/site-packages/nvidia/cu13/lib64/../bin/nvcc; do
    [[ -x $nvcc ]] || continue
    toolkit=$(nvcc_toolkit "$nvcc")
    if [[ -n $toolkit ]]; then echo "$toolkit"; return; fi
  done
}

readonly cuda_wheels=(nvidia-cuda-nvcc nvidia-cuda-crt nvidia-nvvm nvidia-cuda-runtime nvidia-cuda-cccl)

# Installs nvcc and what it needs from PyPI into the build folder; false where pip gets no answer.
install_toolkit_wheels() {
  local venv=$build_dir/cuda-toolkit
  echo "No CUDA toolkit here: taking nvcc 13.0 from PyPI into $venv."
  rm -rf "$venv"
  python3 -m venv "$venv" &&
    PIP_DEFAULT_TIMEOUT=${PIP_DEFAULT_TIMEOUT:-30} "$venv/bin/pip" install --quiet --retries 1 \
      --disable-pip-version-check "${cuda_wheels[@]/%/==13.0.*}" </dev/null &&
    # The wheels have lib where nvcc expects lib64.
    ln -s lib "$(echo "$venv"/lib/python3*/site-packages/nvidia/cu13)/lib64"
}

# Finds or fetches the toolkit, and adds to Meson's options whether there is one.
setup_cuda() {
  local toolkit
  [[ " ${meson_options[*]} " != *" -Dcuda=disabled "* ]] || return 0
  toolkit=$(find_toolkit)
  if [[ -z $toolkit ]] && install_toolkit_wheels; then toolkit=$(find_toolkit); fi
  if [[ -z $toolkit ]]; then
    echo "Building without CUDA: no nvcc 13 or newer on PATH, in \$CUDA_PATH or in /usr/local/cuda, and pip could not" \
      "fetch it."
    meson_options=(-Dcuda=disabled "${meson_options[@]}")
    return
  fi
  echo "CUDA toolkit: $toolkit"
  meson_options=(-Dcuda=auto "${meson_options[@]}")
  nvcc=$toolkit/bin/nvcc
}

# setup_build OPTION...: configures, and compiles. A folder that somebody configured by hand, which has no stamp, stays
# as they chose.
setup_build() {
  local stamp=$build_dir/setup-options wanted="$*${nvcc:+ with $nvcc}" native=()
  if [[ -e $stamp && $wanted != "$(<"$stamp")" ]]; then
    rm -rf "$build_dir/build.ninja" "$build_dir/meson-private"
  fi
  if [[ ! -e $build_dir/build.ninja ]]; then
    mkdir -p "$build_dir"
    if [[ -n ${nvcc:-} ]]; then
      # From PATH Meson takes the bare name, and then a rebuild by hand must find it there too.
      native=(--native-file "$build_dir/nvcc.ini")
      printf "[binaries]\ncuda = '%s'\n" "$nvcc" >"$build_dir/nvcc.ini"
    fi
    meson setup "${native[@]}" "$build_dir" "$repo" "$@"
    echo "$wanted" >"$stamp"
  fi
  meson compile -C "$build_dir"
}

# Everything up to a finished build; the needs of the build itself are added.
setup_all() { # setup_all [NEEDS...]
  local needs=("$build_needs" "$@")
  [[ -n $(find_toolkit) ]] || needs+=("$wheel_needs")
  setup_packages "${needs[@]}"
  setup_cuda
  setup_build "${meson_options[@]}"
}

# run_tests MESON_TEST_OPTION...: false if Meson says so; the results are in test_log.
run_tests() {
  test_log=$build_dir/meson-logs/testlog.json
  rm -f "$test_log"
  meson test -C "$build_dir" --no-rebuild --print-errorlogs "$@" </dev/null
}

count_results() { # count_results TESTLOG.JSON: prints "passed failed skipped"
  python3 - "$1" <<'PYTHON'
import json, os, sys

count = {"passed": 0, "failed": 0, "skipped": 0}
verdict = {"OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "skipped"}
if os.path.exists(sys.argv[1]):
    for line in open(sys.argv[1], encoding="utf-8"):
        count[verdict.get(json.loads(line)["result"], "failed")] += 1
print(*count.values())
PYTHON
}

# print_totals PASSED FAILED SKIPPED: the closing line; false if something failed or nothing passed.
print_totals() {
  echo "$1 passed, $2 failed, $3 skipped"
  (($2 == 0 && $1 > 0))
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  set -euo pipefail
  setup_options "$@"
  needs=("$build_needs")
  [[ -n $(find_toolkit) ]] || needs+=("$wheel_needs")
  setup_packages "${needs[@]}"
  echo "All packages are here."
fi
