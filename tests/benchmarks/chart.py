#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes charts and tables of what the benchmarks wrote with --json.

  chart.py engine engine.json engine.svg            the engine, over frames in flight, stripes, copied or mapped
  chart.py pipelines pipelines.json pipelines.svg   the element in pipelines
  chart.py peers pipelines.json peers.svg           what others do in the element's place
  chart.py sweep sweep.json sweep.svg               stripes, depth and sizes against the model (engine --sweep)
  chart.py --table FILE.json                        the same figures as tables for docs/benchmarks.md

Charts need matplotlib (Debian: python3-matplotlib, for /usr/bin/python3), tables nothing. The schema of the files is
told in tests/benchmarks/report_json.cpp.
"""

import argparse
import functools
import json
import pathlib

from chart_bars import draw_configs
from chart_peers import draw_peers
from chart_sweep import draw_sweep
from chart_tables import print_tables

CHARTS = {"engine": functools.partial(draw_configs, "engine"),
          "pipelines": functools.partial(draw_configs, "pipelines"),
          "peers": draw_peers,
          "sweep": draw_sweep}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage=argparse.SUPPRESS)
    parser.add_argument("--table", type=pathlib.Path, metavar="JSON", help=argparse.SUPPRESS)
    parser.add_argument("chart", nargs="*", metavar="KIND JSON SVG", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.table and not options.chart:
        print_tables(json.loads(options.table.read_text(encoding="utf-8")))
    elif not options.table and len(options.chart) == 3 and options.chart[0] in CHARTS:
        kind, source, target = options.chart
        CHARTS[kind](json.loads(pathlib.Path(source).read_text(encoding="utf-8")), target)
    else:
        parser.error("see --help")


if __name__ == "__main__":
    main()
