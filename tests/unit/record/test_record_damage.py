"""A record that is damaged or on a full disk: a message with the fix, never an internal error."""

from __future__ import annotations

import json
import resource
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import invented_records as invented
from assay.cli.program import run_program
from assay.errors import ArgumentError, SystemUnderTestError
from assay.record import Store
from shown_report import kept_record


def sql(*statements: str) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        connection = sqlite3.connect(path)
        for statement in ("PRAGMA foreign_keys = OFF", *statements):
            connection.execute(statement)
        connection.commit()
        connection.close()

    return damage


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:9000])


def garbage(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 64)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "cut": (cut, "malformed"),
    "garbage": (garbage, "not a database"),
    "folder": (folder, "is a directory"),
    "newer": (sql("PRAGMA user_version = 99"), "a newer Assay wrote this record file"),
    "another": (sql("PRAGMA application_id = 7"), "another program's SQLite file"),
    "no table": (sql("DROP TABLE runs"), "damaged"),
    "no JSON": (sql("UPDATE runs SET cell = 'x'"), "damaged"),
    "bytes": (sql("UPDATE runs SET system_label = x'FF00'"), "system_label is no text, but blob"),
    "text": (sql("UPDATE runs SET clients = 'x'"), "clients is no integer, but text"),
    "no owner": (sql("DELETE FROM experiments"), "belongs to none of experiments"),
    "of a run": (sql("UPDATE stages SET begun_unix_ns = 'x'"), "begun_unix_ns is no integer"),
    "no text": (sql("UPDATE runs SET cell = CAST(x'FF' AS TEXT)"), "damaged"),
}  # fmt: skip


def fill(store: Store) -> None:
    planned = invented.plan([invented.POSTGRESQL])
    store.begin_experiment(planned.experiment, planned, invented.FACTS)
    invented.write_run(store, planned.runs[0], 3 * invented.S)
    store.end_experiment()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("records") / "sound.sqlite"
    with Store(path) as store:
        fill(store)
    return path


