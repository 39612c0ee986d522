"""What the Tab key completes from a record file: tests, and factors that can be compared."""

from __future__ import annotations

from pathlib import Path

import pytest

import invented_records as invented
from assay.cli.commands.completion import suggestions
from assay.cli.program import group


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Two systems with one and two clients."""
    systems = [invented.SQLITE, invented.POSTGRESQL]
    planned = invented.plan(systems, clients=(1, 2))
    elapsed = {(one.name, "here", count): (1.0,) for one in systems for count in (1, 2)}
    path = tmp_path / "found.sqlite"
    invented.experiment(path, planned, elapsed)
    return path


def values(line: str) -> list[str]:
    return [value for value, _ in suggestions(group, line, "")]


def test_the_tests_of_a_record_are_completed(record: Path) -> None:
    assert values(f"assay trend --records {record} ") == ["bibsql", "bibsql.parallel"]
    assert values(f"assay trend --records {record} bibsql.") == ["bibsql.parallel"]


def test_factors_with_several_levels_and_their_levels_are_completed(record: Path) -> None:
    line = f"assay compare --records {record} 1 --between "
    assert values(line) == ["system", "clients"]
    assert values(f"{line}clients=") == ["clients=1", "clients=2"]
    assert values(f"{line}clients=1,") == ["clients=1,2"]


def test_without_a_record_nothing_is_completed_and_nothing_fails(tmp_path: Path) -> None:
    for words in ("trend", "compare 1 --between", "compare --between"):
        command, _, rest = words.partition(" ")
        assert values(f"assay {command} --records {tmp_path / 'no.sqlite'} {rest} ") == []
