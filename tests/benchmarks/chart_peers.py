# SPDX-License-Identifier: LGPL-2.1-or-later
"""What others do in the element's place."""

from chart_report import LIMIT, OURS, find_row, read_config, sizes_of
from chart_style import COLOURS, ON_BAR, TEXT, import_pyplot, save, tidy


def peer_lines(report, size):
    """(name, row or None, what to say) for ours, each peer that was measured, and each that was not."""
    ours = find_row(report, size, OURS)
    lines = [("cudastripetransform", ours, f"{ours['share']:.2f}")]
    for row in report.get("peers", []):
        if row["size"] == size:
            slower = row["median_us"] / ours["median_us"]
            lines.append((row["config"], row, f"{row['share']:.2f}, takes {slower:.1f} times as long"))
    # What the element itself lacks here is told in its properties.
    lines += [(each["config"], None, each["state"]) for each in report.get("absent", [])
              if each["size"] == size and "effect" not in read_config(each["config"])]
    return lines


def draw_peers(report, path):
    """Ours and its peers, one above the other, for each size that has some."""
    pyplot = import_pyplot()
    sizes = [size for size in sizes_of(report) if len(peer_lines(report, size)) > 1]
    figure, grid = pyplot.subplots(max(1, len(sizes)), 1, figsize=(10, 1 + 1.9 * max(1, len(sizes))), squeeze=False)
    for axes, size in zip(grid.flat, sizes):
        lines = peer_lines(report, size)
        limit_us = find_row(report, size, LIMIT)["median_us"]
        for y, (_, row, words) in enumerate(lines):
            share = row["share"] if row else 0
            high = limit_us / row["low_us"] if row else 0
            axes.barh(y, share, height=0.7, color=COLOURS["copy" if y == 0 else "pageable"])
            if row:
                axes.plot([limit_us / row["high_us"], high], [y, y], color=ON_BAR if y == 0 else TEXT, linewidth=1.2)
            axes.text(max(share, high) + 0.01, y, words, color=TEXT, va="center", fontsize=7)
        axes.set_yticks(range(len(lines)), [name for name, _, _ in lines], color=TEXT)
        axes.invert_yaxis()
        axes.axvline(1, color=TEXT, linewidth=1)
        axes.set_xlim(0, 1.25 * max(1, *(limit_us / row["low_us"] for _, row, _ in lines if row)))
        axes.set_title(f"{size}: share of the limit, {limit_us:.0f} µs a frame", color=TEXT, fontsize=9)
        tidy(axes)
    save(figure, report, path)
