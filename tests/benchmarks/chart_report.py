# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the benchmarks wrote, and how it is found. The schema is told in report_json.cpp."""

LIMIT = "limit"
OURS = "async-depth=3"


def read_config(config):
    """The element's properties in a configuration, all as strings."""
    return dict(setting.split("=", 1) for setting in config.split() if "=" in setting)


def sizes_of(report):
    return list(dict.fromkeys(row["size"] for row in report["rows"]))


def configs_of(report):
    return list(dict.fromkeys(row["config"] for row in report["rows"]))


def find_row(report, size, config):
    """None where that size was not measured with it."""
    return next((row for row in report["rows"] if (row["size"], row["config"]) == (size, config)), None)


def heading(report):
    machine = report["machine"]
    versions = [f"{name} {machine[key]}" for name, key in [("driver", "driver"), ("CUDA", "cuda_runtime")]
                if key in machine]
    versions += [machine["gstreamer"]] if "gstreamer" in machine else []
    facts = [machine["device"], *versions, f"{machine['cpus']} CPUs", report["date"][:10]]
    return ", ".join(facts)
