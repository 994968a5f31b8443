# SPDX-License-Identifier: LGPL-2.1-or-later
"""Bars for each configuration: of the engine, or of the element in pipelines."""

import dataclasses

from chart_report import LIMIT, configs_of, find_row, read_config, sizes_of
from chart_style import COLOURS, ON_BAR, TARGET, TEXT, import_pyplot, save, tidy


@dataclasses.dataclass(frozen=True)
class Bar:
    """Where a configuration stands: columns of a group are next to each other, groups have a gap between them."""
    config: str
    group: str
    label: str
    colour: str


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
    group = ("engine" if config.startswith("engine ") else "pool" if settings.get("source") == "pool" else
             f"{settings['pipelines']} at once" if "pipelines" in settings else
             "none" if settings.get("effect") == "none" and "gamma" not in settings else
             "colors" if "gamma" in settings else "")
    return Bar(config, group, settings["async-depth"], way_of(settings))


# For each kind of chart: what makes a bar of a configuration, and what the labels under the bars are.
BAR_CHARTS = {"engine": (engine_bar, "stripes a frame"), "pipelines": (pipelines_bar, "async-depth")}


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
        if row is None:
            continue
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


def draw_targets(axes, report, size, bars, places):
    """A line over the configuration that a target is about, or over its group, of which it is the best."""
    groups = groups_with_places(bars, places)
    for target in report.get("targets", []):
        for x, bar in zip(places, bars):
            if (target["size"], target["config"]) != (size, bar.config) or target["share"] is None:
                continue
            begin, end = groups[bar.group] if bar.group else (x, x)
            style = (0, (1, 1)) if target["verdict"] == "reported" else (0, (4, 2))
            axes.plot([begin - 0.6, end + 0.6], [target["share"]] * 2, color=TARGET, linewidth=1.2, linestyle=style)


def draw_frame(axes, size, limit, bars, places):
    axes.set_title(f"{size}: limit {limit['median_us']:.0f} µs a frame", color=TEXT, fontsize=9)
    axes.axhline(1, color=TEXT, linewidth=1)
    axes.axhspan(limit["median_us"] / limit["high_us"], limit["median_us"] / limit["low_us"], color=TEXT, alpha=0.25,
                 linewidth=0)
    axes.set_xticks(places, [bar.label for bar in bars], color=TEXT, fontsize=7.5)
    tidy(axes)


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


def draw_configs(kind, report, path):
    """The engine, or the element in pipelines: bars for each configuration."""
    # Frames that are all staged are told against memcpy, in the table alone.
    report = {**report, "rows": [row for row in report["rows"] if not row["size"].endswith(", staged")]}
    pyplot = import_pyplot()
    make_bar, bottom_label = BAR_CHARTS[kind]
    sizes = sizes_of(report)
    # What sampling costs is for the table: its bar would look like the one beside it.
    bars = [make_bar(config) for config in configs_of(report)
            if config != LIMIT and "stats-interval" not in read_config(config)]
    order = list(dict.fromkeys(bar.group for bar in bars))
    bars.sort(key=lambda bar: order.index(bar.group))
    places = place(bars)
    groups = groups_with_places(bars, places)
    figure, grid = pyplot.subplots((len(sizes) + 1) // 2, 2, figsize=(10, 6.4), sharey=True, squeeze=False)
    for axes, size in zip(grid.flat, sizes):
        draw_bars(axes, report, size, bars, places)
        draw_frame(axes, size, find_row(report, size, LIMIT), bars, places)
        draw_targets(axes, report, size, bars, places)
        name_groups(axes, groups)
        axes.set_ylim(0, 1.15)
    for axes in list(grid.flat)[len(sizes):]:
        axes.set_axis_off()
    for axes in grid[:, 0]:
        axes.set_ylabel("share of the limit", color=TEXT, fontsize=8)
    for axes in grid[-1]:
        axes.set_xlabel(bottom_label, color=TEXT, fontsize=8, labelpad=18 if any(groups) else 4)
    draw_legend(figure, report, bars)
    save(figure, report, path)
