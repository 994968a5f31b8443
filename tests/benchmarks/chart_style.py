# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the charts have in common."""

from chart_report import heading

# Readable on white and on nearly black: GitHub shows the same picture on both.
TEXT = "#808890"
COLOURS = {"copy": "#3d8fd1", "mapped": "#e08a1e", "staged": "#45a778", "pageable": "#98989f"}
ON_BAR = "#10151c"
TARGET = "#d6455d"


def import_pyplot():
    try:
        import matplotlib
    except ImportError:
        raise SystemExit("chart.py: no matplotlib for this Python (Debian: python3-matplotlib, for /usr/bin/python3)")
    matplotlib.use("svg")
    # The same file for the same figures, with text that stays text.
    matplotlib.rcParams.update({"svg.hashsalt": "cudastripetransform", "svg.fonttype": "none"})
    from matplotlib import pyplot
    return pyplot


def tidy(axes):
    axes.tick_params(colors=TEXT, labelsize=7.5, length=0)
    for side in ["top", "right"]:
        axes.spines[side].set_visible(False)
    for side in ["left", "bottom"]:
        axes.spines[side].set_color(TEXT)


def save(figure, report, path, bottom=0.05):
    figure.suptitle(heading(report), color=TEXT, fontsize=9)
    figure.tight_layout(rect=(0, bottom, 1, 1), h_pad=2)
    figure.savefig(path, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