@pytest.mark.parametrize("words", ["report", "list runs", "report run:1", "merge"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_record_is_named_with_a_fix(
    damage: str, words: str, sound: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, target = tmp_path / "damaged.sqlite", tmp_path / "target.sqlite"
    shutil.copy(sound, path)
    spoil, expected = DAMAGES[damage]
    spoil(path)
    if words == "merge":
        assert run_program(["merge", str(path), "--records", str(target)]) == 2
        assert not target.exists()
    elif words == "list runs" and damage == "of a run":
        assert run_program(["list", "runs", "--records", str(path)]) == 0
        return  # which reads no stages
    else:
        assert run_program([*words.split(), "--records", str(path)]) == 2
    message = capsys.readouterr().err
    assert expected in message and str(path) in message
    assert "hint: " in message and "bug" not in message


@pytest.mark.parametrize("words", ["list runs", "trend"])
@pytest.mark.parametrize(
    ("table", "wrong"),
    [
        ("runs", "cell = 'x' WHERE id = 2"),
        ("runs", "clients = 'x' WHERE id = 2"),
        ("stages", "begun_unix_ns = 'x' WHERE run_id = 2"),
    ],
)
def test_a_damaged_run_is_named_and_the_others_are_shown(
    table: str, wrong: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "r.sqlite"
    with Store(path) as store:
        for _ in range(3):
            fill(store)
    sql(f"UPDATE {table} SET {wrong}")(path)
    status = run_program([*words.split(), "--records", str(path), "--format", "json"])
    shown = capsys.readouterr()
    if words == "list runs":
        of_runs = [one["run"] for one in json.loads(shown.out)]
    else:
        of_runs = [point["experiment"] for point in json.loads(shown.out)["points"]]
    is_read = words == "list runs" and table == "stages"
    assert of_runs == ([1, 2, 3] if is_read else [1, 3])
    assert status == (0 if is_read else 2)
    assert (f"error: {path}: this record file is damaged: run 2: " in shown.err) is not is_read


@pytest.mark.parametrize("words", ["run one.sql --on null --transactions 1", "merge sound.sqlite"])
def test_runs_whose_experiment_is_lost_do_not_become_those_of_another(
    words: str,
    sound: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.sql").write_text("SELECT 1;\n")
    for name in ("sound.sqlite", "damaged.sqlite"):
        shutil.copy(sound, name)
    sql("DELETE FROM experiments")(Path("damaged.sqlite"))
    before = Path("damaged.sqlite").read_bytes()
    assert run_program([*words.split(), "--records", "damaged.sqlite"]) == 2
    assert "damaged: row 1 of runs belongs to none of experiments" in capsys.readouterr().err
    assert Path("damaged.sqlite").read_bytes() == before


def test_a_full_disk_is_reported_and_the_record_kept(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "full.sqlite"
    shutil.copy(sound, path)
    with Store(path) as store:
        before = store.runs()
        connection = store._write().connection
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(SystemUnderTestError, match="the disk is full") as full:
            for _ in range(50):
                fill(store)
        assert "free space" in str(full.value.hint)
        store._run_id = store._experiment_id = None
        assert store.runs()[: len(before)] == before
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


@pytest.mark.parametrize("limit_bytes", [40_000, None], ids=["tables", "experiment"])
def test_a_limit_on_the_size_of_files_is_named(
    limit_bytes: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whether the tables of a new record cannot be written, or an experiment."""
    path, before = tmp_path / "r.sqlite", resource.getrlimit(resource.RLIMIT_FSIZE)
    if limit_bytes is None:
        with Store(path):
            pass
        limit_bytes = path.stat().st_size // 2  # of each file: the log of the record grows to it
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, before[1]))
    try:
        status = run_program(
            [
                "run", "tpcb", "--on", "null", "--warm-up", "0", "--transactions", "1", "--records",
                str(path),
            ]
        )  # fmt: skip
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    message = capsys.readouterr().err
    assert status == 3, message
    assert f"{path}: the record could not be written" in message
    assert "ulimit -f unlimited" in message


def test_an_impossible_run_number_is_refused(
    sound: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["report", "run:" + "9" * 5000], ["report", "9" * 5000]):
        assert run_program([*words, "--records", str(sound)]) == 2
        assert "bug" not in capsys.readouterr().err


def _damaged(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The document with another value at that path."""
    if not path:
        return value
    changed = dict(document) if isinstance(document, dict) else list(document)
    changed[path[0]] = _damaged(document[path[0]], path[1:], value)
    return changed


def _paths(document: Any, depth: int) -> Iterator[tuple[Any, ...]]:
    """The document itself and the values in it; of a list the first."""
    yield ()
    if depth and isinstance(document, dict):
        for key, value in document.items():
            yield from ((key, *path) for path in _paths(value, depth - 1))
    elif depth and isinstance(document, list) and document:
        yield from ((0, *path) for path in _paths(document[0], depth - 1))


DOCUMENTS = {
    "observations": "document", "deployments": "document", "datasets": "document",
    "checks": "document", "drives": "document", "experiments": "workload_facts", "runs": "cell",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("table", DOCUMENTS)
def test_valid_json_of_a_wrong_shape_is_reported(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Either the report is made, or the wrong document is named."""
    path, column = tmp_path / "r.sqlite", DOCUMENTS[table]
    kept_record(path)
    with Store(path):  # upgrades it, once
        pass
    connection = sqlite3.connect(path, isolation_level=None)
    key = "id" if table in ("experiments", "runs") else "run_id"
    number = 13 if table == "experiments" else 26
    question = f"SELECT {column} FROM {table} WHERE {key} = ?"
    document = json.loads(connection.execute(question, (number,)).fetchone()[0])
    message, failed = set(), []
    for place in _paths(document, 2):
        for wrong in ([], -1):
            text = json.dumps(_damaged(document, place, wrong))
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (text, number))
            status = run_program(["report", "14", "--records", str(path)])
            errors = capsys.readouterr().err
            if status not in (0, 2):
                failed.append(f"{place} = {wrong!r}: {errors.splitlines()[0]}")
            message.add(errors.partition(":")[0])
    connection.close()
    assert not failed, "\n".join(failed)
    assert message <= {"", "error"}


def _every_97th_byte(data: bytearray, first: int, last: int) -> None:
    for place in range(first, min(last, len(data)), 97):
        data[place] ^= 255


def _block(data: bytearray, first: int, last: int) -> None:
    data[first:last] = b"\xba" * (min(last, len(data)) - first)


@pytest.mark.slow
def test_damaged_bytes_are_never_an_internal_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Wherever they are: of SQLite's own messages, some are not UTF-8 then."""
    sound = kept_record(tmp_path / "sound.sqlite").read_bytes()
    path, bad = tmp_path / "r.sqlite", []
    refused = 0
    for damage in (_every_97th_byte, _block):
        for first in (100, 4000, 8192, 40_000, 100_000, 200_000):
            data = bytearray(sound)
            damage(data, first, first + (50_000 if damage is _every_97th_byte else 3000))
            for words in ("list runs", "report run:3 --raw", "report 3", "merge", "write"):
                path.write_bytes(data)
                if words == "merge":
                    new = tmp_path / "new.sqlite"
                    status = run_program(["merge", str(path), "--records", str(new)])
                    if status and new.exists():
                        bad.append(f"{damage.__name__} from {first}: a new file was left")
                    new.unlink(missing_ok=True)
                elif words == "write":
                    try:
                        with Store(path) as store:
                            fill(store)
                    except ArgumentError as error:
                        status = error.exit_code
                        print(error.message, file=sys.stderr)
                    else:
                        status = 0
                else:
                    status = run_program([*words.split(), "--records", str(path)])
                message = capsys.readouterr().err
                refused += status == 2
                if status not in (0, 2) or (status and str(path) not in message):
                    bad.append(f"{damage.__name__} from {first}, {words}: {status} {message}")
                if '{"' in message:
                    bad.append(f"content of the file in {message}")
    assert not bad, "\n".join(bad)
    assert refused > 20


def test_a_damaged_source_of_a_merge_is_named_and_nothing_is_written(
    tmp_path: Path, sound: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where the rows that are read are whole, and only an index is damaged."""
    source, target = tmp_path / "source.sqlite", tmp_path / "target.sqlite"
    shutil.copy(sound, source)
    connection = sqlite3.connect(source)
    (page,) = connection.execute(
        "SELECT rootpage FROM sqlite_master WHERE name = 'runs_by_cell'"
    ).fetchone()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    data = bytearray(source.read_bytes())
    data[page * 4096 - 60 : page * 4096 - 20] = b"0" * 40
    source.write_bytes(data)
    for is_new in (True, False):
        if not is_new:
            shutil.copy(sound, target)
        assert run_program(["merge", str(source), "--records", str(target)]) == 2
        message = capsys.readouterr().err
        assert f"{source}: this record file is damaged: " in message
        assert str(target) not in message
        assert "***" not in message
        assert target.exists() is not is_new


def test_a_run_whose_process_was_killed_is_merged_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "source.sqlite", tmp_path / "target.sqlite"
    with Store(source) as store:
        fill(store)
    connection = sqlite3.connect(source)
    connection.execute("UPDATE runs SET ended_unix_ns = NULL, state = 'driving', reason = ''")
    connection.commit()
    connection.close()
    merged = []
    for _ in range(2):
        assert run_program(["merge", str(source), "--records", str(target)]) == 0
        merged.append(capsys.readouterr().err)
    assert merged[0].startswith("added 1 run")
    assert merged[1] == f"{target} has everything that {source} holds\n"
