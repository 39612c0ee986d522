"""Backups, space that is used again, hardware that scales, and servers as columns of a table."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

import pytest

import servers
from able import with_ability
from assay import registry
from assay.contracts.deployment import Address
from assay.contracts.dialects import Reclaims
from assay.contracts.observation import BackupReport, SpaceReuseReport
from assay.errors import RunFailed, SystemRefused
from assay.lab import backup
from assay.report.build import build
from assay.systems.mariadb.system import DUMP
from block_devices import skip_without_devices
from commands import IN_MEMORY, Assay, Ended, need
from programs import need_program
from smaller_workloads import changed_copy
from waiting import HANG_S


def reports(ended: Ended) -> dict[str, BackupReport]:
    found = {}
    for run in ended.runs:
        assert isinstance(run.observation, BackupReport), run.reason
        found[run.observation.way] = run.observation
    return found


def test_a_dump_brings_back_what_was_there(assay: Assay, beebe: Path) -> None:
    need("mysql")
    ended = assay(
        "run", "bibsql.backup", "--on", "mysql", "--bib", beebe / "texbook1.bib",
        "--set", "way=dump", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    assert reports(ended)["dump"].equals_source is True


@pytest.mark.parametrize("system", ["sqlite", "postgresql", "mariadb"])
def test_every_way_brings_back_what_was_there(assay: Assay, beebe: Path, system: str) -> None:
    need(system)
    skip_without_devices("btrfs")
    ended = assay(
        "run", "bibsql.backup", "--on", system, "--storage", "loop[fs=btrfs,size=1G]",
        "--bib", beebe / "texbook1.bib",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    found = reports(ended)
    assert list(found) == ["dump", "cold", "snapshot"]
    for report in found.values():
        assert report.equals_source is True
        assert report.lost_writes == 0
        assert report.tables["bibtab"] == 386
        assert min(report.reads.transactions, report.writes.transactions) > 0
        assert report.size_bytes > 300_000
    compared = assay("compare", "1", "--between", "way=dump,cold", "--format", "json")
    ratios = {one["metric"]: one["ratio"] for one in compared.document["ratios"]}
    dump, cold = found["dump"], found["cold"]
    assert ratios["backup_size_bytes"] == pytest.approx(cold.size_bytes / dump.size_bytes)
    assert ratios["backup_restore_ns"] == pytest.approx(cold.restore_ns / dump.restore_ns)
    assert [one.shares_blocks for one in found.values()] == [False, False, True]


def test_a_snapshot_is_refused_where_files_cannot_share_blocks(assay: Assay, beebe: Path) -> None:
    ended = assay(
        "run", "bibsql.backup", "--on", "sqlite", "--bib", beebe / "texbook1.bib",
        "--set", "way=cold,snapshot", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    cold, snapshot = ended.runs
    assert isinstance(cold.observation, BackupReport)
    assert snapshot.state == "refused"
    assert "has tmpfs, which cannot share blocks between files" in snapshot.reason


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo no such luck >&2; exit 3", "mariadb-dump ended with status 3"),
        ("echo 'SELECT 1;'", "what was restored cannot be read: Table"),
        ('REAL_DUMP "$@" | sed s/TeXbook/TeXbok/', "the restored tables differ"),
    ],
)
def test_a_bad_dump_fails_the_run(
    assay: Assay, beebe: Path, tmp_path: Path, script: str, reason: str
) -> None:
    need("mariadb")
    real = need_program(DUMP)
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "mariadb-dump"
    program.write_text(f"#!/bin/sh\n{script}\n".replace("REAL_DUMP", real))
    program.chmod(0o755)
    ended = assay(
        "run", "bibsql.backup", "--on", "mariadb", "--bib", beebe / "texbook1.bib",
        "--set", "way=dump", *IN_MEMORY, PATH=f"{folder}:{os.environ['PATH']}",
    )  # fmt: skip
    assert ended.status == 1, ended.err
    (run,) = ended.runs
    assert reason in run.reason


def test_what_is_not_flushed_is_no_backup(tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match=r"no backup: .*absent cannot be synced: "):
        backup.flush_folder(tmp_path / "absent")


class Refusing:
    """Sessions whose statements wait, and then are refused."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_sent, self.refuses = threading.Event(), threading.Event()
        monkeypatch.setattr(backup, "session", lambda _: contextlib.nullcontext(self))

    def execute(self, statement: str) -> None:
        del statement
        self.is_sent.set()
        self.refuses.wait(HANG_S)
        raise SystemRefused("no")


def test_a_transaction_without_an_answer_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = Refusing(monkeypatch)
    client = backup.Client("one", str, lambda: Address("null"))
    sessions.is_sent.wait(HANG_S)
    threading.Timer(0.1, sessions.refuses.set).start()
    client.end()
    assert client.answered().transactions == 0


