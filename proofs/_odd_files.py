"""Creates unusual files in a folder, which cases use as arguments."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

SCRIPT = b"\\set id random(1, 100)\nselect :id;\n"
EXPERIMENT = (
    b'workload = "tpcb"\nsystems = ["sqlite"]\nclients = [1, 2]\nrepetitions = 2\n'
    b"[parameters]\nscale = 1\n[drive]\nduration_s = 0.05\n"
)
BIBLIOGRAPHY = b'@Book{Knuth:1984,\n  author = "Donald E. Knuth",\n  year = 1984,\n}\n'
PATHS = (
    "", ".", "..", "/", "folder", "folder.sql", "folder.toml", "zero", "zero.sql", "zero.toml",
    "zero.bib", "pipe", "pipe.sql", "pipe.toml", "loop", "loop.sql", "loop.toml", "empty",
    "empty.sql", "empty.toml", "binary", "binary.sql", "binary.toml", "missing", "missing.sql",
    "missing.toml", "missing/below", "script.sql", "script.sql@3", "experiment.toml", "small.bib",
    "damaged.sqlite", "assay-records.sqlite",
    "full", "read-only", "empty/below", "with space.sql", "n\xe4me.sql",
    "no-utf8-\udcff.sql", "deep.toml", "a" * 300, "a/" * 3000, "/proc/self/mem", ":memory:",
    "-", "--", "~", "~nobody-here/x", "file:x?mode=ro", "x\ty", "x\ny", "*", "script.sql@0",
    "script.sql@-1", "script.sql@99999999999999999999",
)  # fmt: skip
"""Names to try, of existing and of missing files."""


def make_odd_files(folder: Path, records: Path | None) -> None:
    """Makes those of `PATHS` that can be made. Devices are reached by links, so that nothing can
    replace the machine's own."""
    for name in ("folder", "folder.sql", "folder.toml"):
        (folder / name).mkdir()
    for ending in ("", ".sql", ".toml"):
        (folder / f"zero{ending}").symlink_to("/dev/zero")
        (folder / f"loop{ending}").symlink_to(f"loop{ending}")
        os.mkfifo(folder / f"pipe{ending}")
        (folder / f"empty{ending}").write_bytes(b"")
        (folder / f"binary{ending}").write_bytes(bytes(range(256)) * 4)
    (folder / "zero.bib").symlink_to("/dev/zero")
    (folder / "full").symlink_to("/dev/full")
    (folder / "script.sql").write_bytes(SCRIPT)
    (folder / "with space.sql").write_bytes(SCRIPT)
    (folder / "n\xe4me.sql").write_bytes(SCRIPT)
    (folder / "no-utf8-\udcff.sql").write_bytes(SCRIPT)
    (folder / "experiment.toml").write_bytes(EXPERIMENT)
    (folder / "small.bib").write_bytes(BIBLIOGRAPHY)
    (folder / "damaged.sqlite").write_bytes(b"SQLite format 3\0" + b"\xff" * 200)
    (folder / "deep.toml").write_bytes(b"a = " + b"[" * 5000 + b"]" * 5000)
    if records is not None:
        shutil.copy(records, folder / "assay-records.sqlite")
    (folder / "read-only").write_bytes(b"")
    (folder / "read-only").chmod(0o400)
