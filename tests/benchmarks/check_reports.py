# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a benchmark over a few frames and holds its report against what is promised of it: no figure is checked.

  check_reports.py engine|pipelines PROGRAM FOLDER
"""

import json
import math
import os
import pathlib
import subprocess
import sys

CHART = pathlib.Path(__file__).with_name("chart.py")
SIZE = {"engine": "720p RGBA", "pipelines": "1080p RGBA"}
FIGURES = ["median_us", "low_us", "high_us", "cpu_us", "ratio", "share"]
WAYS = ["limit", "async-depth=3", "async-depth=1", "engine async-depth=1", "source=pool async-depth=3",
        "pipelines=4 async-depth=3"]
PEERS = ["cudaupload ! cudadownload", "cudaupload ! queue ! cudadownload ! queue",
         "glupload ! glcolorbalance ! gldownload", "videobalance saturation=1.5 contrast=1.2",
         "videoconvert n-threads=1 to BGRA", "videoconvert n-threads=0 (all CPUs) to BGRA"]
STRIPES = [1, 2, 3, 4, 6, 8, 12, 16]


def run(name, program, options, folder, environment, size=None):
    path = folder / f"{name}.json"
    command = [program, *options, "--size", size or SIZE[name], "--frames", "2", "--rounds", "1", "--json", path]
    subprocess.run(command, check=True, env=environment, stdin=subprocess.DEVNULL)
    return json.loads(path.read_text(encoding="utf-8")), path


def check_rows(rows):
    for row in rows:
        assert row["frames"] >= 2, row
        assert all(math.isfinite(row[key]) and row[key] >= 0 for key in FIGURES), row
        assert 0 < row["low_us"] <= row["median_us"] <= row["high_us"], row


def configs(rows):
    return [row["config"] for row in rows]


def check_engine(report):
    check_rows(report["rows"])
    wanted = {f"async-depth={depth} stripe-count={stripes} transfer-mode=copy" for depth in (1, 2, 3)
              for stripes in STRIPES}
    wanted |= {f"async-depth={depth} stripe-count=1 transfer-mode=mapped" for depth in (1, 2, 3)}
    assert set(configs(report["rows"])) == wanted | {"limit"}
    assert [model["size"] for model in report["models"]] == [SIZE["engine"]]
    assert report["models"][0]["one_way_us"] > 0, report["models"]


def check_staging(report):
    check_rows(report["rows"])
    ways = {f"page-lock=stage async-depth={depth} stripe-count={stripes}"
            for depth, stripes in ((1, 1), (1, 3), (3, 1), (3, 3), (3, 6))}
    assert set(configs(report["rows"])) == ways | {"limit", "memcpy, one thread"}
    assert set(configs(report["staged"])) == ways
    for row in report["staged"]:
        assert all(row[key] > 0 for key in ("in_us", "upload_us", "kernel_us", "download_us", "out_us")), row


def check_peers(report):
    """Each is measured, or told to be missing or failed, and never both."""
    absent = [each for each in report["absent"] if each["size"] == SIZE["pipelines"]]
    assert all(each["state"] in ("missing", "failed") and each["reason"] for each in report["absent"]), absent
    for peer in PEERS:
        assert (configs(report["peers"]) + configs(absent)).count(peer) == 1, peer
    assert "videobalance saturation=1.5 contrast=1.2" in configs(report["peers"])


def check_pipelines(report):
    check_rows(report["rows"] + report["peers"] + report["on_cpu"])
    assert set(WAYS) <= set(configs(report["rows"])), configs(report["rows"])
    check_peers(report)
    for row in report["overlaps"]:
        assert row["stripes"] > 0 and row["streams"] > 0 and row["transfer"] in ("copy", "mapped"), row
    assert {"identity", "cudastripetransform"} <= set(configs(report["starts"]))
    assert all(start["median_ms"] > 0 for start in report["starts"]), report["starts"]
    told = {row["size"] for row in report["on_cpu"]} | {each["size"] for each in report["absent"]}
    assert {"1080p RGBx, 2 CPUs", "1080p I420, 1 CPU", "1080p RGBx, 1 CPU"} <= told, told
    for target in report["targets"]:
        assert (target["measured"] is None) == (target["verdict"] == "not measured"), target


def check_charts(kinds, path, folder):
    tables = subprocess.run([sys.executable, CHART, "--table", path], check=True, capture_output=True, text=True)
    assert SIZE["engine"] in tables.stdout or SIZE["pipelines"] in tables.stdout
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        print("no matplotlib: no charts")
        return
    for kind in kinds:
        picture = folder / f"{kind}.svg"
        subprocess.run([sys.executable, CHART, kind, path, picture], check=True)
        assert picture.stat().st_size > 1000, kind


def main():
    name, program, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    if name == "engine":
        report, path = run(name, program, ["--sweep"], folder, os.environ)
        check_engine(report)
        check_charts(["sweep"], path, folder)
        report, path = run(name, program, ["--staging"], folder, os.environ, "1080p RGBA")
        check_staging(report)
        check_charts([], path, folder)
    else:
        # OpenGL on a CPU is slow; without a window system it mostly fails, which is one of the ways to be told.
        report, path = run(name, program, [], folder, {**os.environ, "GST_GL_WINDOW": "none"})
        check_pipelines(report)
        check_charts(["pipelines", "peers"], path, folder)


if __name__ == "__main__":
    main()
