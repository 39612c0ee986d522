"""Two systems of an experiment that a source of rows fills with different rows are not compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins import WORKLOAD, assay, write_package, write_workload

MODULE = """
from assay.load.row_sources.protocol import RowSource
from assay.load.row_sources.request import DataRequest

class Rows(RowSource):
    name = "rows"

    def open(self, workload, experiment, listener):
        return self

    def request(self, asked):
        system = asked.system.dialect.name
        made = lambda: {"parts": [[name] for name in NAMES]}
        return DataRequest(made, "files", "names", FINGERPRINT, 2)

ROWS = Rows()
"""
ENTRY_POINTS = "[assay.row_sources]\nrows = own_rows:ROWS\n"
SAME = "'same'"


@pytest.mark.parametrize(
    ("names", "fingerprint", "option", "message"),
    [
        (
            "['a', 'b']",
            "system",
            (),
            "digest of the source of its rows: duckdb on duckdb, sqlite on sqlite",
        ),
        ("['a', system]", SAME, ("--verify",), "digest of the rows of parts: "),
        (
            "['a', 'b'][: 1 + (system == 'duckdb')]",
            SAME,
            (),
            "rows of parts: 2 on duckdb, 1 on sqlite",
        ),
    ],
)
def test_systems_with_different_rows_are_a_failure(
    tmp_path: Path, names: str, fingerprint: str, option: tuple[str, ...], message: str
) -> None:
    module = MODULE.replace("NAMES", names).replace("FINGERPRINT", fingerprint)
    write_package(tmp_path, "own-rows", "1", module, ENTRY_POINTS)
    write_workload(tmp_path, WORKLOAD.format(source="rows", columns='name = "text"'))
    done = assay(tmp_path, "run", "parts", "--on", "sqlite,duckdb", *option)
    assert done.returncode == 1, done.stderr
    assert "was loaded with other data than" in done.stderr
    assert message in done.stderr, done.stderr
