"""When two experiments have one cell, where the programs of a server say what a setting means. The
other rows are in `tests/unit/plan/test_identity.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import ArgumentError
from identities import SAME, Other, Refused, identities, names_of


def _pg(settings: str) -> str:
    return f"s.sql --on 'postgresql[{settings}]'"


def _duck(settings: str) -> str:
    return f"s.sql --on 'duckdb[{settings}]'"


def _ferret(settings: str) -> str:
    return f"f.json --on 'ferretdb[{settings}]'"


def _cassandra(settings: str) -> str:
    return f"s.cql --on 'cassandra[{settings}]'"


def _maria(settings: str) -> str:
    return f"s.sql --on 'mariadb[{settings}]'"


ROWS: dict[str, tuple[str, str, type[SAME] | Other | Refused]] = {
    "sizes": (_pg("work_mem=16MB"), _pg("work_mem=16384kB"), SAME),
    "a size without a unit": (_pg("work_mem=16MB"), _pg("work_mem=16384"), SAME),
    "a size in pages": (_pg("shared_buffers=64MB"), _pg("shared_buffers=8192"), SAME),
    "a time": (_pg("checkpoint_timeout=10min"), _pg("checkpoint_timeout=600"), SAME),
    "truth": (_pg("jit=off"), _pg("jit=FALSE"), SAME),
    "a name in another case": (_pg("work_mem=16MB"), _pg("Work_Mem=16MB"), SAME),
    "a number with places": (_pg("random_page_cost=2"), _pg("random_page_cost=2.0"), SAME),
    "defaults": (
        "s.sql --on postgresql",
        _pg("shared_buffers=128MB,fsync=on,checkpoint_timeout=300s,jit=1"), SAME),
    "no default, since Assay chooses it": (
        "s.sql --on postgresql", _pg("max_connections=100"), Other()),
    "no default": ("s.sql --on postgresql", _pg("jit=off"), Other(
        "postgresql", "postgresql jit=off")),
    "a value with a space": (
        _pg("application_name=x,work_mem=8MB"), _pg('application_name="x work_mem=8MB"'), Other(
            "postgresql application_name=x work_mem=8MB",
            'postgresql application_name="x work_mem=8MB"')),
    "two spellings of one level": (
        "s.sql --on postgresql --set postgresql.work_mem=16MB,16384kB", "", Refused("twice")),
    "a default beside nothing": (
        "s.sql --on postgresql,postgresql[jit=on]", "", Refused("twice")),
    "two spellings of one name": (_pg("work_mem=8MB,WORK_MEM=16MB"), "", Refused("once")),
    "MariaDB: sizes": (
        _maria("innodb_buffer_pool_size=64M"), _maria("innodb-buffer-pool-size=65536K"), SAME),
    "MariaDB: truth": (_maria("slow_query_log=ON"), _maria("slow_query_log=true"), SAME),
    "MariaDB: defaults": (
        "s.sql --on mariadb", _maria("innodb_buffer_pool_size=134217728,slow_query_log=0"), SAME),
    "MariaDB: what Assay has otherwise than the server": (
        "s.sql --on mariadb", _maria("innodb_buffer_pool_load_at_startup=ON"), Other()),
    "DuckDB: truth": (_duck("preserve_insertion_order=false"), _duck(
        "Preserve_Insertion_Order=0"), SAME),
    "DuckDB: defaults": ("s.sql --on duckdb", _duck("preserve_insertion_order=true"), SAME),
    "DuckDB: sizes": (_duck("memory_limit=1GiB"), _duck("max_memory=1024MiB"), SAME),
    "DuckDB: sizes that it shows alike": (
        _duck("memory_limit=1000MB"), _duck("memory_limit=1000.01MB"), Other()),
    "DuckDB: what the session has": (
        "s.sql --on duckdb", _duck("enable_progress_bar=true"), Other()),
    "FerretDB: those of PostgreSQL": (
        _ferret("work_mem=16MB,jit=OFF"), _ferret("Work_Mem=16384kB,jit=false"), SAME),
    "Cassandra: sizes": (
        _cassandra("commitlog_segment_size=32MiB"), _cassandra("commitlog_segment_size=32768KiB"),
        SAME),
    "Cassandra: what Assay has": (
        "s.cql --on cassandra", _cassandra("commitlog_sync=PERIODIC,read_request_timeout=1m"),
        SAME),
    "Cassandra: what Assay has otherwise than the server": (
        "s.cql --on cassandra", _cassandra("auto_snapshot=true"), Other()),
    "a profile's setting said again": (
        "s.sql --on postgresql --set postgresql.profile=tuned",
        "s.sql --on postgresql --set postgresql.profile=tuned "
        "--set postgresql.checkpoint_timeout=1800s", SAME),
    "another than the profile's": (
        "s.sql --on postgresql --set postgresql.profile=tuned",
        "s.sql --on postgresql --set postgresql.profile=tuned "
        "--set postgresql.checkpoint_timeout=1801s", Other()),
    "MariaDB: what Assay has": (
        "s.sql --on mariadb", _maria("innodb_buffer_pool_load_at_startup=0"), SAME),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS)
def test_two_experiments_have_one_cell_or_two(
    row: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.sql").write_text("select 1\n")
    Path("s.cql").write_text("select now() from system.local\n")
    Path("f.json").write_text('{"ping": 1}\n')
    a, b, expected = ROWS[row]
    if isinstance(expected, Refused):
        with pytest.raises(ArgumentError) as refused:
            identities(a)
        assert expected.by in f"{refused.value.message} {refused.value.hint}"
        return
    of_a, of_b = identities(a), identities(b)
    if expected is SAME:
        assert of_a.seeds_of_cells.items() == of_b.seeds_of_cells.items()
        return
    assert isinstance(expected, Other)
    assert not set(of_a.seeds_of_cells) & set(of_b.seeds_of_cells)
    if expected.names:
        assert names_of(of_a, of_b) == list(expected.names)