def test_an_internal_error_of_a_client_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    Refusing(monkeypatch)
    client = backup.Client("one", lambda _: str(1 // 0), lambda: Address("null"))
    for noticed in (client.wait_for_answer, client.pause):
        with pytest.raises(ZeroDivisionError):
            noticed()
    client.end()


@pytest.mark.parametrize("system", with_ability(Reclaims))
def test_the_same_rows_come_back_and_reclaiming_makes_files_smaller(
    assay: Assay, system: str
) -> None:
    need(system)
    ended = assay(
        "run", "ssd.space-reuse", "--on", system, "--set", "tables=1", "--set", "rows=2000",
        "--set", "cycles=2", "--no-durability", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    said = " ".join((ended.out + ended.err).split())
    assert "inserted again" in said  # the first look has what was measured, no empty columns
    assert "TPS" not in said
    assert "without a number" not in said
    plain, reclaimed = (run.observation for run in ended.runs)
    for report in (plain, reclaimed):
        assert isinstance(report, SpaceReuseReport)
        assert report.equals_load is True
        assert report.cycles == 2
        assert report.first_ratio == pytest.approx(report.reinserted_bytes / report.loaded_bytes)
    assert isinstance(plain, SpaceReuseReport) and isinstance(reclaimed, SpaceReuseReport)
    compared = assay("compare", "1", "--between", "reclaim", "--format", "json")
    assert compared.status == 0, compared.err
    ratios = {one["metric"]: one for one in compared.document["ratios"]}
    assert ratios["reinserted_bytes"]["is_primary"]
    assert ratios["deleted_bytes"]["ratio"] == pytest.approx(
        reclaimed.deleted_bytes / plain.deleted_bytes
    )
    # Neither logs nor an empty server's files count.
    assert reclaimed.deleted_bytes < plain.loaded_bytes / 2
    assert plain.deleted_bytes >= plain.loaded_bytes, "rows are deleted, files are not"
    if system == "postgresql":
        assert plain.last_ratio > 2, "deleted rows stay until they are vacuumed"
        assert reclaimed.last_ratio < 1.6, "a VACUUM leaves the pages of indexes"
    else:
        assert reclaimed.last_ratio == pytest.approx(1, abs=0.1)


def test_a_system_without_such_statements_is_refused(assay: Assay) -> None:
    ended = assay(
        "run", "ssd.space-reuse", "--on", "duckdb", "--set", "tables=1", "--set", "rows=1000",
        *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    plain, reclaimed = ended.runs
    assert isinstance(plain.observation, SpaceReuseReport)
    assert reclaimed.state == "refused"
    assert "no statement that gives the space of deleted rows back" in reclaimed.reason


FOLDER = Path(registry.__file__).parent / "workloads" / "scalable-hardware"
CHECKS = {path.stem for path in (FOLDER / "checks").iterdir()}
WORDS = (
    "--set", "tuples=1000", "--set", "users=3", "--clients", "2", "--warm-up", "0",
    "--transactions", "60", *IN_MEMORY,
)  # fmt: skip


@pytest.mark.parametrize("system", ["postgresql", "duckdb", "mariadb"])
def test_users_change_their_own_sets(assay: Assay, system: str) -> None:
    need(system)
    ended = assay("run", "scalable-hardware", "--on", system, *WORDS)
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert {check["id"]: check["ok"] for check in run.checks} == dict.fromkeys(CHECKS, True)
    assert run.driven is not None and run.driven.outcomes.ok == 120
    assert {one.name for one in run.driven.transactions} == {
        "look-up", "change", "report", "modify-100", "fetch-100",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("file", "right", "wrong", "found"),
    [
        ("workload.toml", ":users * :tuples", ":tuples", "01-a-set-for-each-user"),
        ("change.sql", "col_signed + 1", "col_signed + 2", "03-changes"),
        ("modify-100.sql", "col_int + 1", "col_int + 2", "04-modifications"),
        ("modify-100.sql", "(:client_id % :users)", "(:client_id + 1)", "05-own-sets"),
    ],
)
def test_a_mistake_is_found(
    assay: Assay, tmp_path: Path, file: str, right: str, wrong: str, found: str
) -> None:
    folder = changed_copy("scalable-hardware", tmp_path, (file, right, wrong))
    ended = assay("run", folder, "--on", "sqlite", *WORDS)
    assert ended.status == 1, ended.err
    (run,) = ended.runs
    wrong_checks = {check["id"] for check in run.checks if check["ok"] is False}
    assert found in {*wrong_checks, *run.reason.split()}


SYSTEM = registry.system("postgresql")


def test_servers_by_url_are_the_columns_of_their_storages(assay: Assay) -> None:
    tcp = {"transport": "tcp"}
    with (
        servers.directory_for_servers() as storage,
        servers.provisioned(SYSTEM, storage, options=tcp) as first,
        servers.provisioned(SYSTEM, storage, options=tcp) as second,
    ):
        on = ",".join(
            f"{servers.url_of(SYSTEM, server)}[storage={name},role={role},rtt={rtt}]"
            for server, name, role, rtt in (
                (first, "hdd", "disk", "20ms"),
                (second, "ssd", "solid-state", "0"),
            )
        )
        ended = assay(
            "run", "cubrid-2010.toml", "--quick", "--only", "insert", "--repetitions", "1",
            "--transactions", "40", "--set", "tables=1", "--set", "rows=100", "--clients", "2",
            "--on", on,
        )  # fmt: skip
    assert ended.status == 0, ended.err
    assert [(run.system_label, run.storage) for run in ended.runs if run.state == "done"] == [
        ("postgresql", "hdd"), ("postgresql", "ssd"),
    ]  # fmt: skip
    assert first.address.password not in ended.out + ended.err
    sections = build(ended.experiment).sections
    tables = {table.name: table for part in sections for table in part.tables}
    own = tables["insert"]
    assert [column.title for column in own.columns] == ["system", "hdd", "ssd", "speed-up"]
    (row,) = own.rows
    hdd, ssd = (cell.number.value for cell in row.cells[1:3] if cell.number)
    assert hdd < ssd  # by the round-trip time
    paper = tables["insert_paper"]
    titles = [column.title for column in paper.columns]
    assert titles[-2:] == ["disk", "SSD"]
    (measured,) = (row for row in paper.rows if row.cells[1].shown.startswith("measured"))
    assert [cell.number.value for cell in measured.cells[-2:] if cell.number] == [hdd, ssd]
