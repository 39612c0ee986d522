"""Capsules with members that are in memory, honest ones and changed ones."""

from __future__ import annotations

import json
import sqlite3
import tempfile
import tomllib
import zipfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from assay.record.capsule import capsule_file, packing
from assay.text.output_file import toml_text

RUN = ("--storage", "tmpfs", "--no-probe", "--no-durability", "--progress", "0")
"""What the run that is packed is given: nothing of it depends on a disk."""


def packed(members: Mapping[str, bytes], assay: str) -> bytes:
    """As `writing.packed` packs files with this content."""
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder, str(number)) for number, name in enumerate(members)}
        for name, file in files.items():
            file.write_bytes(members[name])
        target = Path(folder, "capsule")
        with packing.packed(files, assay) as found, target.open("wb") as stream:
            found.copy(stream.fileno())
        return target.read_bytes()


def names_in(capsule: Path) -> list[str]:
    with zipfile.ZipFile(capsule) as file:
        return file.namelist()


def with_file(members: dict[str, bytes], change: dict[str, Any]) -> dict[str, bytes]:
    """``change``: of its experiment file; None: the key is left out."""
    asked = tomllib.loads(members[capsule_file.EXPERIMENT].decode())
    changed = {key: one for key, one in {**asked, **change}.items() if one is not None}
    return {**members, capsule_file.EXPERIMENT: toml_text(changed).encode()}


def with_record(
    members: dict[str, bytes], change: dict[str, Any], folder: Path
) -> dict[str, bytes]:
    """``change``: of the experiment in its record."""
    file = folder / "changed.sqlite"
    file.write_bytes(members[capsule_file.RECORD])
    with closing(sqlite3.connect(file)) as connection:
        (text,) = connection.execute("SELECT experiment FROM experiments").fetchone()
        changed = json.dumps({**json.loads(text), **change})
        connection.execute("UPDATE experiments SET experiment = ?", (changed,))
        connection.commit()
    return {**members, capsule_file.RECORD: file.read_bytes()}


def workload_in(folder: Path) -> Path:
    """A workload with a claim, ``mine``; its script."""
    scripts = folder / "mine" / "scripts"
    scripts.mkdir(parents=True)
    (folder / "mine" / "workload.toml").write_text(
        'title = "Mine"\nsource = "a test"\ndefault_test = "read"\n\n[data]\nsource = "none"\n\n'
        '[tests.read]\ntitle = "Read"\nhelp = "Reads"\norder = "sequence"\n'
        'scripts = ["scripts/read.sql"]\npasses = 3\n'
    )
    (folder / "mine" / "published.toml").write_text(
        '[[claims]]\ntext = "the first is faster"\nsource = "page 1"\ntest = "read"\n'
        'order = [{ system = "sqlite" }, { system = "duckdb" }]\n'
    )
    script = scripts / "read.sql"
    script.write_text("SELECT 1;\n")
    return script
