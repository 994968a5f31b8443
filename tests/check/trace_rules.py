#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs pipelines that write timelines, in a locale with a comma, and holds the files against the
rules of the Trace Event Format and of XML. Or checks given files: trace_rules.py FILE..."""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

FRAMES = 10
HOST_ROWS = {"submit", "wait", "push"}
WORK = ["upload", "kernel", "download"]

# Properties of the element; stripes a frame; frames that come; whether nothing is copied.
PIPELINES = [
    ("async-depth=3 transfer-mode=copy stripe-count=4 stream-count=3", 4, 30, False),
    ("async-depth=3 transfer-mode=copy stripe-count=3 stream-count=2 page-lock=stage", 3, 30, False),
    ("async-depth=1 transfer-mode=copy stripe-count=3 stream-count=2 page-lock=stage", 3, 30, False),
    ("async-depth=1 transfer-mode=copy", 3, 30, False),
    ("async-depth=16 transfer-mode=copy stream-count=1", 1, 60, False),
    ("async-depth=3 transfer-mode=mapped stripe-count=5", 5, 30, True),
    ("async-depth=3 transfer-mode=copy", 1, 12, False),  # four after the warm-up
    ("async-depth=3 transfer-mode=copy", 1, 4, False),  # shorter than the warm-up
]


def no_constant(name):
    raise ValueError(f"{name} is no JSON")


def unique(pairs):
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names)), f"twice in an object: {names}"
    return dict(pairs)


def check_events(trace):
    """The rules for each event; gives the spans by row."""
    assert trace.get("displayTimeUnit", "ms") in ("ms", "ns")
    named, processes, rows = {}, set(), collections.defaultdict(list)
    for event in trace["traceEvents"]:
        assert event["ph"] in ("X", "M"), event
        assert isinstance(event["name"], str) and event["name"], event
        assert type(event["pid"]) is int and type(event["tid"]) is int, event
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name", "thread_sort_index"), event
            if event["name"] == "process_name":
                processes.add(event["pid"])
            if event["name"] == "thread_name":
                named[event["pid"], event["tid"]] = event["args"]["name"]
            continue
        for field in ("ts", "dur"):
            assert isinstance(event[field], (int, float)), event
            assert event[field] >= 0, event
        rows[event["pid"], event["tid"]].append(event)
    for row in rows:
        assert row in named and row[0] in processes, f"no name for {row}"
    assert len(set(named.values())) == len(named), f"one name for two rows: {named}"
    return {named[row]: spans for row, spans in rows.items()}


def check_nesting(row, spans):
    """Spans of a row lie beside each other or within one another: readers draw them as a stack."""
    ends = []
    for event in sorted(spans, key=lambda e: (round(e["ts"] * 1000), -round(e["dur"] * 1000))):
        begin = round(event["ts"] * 1000)
        end = begin + round(event["dur"] * 1000)
        while ends and ends[-1] <= begin:
            ends.pop()
        assert not ends or end <= ends[-1], f"a row {row} with spans across: {event}"
        ends.append(end)


def check_frames(rows, first, count, stripes, mapped):
    work = collections.defaultdict(list)
    for row, spans in rows.items():
        for event in spans:
            args = event["args"]
            assert first <= args["frame"] < first + count, f"not to be here: {event}"
            if row.startswith("stream "):
                work[args["frame"], args["stripe"]].append((row, event))
    wanted = {(f, s) for f in range(first, first + count) for s in range(stripes)}
    assert set(work) == wanted, f"other stripes: {set(work) ^ wanted}"
    for number, pieces in work.items():
        assert len({row for row, _ in pieces}) == 1, f"{number} changes its stream"
        pieces = sorted((event for _, event in pieces), key=lambda e: e["ts"])
        assert [e["name"] for e in pieces] == (["kernel"] if mapped else WORK), pieces
        for before, after in zip(pieces, pieces[1:]):
            assert round((before["ts"] + before["dur"]) * 1000) <= round(after["ts"] * 1000), pieces
    for row in HOST_ROWS:
        of_row = sorted(e["args"]["frame"] for e in rows[row])
        assert of_row == list(range(first, first + count)), f"{row}: {of_row}"


def load_trace(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(text, parse_constant=no_constant, object_pairs_hook=unique)


def check_trace(path, first=None, count=0, stripes=0, mapped=False):
    trace = load_trace(path)
    rows = check_events(trace)
    for row, spans in rows.items():
        check_nesting(row, spans)
    if first is not None:
        check_frames(rows, first, count, stripes, mapped)
    return trace["otherData"]


def check_svg(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg", root.tag
    float(root.get("width")), float(root.get("height"))
    texts = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
    assert any(t and "link used" in t for t in texts), texts
    for element in root.iter():
        for name in ("x", "y", "width", "height"):
            value = element.get(name, "0")
            assert value == "100%" or float(value) >= 0, element.attrib


def locale_with_a_comma(folder):
    """The environment for de_DE, which is made where it isn't installed."""
    made = folder / "de_DE.UTF-8"
    command = ["localedef", "-i", "de_DE", "-f", "UTF-8", str(made)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"NOT TESTED in de_DE: {error}")
        return {}
    return {"LOCPATH": str(folder), "LC_ALL": "de_DE.UTF-8"}


def write_timeline(path, properties, come, environment):
    line = (f"videotestsrc num-buffers={come} pattern=snow ! video/x-raw,format=I420,width=638,"
            f"height=358,framerate=600/1 ! cudastripetransform backend=host {properties} "
            f"timeline-frames={FRAMES} timeline-location={path} ! fakesink")
    result = subprocess.run(["gst-launch-1.0", "-q", *line.split()], capture_output=True, text=True,
                            env={**os.environ, **environment}, timeout=120, check=False)
    assert result.returncode == 0, f"{line}\n{result.stdout}{result.stderr}"
    assert path.exists(), f"nothing was written by {line}\n{result.stdout}{result.stderr}"


def depth_of(properties):
    return int(properties.split("async-depth=")[1].split()[0])


def run_pipeline(folder, environment, properties, stripes, come, mapped):
    warm_up = 2 * depth_of(properties) + 2
    is_short = come <= warm_up
    first = 0 if is_short else warm_up
    count = come if is_short else min(FRAMES, come - warm_up)
    write_timeline(folder / "t.json", properties, come, environment)
    other = check_trace(folder / "t.json", first, count, stripes, mapped)
    assert other["warming-up"] == is_short and other["frames"] == count, other
    assert other["warm-up-frames-left-out"] == first, other
    assert (other["overlap"] == 0) == mapped and 0 < other["link-share"] <= 1, other
    assert mapped or other["overlap"] <= other["overlap-ceiling"] + 0.001, other
    write_timeline(folder / "t.svg", properties, come, environment)
    check_svg(folder / "t.svg")


def main():
    for name in sys.argv[1:]:
        path = pathlib.Path(name)
        check_svg(path) if path.suffix == ".svg" else check_trace(path)
    if sys.argv[1:]:
        return
    faults = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        environment = locale_with_a_comma(folder)
        for pipeline in PIPELINES:
            try:
                run_pipeline(folder, environment, *pipeline)
                print(f"ok: {pipeline}")
            except AssertionError as error:
                faults += 1
                print(f"FAILED: {pipeline}: {error}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
