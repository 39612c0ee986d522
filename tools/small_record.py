"""Makes a small copy of a record file, to be kept as data of tests: without what only detailed
reports read, and without the paths of the machine.

    python tools/small_record.py RECORDS.sqlite SMALL.sqlite.xz OLD_PATH=NEW_PATH …
"""

from __future__ import annotations

import json
import lzma
import re
import sqlite3
import sys
import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

_HISTOGRAM = re.compile(r'("histogram": ?)"[^"]*"')
_NO_HISTOGRAM = r'\1"HISTFAAAA"'
_LEFT_OUT = ("metric_values", "seconds", "machine_seconds", "stages", "storage_requests")
"""Tables that claims and comparisons do not read."""
_PARTS_LEFT_OUT = ("groups", "intervals", "machine_seconds")
"""Lists of an observation that they do not read either."""


def make(source: Path, target: Path, paths: Mapping[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "records.sqlite"
        with (
            closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True)) as whole,
            closing(sqlite3.connect(small)) as copy,
        ):
            whole.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
            for table in _tables(copy):
                if table in _LEFT_OUT:
                    copy.execute(f'DELETE FROM "{table}"')
                else:
                    _clean(copy, table, paths)
            copy.commit()
            copy.execute("VACUUM")
        target.write_bytes(lzma.compress(small.read_bytes(), preset=9 | lzma.PRESET_EXTREME))


def _tables(copy: sqlite3.Connection) -> list[str]:
    names = copy.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
    )
    return [str(name) for (name,) in names]


def _clean(copy: sqlite3.Connection, table: str, paths: Mapping[str, str]) -> None:
    for _, column, *_ in copy.execute(f'PRAGMA table_info("{table}")').fetchall():
        rows = copy.execute(f'SELECT "{column}" FROM "{table}" GROUP BY 1').fetchall()
        for (text,) in rows:
            if not isinstance(text, str):
                continue
            cleaned = _HISTOGRAM.sub(_NO_HISTOGRAM, text)
            if (table, column) == ("observations", "document"):
                whole = json.loads(cleaned)
                cleaned = json.dumps(
                    whole | {name: [] for name in _PARTS_LEFT_OUT if name in whole}
                )
            for old, new in paths.items():
                cleaned = cleaned.replace(old, new)
            if cleaned != text:
                change = f'UPDATE "{table}" SET "{column}" = ? WHERE "{column}" = ?'
                copy.execute(change, (cleaned, text))


if __name__ == "__main__":
    source, target, *replaced = sys.argv[1:]
    make(Path(source), Path(target), dict(one.split("=", 1) for one in replaced))
