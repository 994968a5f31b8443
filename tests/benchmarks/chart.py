#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes charts and tables of what the benchmarks wrote with --json.

  chart.py engine engine.json engine.svg            the engine, over frames in flight, stripes, copied or mapped
  chart.py pipelines pipelines.json pipelines.svg   the element in pipelines
  chart.py --table FILE.json                        the same figures as tables for docs/benchmarks.md

Charts need matplotlib (Debian: python3-matplotlib, for /usr/bin/python3), tables nothing. The schema of the files is
told in tests/benchmarks/report.cpp.
"""

import argparse
import dataclasses
import json
import pathlib

# Readable on white and on nearly black: GitHub shows the same picture on both.
TEXT = "#808890"
COLOURS = {"copy": "#3d8fd1", "mapped": "#e08a1e", "staged": "#45a778", "pageable": "#98989f"}
ON_BAR = "#10151c"
TARGET = "#d6455d"
LIMIT = "limit"


@dataclasses.dataclass(frozen=True)
class Bar:
    """Where a configuration stands: columns of a group are next to each other, groups have a gap between them."""
    config: str
    group: str
    label: str
    colour: str


def read_config(config):
    """The element's properties in a configuration, all as strings."""
    return dict(setting.split("=", 1) for setting in config.split() if "=" in setting)


def sizes_of(report):
    return list(dict.fromkeys(row["size"] for row in report["rows"]))


def configs_of(report):
    return list(dict.fromkeys(row["config"] for row in report["rows"]))


def find_row(report, size, config):
    return next(row for row in report["rows"] if (row["size"], row["config"]) == (size, config))


def way_of(settings):
    """How frames reach the device, a key of COLOURS."""
    if settings.get("page-lock") == "off":
        return "pageable"
    if settings.get("page-lock") == "stage":
        return "staged"
    return settings.get("transfer-mode", "copy")


def group_of(settings):
    return f"async-depth={settings['async-depth']}"


def engine_bar(config):
    settings = read_config(config)
    way = way_of(settings)
    # The question's way has a group to itself: it is no choice among the others.
    group = "the question" if way == "pageable" else group_of(settings)
    return Bar(config, group, settings["stripe-count"], way)


def pipelines_bar(config):
    settings = read_config(config)
    return Bar(config, "", settings["async-depth"], way_of(settings))


# For each kind of chart: what makes a bar of a configuration, and what the labels under the bars are.
CHARTS = {"engine": (engine_bar, "stripes a frame"), "pipelines": (pipelines_bar, "async-depth")}


def place(bars):
    """Returns for each bar where it stands."""
    places, x, group = [], 0.0, None
    for bar in bars:
        if group is not None:
            x += 1 if bar.group == group else 1.9
        group = bar.group
        places.append(x)
    return places


def draw_bars(axes, report, size, bars, places):
    limit_us = find_row(report, size, LIMIT)["median_us"]
    for x, bar in zip(places, bars):
        row = find_row(report, size, bar.config)
        share, low, high = row["share"], limit_us / row["high_us"], limit_us / row["low_us"]
        axes.bar(x, share, width=0.8, color=COLOURS[bar.colour])
        # The spread must be seen both on the bar and above it.
        for begin, end, colour in [(low, share, ON_BAR), (share, high, TEXT)]:
            axes.plot([x, x], [begin, end], color=colour, linewidth=1.5, solid_capstyle="butt")
        fits = low > 0.1
        axes.text(x, 0.02 if fits else high + 0.015, f"{share:.2f}", color=ON_BAR if fits else TEXT, ha="center",
                  fontsize=7)


def groups_with_places(bars, places):
    """Returns {group: (first place, last place)}."""
    groups = {}
    for x, bar in zip(places, bars):
        groups[bar.group] = (groups.get(bar.group, (x,))[0], x)
    return groups


def draw_targets(axes, report, size, groups):
    """A line over the group of the configuration that a target is about."""
    for target in report.get("targets", []):
        group = group_of(read_config(target["config"]))
        if target["size"] != size or target["share"] is None or group not in groups:
            continue
        begin, end = groups[group]
        style = (0, (1, 1)) if target["verdict"] == "reported" else (0, (4, 2))
        axes.plot([begin - 0.6, end + 0.6], [target["share"]] * 2, color=TARGET, linewidth=1.2, linestyle=style)


def draw_frame(axes, size, limit, bars, places):
    axes.set_title(f"{size}: limit {limit['median_us']:.0f} µs a frame", color=TEXT, fontsize=9)
    axes.axhline(1, color=TEXT, linewidth=1)
    axes.axhspan(limit["median_us"] / limit["high_us"], limit["median_us"] / limit["low_us"], color=TEXT, alpha=0.25,
                 linewidth=0)
    axes.set_xticks(places, [bar.label for bar in bars], color=TEXT, fontsize=7.5)
    axes.tick_params(colors=TEXT, labelsize=7.5, length=0)
    for side in ["top", "right"]:
        axes.spines[side].set_visible(False)
    for side in ["left", "bottom"]:
        axes.spines[side].set_color(TEXT)


