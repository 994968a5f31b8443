# SPDX-License-Identifier: LGPL-2.1-or-later
"""The figures as tables for docs/benchmarks.md."""

from chart_report import LIMIT, OURS, configs_of, find_row, heading, sizes_of


def markdown(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def spread(row, decimals):
    return f"{row['median_us']:.{decimals}f} µs ({row['low_us']:.{decimals}f}..{row['high_us']:.{decimals}f})"


def cell(row, limit_us):
    """Ratio with its spread, and CPU; of the limit itself the time."""
    if row is None:
        return ""
    if row["config"] == LIMIT:
        return spread(row, 1)
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


def peers_table(report):
    rows = []
    for row in report["peers"]:
        limit_us = find_row(report, row["size"], LIMIT)["median_us"]
        ours_us = find_row(report, row["size"], OURS)["median_us"]
        rows.append([row["size"], f"`{row['config']}`", cell(row, limit_us), f"{row['median_us'] / ours_us:.2f}"])
    return markdown(["picture", "peer", "ratio to the limit's time (lowest..highest), CPU a frame",
                     f"to that of `{OURS}`"], rows)


def absent_table(report):
    rows = [[each["size"], f"`{each['config']}`", each["state"], each["reason"]] for each in report["absent"]]
    return markdown(["picture", "not measured", "", "why"], rows)


def starts_table(report):
    rows = [[f"`{row['config']}`", f"{row['median_ms']:.0f} ms ({row['low_ms']:.0f}..{row['high_ms']:.0f})",
             f"{row['own_ms']:.0f} ms"] for row in report["starts"]]
    return markdown(["in the pipeline", "start to first frame", "own share"], rows)


def on_cpu_table(report):
    rows = [[row["size"], f"`{row['config']}`", spread(row, 0), f"{row['share']:.2f}"] for row in report["on_cpu"]]
    return markdown(["picture", "on the CPU", "time a frame", "throughput to the first's"], rows)


def models_table(report):
    rows = [[model["size"], f"{model['one_way_us']:.1f} µs", f"{model['issue_us']:.1f} µs"]
            for model in report["models"]]
    return markdown(["picture", "one way", "issue of a stripe"], rows)


def kernels_table(report):
    rows = [[f"{row['size']}, `{row['config']}`", spread(row, 1), f"{row['gb_per_s']:.0f} GB/s"]
            for row in report["kernels"]]
    return markdown(["kernel on device memory", "time", "read and written"], rows)


def staged_table(report):
    keys = ["in_us", "upload_us", "kernel_us", "download_us", "wait_us", "out_us"]
    rows = [[f"{row['size']}, `{row['config']}`", *(f"{row[key]:.0f} µs" for key in keys)] for row in report["staged"]]
    return markdown(["a staged frame", "CPU in", "upload", "kernel", "download", "waiting for the device", "CPU out"],
                    rows)


def measured(target):
    return "" if target["measured"] is None else f"{target['measured']:.2f}"


def targets_table(report):
    rows = [[target["size"], target["target"], f"`{target['config']}`", measured(target), target["verdict"]]
            for target in report["targets"]]
    return markdown(["picture", "target", "best configuration", "measured", ""], rows)


TABLES = {"rows": figures_table, "peers": peers_table, "absent": absent_table, "targets": targets_table,
          "starts": starts_table, "on_cpu": on_cpu_table, "kernels": kernels_table,
          "staged": staged_table, "models": models_table}


def print_tables(report):
    machine = report["machine"]
    where = [heading(report), machine.get("cpu"), machine.get("os"), machine.get("kernel")]
    print(f"Machine: {', '.join(filter(None, where))}.\n\n    {report['command']}\n")
    print(f"Medians of {report['rounds']} rounds of {report['frames']} frames (of 1080p; fewer of larger pictures).\n")
    print("\n\n".join(make_table(report) for key, make_table in TABLES.items() if key in report))
