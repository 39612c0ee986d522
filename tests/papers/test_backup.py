"""Backups of real systems: they are made while clients work, restored, and compared."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

import pytest

from assay.contracts.deployment import Address
from assay.contracts.observation import BackupReport
from assay.errors import RunFailed, SystemRefused
from assay.lab.backup import flushing, meanwhile
from assay.systems.mariadb.installation import DUMP
from block_devices import skip_without_devices
from commands import IN_MEMORY, Assay, Ended, need
from programs import need_program


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
        flushing.flush(tmp_path / "absent")


class Refusing:
    """Sessions whose statements wait, and then are refused."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_sent, self.refuses = threading.Event(), threading.Event()
        monkeypatch.setattr(meanwhile, "session", lambda _: contextlib.nullcontext(self))

    def execute(self, statement: str) -> None:
        del statement
        self.is_sent.set()
        self.refuses.wait(10)
        raise SystemRefused("no")


def test_a_transaction_without_an_answer_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = Refusing(monkeypatch)
    client = meanwhile.Client("one", str, lambda: Address("null"))
    sessions.is_sent.wait(10)
    threading.Timer(0.1, sessions.refuses.set).start()
    client.end()
    assert client.answered().transactions == 0


def test_an_internal_error_of_a_client_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    Refusing(monkeypatch)
    client = meanwhile.Client("one", lambda _: str(1 // 0), lambda: Address("null"))
    for noticed in (client.wait_for_answer, client.pause):
        with pytest.raises(ZeroDivisionError):
            noticed()
    client.end()
