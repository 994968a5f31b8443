# SPDX-License-Identifier: LGPL-2.1-or-later
"""Stripes, frames in flight and sizes, against the model of a single frame."""

from chart_report import LIMIT, find_row, read_config
from chart_style import TARGET, TEXT, import_pyplot, save, tidy


def model_us(model, stripes):
    return (stripes + 1) / stripes * model["one_way_us"] + stripes * model["issue_us"]


def swept(report, size, depth, mapped):
    """(stripes, row) of the copied or mapped frames of a size with so many in flight."""
    found = []
    for row in report["rows"]:
        settings = read_config(row["config"])
        if row["size"] == size and settings.get("async-depth") == str(depth):
            if (settings["transfer-mode"] == "mapped") == mapped:
                found.append((int(settings["stripe-count"]), row))
    return found


DEPTH_COLOURS = {1: "#3d8fd1", 2: "#45a778", 3: "#a06cc8"}


def draw_sweep(report, path):
    """Time over the number of stripes, a line for each number of frames in flight, the model, and mapped frames."""
    pyplot = import_pyplot()
    figure, grid = pyplot.subplots(1, len(report["models"]), figsize=(10, 4.2), sharey=True, squeeze=False)
    for axes, model in zip(grid.flat, report["models"]):
        size = model["size"]
        limit_us = find_row(report, size, LIMIT)["median_us"]
        stripes = [number for number, _ in swept(report, size, 1, False)]
        for depth, colour in DEPTH_COLOURS.items():
            rows = [row for _, row in swept(report, size, depth, False)]
            axes.plot(range(len(stripes)), [row["ratio"] for row in rows], color=colour, marker="o", markersize=3,
                      linewidth=1.4, label=f"{depth} in flight, copied")
            axes.fill_between(range(len(stripes)), [row["low_us"] / limit_us for row in rows],
                              [row["high_us"] / limit_us for row in rows], color=colour, alpha=0.2, linewidth=0)
            for _, row in swept(report, size, depth, True):
                axes.axhline(row["ratio"], color=colour, linewidth=1, linestyle=":", label=f"{depth} in flight, mapped")
        axes.plot(range(len(stripes)), [model_us(model, number) / limit_us for number in stripes], color=TARGET,
                  linewidth=1.2, linestyle="--", label="model of one frame")
        axes.axhline(1, color=TEXT, linewidth=1, label=LIMIT)
        axes.set_xticks(range(len(stripes)), stripes)
        axes.set_xlabel("stripes a frame", color=TEXT, fontsize=8)
        axes.set_title(f"{size}: limit {limit_us:.0f} µs", color=TEXT, fontsize=9)
        axes.set_ylim(bottom=0)
        tidy(axes)
    grid[0][0].set_ylabel("time a frame / the limit's", color=TEXT, fontsize=8)
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncol=4, frameon=False, fontsize=7.5, labelcolor=TEXT)
    save(figure, report, path, bottom=0.1)
