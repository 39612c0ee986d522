"""A package with plugins in a folder, and Assay as a program that finds it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import forked_programs

WORKLOAD = """\
title = "Parts"
source = "a test"
default_test = "count"

[data]
source = "{source}"

[[tables]]
name = "parts"

[tables.columns]
{columns}

[tests.count]
title = "How many"
help = "Counts"
scripts = ["count.sql"]
passes = 1
changes_data = false
"""
"""One table whose rows come from a row source."""


def write_package(here: Path, name: str, version: str, module: str, entry_points: str) -> None:
    """As if it were installed, in the folder `package`, with one module."""
    module_name = name.replace("-", "_")
    information = here / "package" / f"{module_name}-{version}.dist-info"
    information.mkdir(parents=True)
    (here / "package" / f"{module_name}.py").write_text(module)
    (information / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
    (information / "entry_points.txt").write_text(entry_points)


def write_workload(here: Path, text: str) -> None:
    """The workload `parts`."""
    (here / "parts").mkdir()
    (here / "parts" / "workload.toml").write_text(text)
    (here / "parts" / "count.sql").write_text("SELECT count(*) FROM parts;\n")


def assay(here: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs a command in this folder, with the package on the path."""
    environment = {**os.environ, "XDG_STATE_HOME": str(here / "s")}
    return forked_programs.run(
        "assay", words, folder=here, environment=environment, packages=here / "package",
    )  # fmt: skip