def name_groups(axes, groups):
    for group, (begin, end) in groups.items():
        axes.annotate(group, ((begin + end) / 2, 0), xytext=(0, -15), textcoords="offset points",
                      xycoords=("data", "axes fraction"), ha="center", va="top", color=TEXT, fontsize=7.5)


def draw_legend(figure, report, bars):
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    entries = [Patch(color=COLOURS[colour], label=colour) for colour in dict.fromkeys(bar.colour for bar in bars)]
    entries.append(Line2D([], [], color=TEXT, label="limit (bands and strokes: lowest to highest round)"))
    if any(target["share"] is not None for target in report.get("targets", [])):
        entries.append(Line2D([], [], color=TARGET, linestyle="--", label="target"))
    figure.legend(handles=entries, loc="lower center", ncol=len(entries), frameon=False, fontsize=8, labelcolor=TEXT)


def draw(kind, report, path):
    try:
        import matplotlib
    except ImportError:
        raise SystemExit("chart.py: no matplotlib for this Python (Debian: python3-matplotlib, for /usr/bin/python3)")
    matplotlib.use("svg")
    # The same file for the same figures, with text that stays text.
    matplotlib.rcParams.update({"svg.hashsalt": "cudastripetransform", "svg.fonttype": "none"})
    from matplotlib import pyplot

    make_bar, bottom_label = CHARTS[kind]
    sizes = sizes_of(report)
    # What sampling costs is for the table: its bar would look like the one beside it.
    bars = [make_bar(config) for config in configs_of(report)
            if config != LIMIT and "stats-interval" not in read_config(config)]
    places = place(bars)
    groups = groups_with_places(bars, places)
    figure, grid = pyplot.subplots((len(sizes) + 1) // 2, 2, figsize=(10, 6.4), sharey=True, squeeze=False)
    for axes, size in zip(grid.flat, sizes):
        draw_bars(axes, report, size, bars, places)
        draw_frame(axes, size, find_row(report, size, LIMIT), bars, places)
        draw_targets(axes, report, size, groups)
        name_groups(axes, groups)
        axes.set_ylim(0, 1.15)
    for axes in list(grid.flat)[len(sizes):]:
        axes.set_axis_off()
    for axes in grid[:, 0]:
        axes.set_ylabel("share of the limit", color=TEXT, fontsize=8)
    for axes in grid[-1]:
        axes.set_xlabel(bottom_label, color=TEXT, fontsize=8, labelpad=18 if any(groups) else 4)
    figure.suptitle(heading(report), color=TEXT, fontsize=9)
    draw_legend(figure, report, bars)
    figure.tight_layout(rect=(0, 0.05, 1, 1), h_pad=2)
    figure.savefig(path, format="svg", transparent=True, metadata={"Date": None, "Creator": None})


def heading(report):
    machine = report["machine"]
    versions = [f"{name} {machine[key]}" for name, key in [("driver", "driver"), ("CUDA", "cuda_runtime")]
                if key in machine]
    facts = [machine["device"], *versions, f"{machine['cpus']} CPUs", report["date"][:10]]
    return ", ".join(facts)


def markdown(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def cell(row, limit_us):
    """Ratio with its spread, and CPU; of the limit itself the time."""
    if row["config"] == LIMIT:
        return f"{row['median_us']:.1f} µs ({row['low_us']:.1f}..{row['high_us']:.1f})"
    low, high = row["low_us"] / limit_us, row["high_us"] / limit_us
    return f"{row['ratio']:.2f} ({low:.2f}..{high:.2f}), {row['cpu_us']:.0f} µs"


def figures_table(report):
    sizes = sizes_of(report)
    limits = {size: find_row(report, size, LIMIT)["median_us"] for size in sizes}
    rows = []
    for config in configs_of(report):
        cells = [cell(find_row(report, size, config), limits[size]) for size in sizes]
        rows.append([f"`{config}`" if config != LIMIT else "the limit, time a frame", *cells])
    return markdown(["ratio to the limit's time (lowest..highest), CPU a frame", *sizes], rows)


def kernels_table(report):
    rows = [[f"{row['size']}, `{row['config']}`", f"{row['median_us']:.1f} µs ({row['low_us']:.1f}..{row['high_us']:.1f})",
             f"{row['gb_per_s']:.0f} GB/s"] for row in report["kernels"]]
    return markdown(["kernel on device memory", "time", "read and written"], rows)


def targets_table(report):
    rows = [[target["size"], target["target"], f"`{target['config']}`", f"{target['measured']:.2f}", target["verdict"]]
            for target in report["targets"]]
    return markdown(["picture", "target", "best configuration", "measured", ""], rows)


TABLES = {"rows": figures_table, "targets": targets_table, "kernels": kernels_table}


def print_tables(report):
    machine = report["machine"]
    where = [heading(report), machine.get("cpu"), machine.get("os"), machine.get("kernel")]
    print(f"Machine: {', '.join(filter(None, where))}.\n\n    {report['command']}\n")
    print(f"Medians of {report['rounds']} rounds of {report['frames']} frames (of 1080p; fewer of larger pictures).\n")
    print("\n\n".join(make_table(report) for key, make_table in TABLES.items() if key in report))


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
        draw(kind, json.loads(pathlib.Path(source).read_text(encoding="utf-8")), target)
    else:
        parser.error("see --help")


if __name__ == "__main__":
    main()
