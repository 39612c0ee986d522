"""The SSD tests on real systems: keys are found, new rows are no duplicates, and the server's own
counters distinguish a narrow range from a wide one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import servers
from able import able_to_run, one_of_each_line
from assay import registry
from assay.judge.run import Run
from commands import IN_MEMORY, Assay, need, run_in


@pytest.mark.parametrize(
    "system",  # Cassandra: test_in_cql.py
    one_of_each_line([one for one in able_to_run("ssd.insert") if one != "cassandra"]),
)
def test_every_row_is_found_by_each_of_its_keys_and_inserts_are_never_duplicates(
    assay: Assay, system: str
) -> None:
    """`select.sql` computes the generated keys, and expects one row; many clients insert into few
    tables."""
    need(system)
    ended = assay(
        "run", "ssd.select-wide,insert", "--on", system, "--set", "tables=3", "--set", "rows=100",
        "--clients", "6", "--warm-up", "0", "--transactions", "40", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    assert [run.test for run in ended.runs] == ["select-wide", "insert"]
    for run in ended.runs:
        assert run.driven is not None
        assert run.driven.outcomes.ok == run.driven.outcomes.scheduled == 240


def test_the_buffer_as_given_is_kept_where_no_ratio_to_the_data_is_asked_for(assay: Assay) -> None:
    """As `cubrid-2010.toml` has it at full size, with the printed buffer of 4 GB."""
    need("postgresql")
    ended = assay(
        "run", "ssd.insert", "--on", "postgresql", "--set", "postgresql.buffer=24MB", "--set",
        "data_to_buffer=0,6", "--set", "tables=2", "--set", "rows=100", "--clients", "2",
        "--warm-up", "0", "--duration", "0.5", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    buffers = {
        run.parameters["data_to_buffer"]: run.data.buffer_bytes for run in ended.runs if run.data
    }
    assert buffers[0] is None, "it was not sized"
    assert buffers[6] is not None and buffers[6] < 24_000_000
    as_given = next(run for run in ended.runs if run.parameters["data_to_buffer"] == 0)
    assert as_given.deployment is not None
    assert as_given.deployment.settings["shared_buffers"] in ("24MB", "3072")


def test_a_server_by_url_keeps_its_buffer_and_the_report_says_so(tmp_path: Path) -> None:
    need("postgresql")
    system = registry.system("postgresql")
    with (
        servers.directory_for_servers() as storage,
        servers.provisioned(system, storage, options={"transport": "tcp"}) as server,
    ):
        ended = run_in(
            tmp_path, "run", "ssd.select-wide", "--on", servers.url_of(system, server), "--set",
            "tables=2", "--set", "rows=100", "--clients", "2", "--warm-up", "0", "--transactions",
            "50", "--records", "r.sqlite", "--format", "json",
        )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    (warning,) = (one for one in document["warnings"] if one["name"] == "buffer-not-sized")
    (detail,) = warning["details"]
    assert "6 times the buffer asked; it has 134 MB, the data are 0.0" in detail


def hit_ratio(run: Run) -> float:
    assert run.driven is not None
    counters = run.driven.server_counters
    return float(counters["buffer_hits"] / (counters["buffer_hits"] + counters["buffer_misses"]))


@pytest.mark.parametrize("system", one_of_each_line(["postgresql", "mariadb", "mysql"]))
def test_server_counters_distinguish_a_narrow_from_a_wide_range(assay: Assay, system: str) -> None:
    need(system)
    ended = assay(
        "run", "ssd.select-narrow,select-wide", "--on", system, "--set", "tables=8", "--set",
        "rows=6000", "--clients", "4", "--warm-up", "1.5", "--duration", "1.5",
        *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    narrow, wide = ended.runs
    assert hit_ratio(narrow) > 0.99
    assert hit_ratio(wide) < hit_ratio(narrow) - 0.03
