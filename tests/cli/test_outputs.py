"""What commands print: documents with typed values, streams that are full or closed, control
characters, sentences."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import pytest

from assay.cli.output import rows
from assay.cli.program import COMMANDS, command_of, run_program
from assay.errors import ArgumentError
from assay.probe import measure
from assay.record import Store
from assay.storages.loop import LOOP
from assay.text.terminal import indented, visible, visible_lines
from commands import Assay, Ended, run_in

RUN = ("run", "one.sql", "--on", "null,null[protocol=postgresql]", "--transactions", "9")
SCRIPT = "SELECT 1;\nSELECT nothing;\n"
OUTPUTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "run": (RUN[1:],),
    "plan": (RUN[1:], ("tpcb", "--on", "null", "--set", "scale=2", "--duration", "2.5")),
    "report": ((), ("run:latest",)),
    "report --raw": (("run:latest",),),
    "compare": (("latest", "--between", "system"),),
    "trend": (("one.sql",),),
    "check": (("tpcb", "--explain", "--on", "null"),),
    "list": (
        ("systems",), ("workloads",), ("storages",), ("storages", "--detail"), ("runs",),
        ("limits",), ("limits", "bibsql"),
    ),
    "merge": (("--parts",),),
    "measure client": (("--protocol", "none", "--clients", "1", "--duration", "0.2"),),
    "measure storage": (("--probe-seconds", "0.5"),),
    "verify": (("null",),),
    "measure durability": (("--on", "sqlite", "--storage", "loop[fs=ext4,size=64M]"),),
}  # fmt: skip
"""Command → words with which it prints JSON."""
EXACT = 2**53
"""Greater whole numbers are rounded by readers that have doubles only."""
TIMES = re.compile(r"_unix_ns$|\.stages\b")
"""Nanoseconds, of which such a reader loses less than one in a million million."""
OF_A_RECORD = ("report", "report --raw", "compare", "trend", "list")
"""What they print is of an experiment that has been run."""
STORED = ("report --raw",)
"""What a system, a script or a machine said is printed as it was."""
NAMES = re.compile(r"\.group$")
"""Of a single group of clients, empty."""
TEXTS = re.compile(
    r"seed$|version$|\.(machines?|build|installed)\b|default$|values$|options\b|latest_year$"
)
"""Texts that may look like numbers."""


def values(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield from values(one, f"{place}.{key}")
    elif isinstance(value, list):
        for one in value:
            yield from values(one, place)
    else:
        yield place, value


def test_every_command_with_json_is_tried() -> None:
    def has_json(name: str) -> bool:
        command = command_of(name)
        return any(
            isinstance(one.type, click.Choice) and "json" in one.type.choices
            for one in command.params
        )

    served = {"serve delay"}  # prints its address as long as it runs
    tried = {name.removesuffix(" --raw") for name in OUTPUTS}
    assert {name for name in COMMANDS if has_json(name)} == {*tried, *served}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the record of one experiment."""
    folder = tmp_path_factory.mktemp("measured")
    (folder / "one.sql").write_text(SCRIPT)
    ran = run_in(folder, *RUN)
    assert ran.returncode == 0, ran.stderr
    return folder


@pytest.mark.parametrize("name", OUTPUTS)
def test_values_are_typed_and_exact_and_null_if_unknown(
    name: str, assay: Assay, tmp_path: Path, measured: Path
) -> None:
    (tmp_path / "one.sql").write_text(SCRIPT)
    if name == "measure storage" and not measure.is_installed():
        pytest.skip("fio is not installed")
    if name == "measure durability" and LOOP.why_unavailable() is not None:
        pytest.skip("needs root and loop devices")
    wrong = []
    for words in OUTPUTS[name]:
        asked = (*name.split(), *words, "--format", "json")
        is_of_it = name in OF_A_RECORD
        ended = Ended(run_in(measured, *asked), measured) if is_of_it else assay(*asked)
        assert ended.status == 0, ended.err
        for place, value in values(ended.document):
            if isinstance(value, int) and abs(value) >= EXACT and not TIMES.search(place):
                wrong.append(f"{place}: readers round {value}")
            if place.endswith(".seed") and not isinstance(value, str):
                wrong.append(f"{place}: a text elsewhere, here {value!r}")
            if name in STORED or not isinstance(value, str):
                continue
            if value == "" and not NAMES.search(place):
                wrong.append(f"{place}: empty, not null")
            if re.fullmatch(r"-?[\d.,]+( of \d+| ?%)?|-|None", value) and not TEXTS.search(place):
                wrong.append(f"{place}: a number as the text {value!r}")
    assert not wrong, "\n".join(dict.fromkeys(wrong))


ASSAY = "import sys; from assay.cli import main; sys.argv[0] = 'assay'; main()"
THREE_TRANSACTIONS = "run one.sql --on null --transactions 3"
FULL = "standard output: No space left on device"
CLOSED = "standard output is closed"


def shell(words: str, streams: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs `assay` with these arguments and redirections in a shell."""
    (folder / "one.sql").write_text("SELECT 1;\n")
    line = f'"{sys.executable}" -c "$ASSAY" {words} {streams}'
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"],
        cwd=folder,
        env={**os.environ, "ASSAY": ASSAY, "ASSAY_STATE_DIRECTORY": str(folder / "state")},
        capture_output=True,
        text=True,
    )


def states(folder: Path) -> list[str]:
    with Store(folder / "assay-records.sqlite", must_exist=True) as store:
        return [run.state for run in store.runs()]


@pytest.mark.parametrize(
    ("words", "streams", "status", "message"),
    [
        ("--help", ">/dev/full", 3, FULL),
        ("list storages", ">&-", 2, CLOSED),
        ("check --explain one.sql --on null --format json", ">/dev/full", 3, FULL),
    ],
)
def test_output_that_cannot_be_written_is_reported(
    words: str, streams: str, status: int, message: str, tmp_path: Path
) -> None:
    ended = shell(words, streams, tmp_path)
    assert (ended.returncode, message in ended.stderr) == (status, True), ended.stderr
    assert "bug" not in ended.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_cut_off_by_a_full_device_is_reported(unbuffered: str, tmp_path: Path) -> None:
    """A limit of the size of files cuts a text off as a full file system does: its first part is
    written, and that is no error."""
    limited = f'(ulimit -f 4; PYTHONUNBUFFERED={unbuffered} "{sys.executable}" -c "$ASSAY"'
    ended = subprocess.run(
        ["bash", "-c", f"{limited} schema experiment) > cut.json"],
        cwd=tmp_path,
        env={**os.environ, "ASSAY": ASSAY},
        capture_output=True,
        text=True,
    )
    assert (tmp_path / "cut.json").stat().st_size == 4096
    assert (ended.returncode, "standard output: File too large" in ended.stderr) == (3, True)


def test_rows_and_scripts_stop_at_a_closed_pipe(tmp_path: Path) -> None:
    bib = tmp_path / "many.bib"
    bib.write_text("".join(f"@book{{k{n}, title = {{T {n}}}, year = 2000}}\n" for n in range(3000)))
    many = "generate tpcb --table pgbench_accounts --set scale=20"
    assert shell(many, "| head -1", tmp_path).returncode == 0
    to_sql = "from assay.cli.bibsql.bibtosql import main; main()"
    for streams, status, message in (("| head -1", 0, ""), (">/dev/full", 3, FULL)):
        ended = subprocess.run(
            ["bash", "-c", f'set -o pipefail; "{sys.executable}" -c "{to_sql}" {bib} {streams}'],
            capture_output=True,
            text=True,
        )
        assert (ended.returncode, message in ended.stderr) == (status, True), ended.stderr


@pytest.mark.parametrize(
    ("streams", "status"), [(">/dev/full", 3), (">&-", 2), ("| head -1 >/dev/null", 0)]
)
def test_measurements_are_kept_when_the_report_cannot_be_written(
    streams: str, status: int, tmp_path: Path
) -> None:
    ended = shell(THREE_TRANSACTIONS, streams, tmp_path)
    assert ended.returncode == status, ended.stderr
    assert "kept in assay-records.sqlite as experiment 1" in ended.stderr
    assert states(tmp_path) == ["done"]


def test_a_failed_run_keeps_its_status_with_a_closed_pipe(tmp_path: Path) -> None:
    words = THREE_TRANSACTIONS.replace("--on null", "--on null[fail=data@1]")
    ended = shell(words, "| true", tmp_path)
    assert (ended.returncode, states(tmp_path)) == (1, ["failed"]), ended.stderr


@pytest.mark.parametrize("streams", ["2>&-", "2>/dev/full", "2>&- <&-"])
def test_without_standard_error_the_output_is_only_data(streams: str, tmp_path: Path) -> None:
    ended = shell(f"{THREE_TRANSACTIONS} --format json", streams, tmp_path)
    assert ended.returncode == 0
    assert json.loads(ended.stdout)["experiment"]["id"] == 1
    assert states(tmp_path) == ["done"]


def test_a_wrong_argument_without_any_stream_has_its_status(tmp_path: Path) -> None:
    assert shell("rnu", ">&- 2>&- <&-", tmp_path).returncode == 2


def test_an_error_in_the_data_names_script_line_and_statement(tmp_path: Path) -> None:
    (tmp_path / "twice.sql").write_text(
        "CREATE TABLE IF NOT EXISTS t (a int PRIMARY KEY);\nINSERT INTO t VALUES (1);\n"
    )
    ended = run_in(tmp_path, "run", "twice.sql", "--transactions", "2", "--on", "sqlite")
    said = " ".join(ended.stdout.split())
    assert "constraint: twice.sql, line 2: UNIQUE constraint failed: t.a; statement: INSERT" in said


def test_rows_after_copy_are_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "copy.sql").write_text("COPY t FROM STDIN;\n1\n\\.\n")
    ended = run_in(tmp_path, "run", "copy.sql", "--transactions", "2", "--on", "sqlite")
    assert ended.returncode == 2
    assert "copy.sql:3:1" in ended.stderr and "write INSERT statements" in ended.stderr


HOSTILE = "\x1b]0;owned\x07\x1b[31mred\x9b2J\r\u202egnp.\u2028\U000e0041"
CONTROL = re.compile("[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2028\U000e0041]")
SEQUENCE = re.compile(r"\x1b\]|\x1b\[(?:31m|2J)")


def test_control_characters_are_shown_as_json_escapes_them() -> None:
    assert visible("a\x1b[31m\u202eb\n") == "a\\u001b[31m\\u202eb\\u000a"
    assert visible_lines("a\r\nb\x85") == "a\nb\\u0085"
    assert indented("server: no\nhint: trust me") == "server: no\n    hint: trust me"
    assert json.loads(f'"{visible(HOSTILE)}"') == HOSTILE
    for letters in ("größer", "日本語", "👩‍👩‍👧", "עברית", "a\u00adb"):
        assert visible(letters) == letters


@pytest.mark.parametrize("form", ["table", "markdown", "json"])
def test_a_list_is_safe_and_json_keeps_the_data(form: str) -> None:
    stream = io.StringIO()
    rows.write([{"name": f"{HOSTILE}\nx"}], ("name",), form, stream)
    text = stream.getvalue()
    assert not CONTROL.search(text) and "\x1b" not in text
    if form == "json":
        assert json.loads(text) == [{"name": f"{HOSTILE}\nx"}]
    else:
        assert text.count("\n") == {"table": 2, "markdown": 3}[form]


@pytest.mark.parametrize(
    "words",
    [
        ["run", "--transactions", "1", "--on", f"oracel{HOSTILE}"],
        ["run", "--transactions", "1", "--on", "null"],
        ["check", "--explain", "--on", "null"],
    ],
)
def test_a_script_with_a_hostile_name_and_text_shows_both_harmless(
    words: list[str], tmp_path: Path
) -> None:
    script = tmp_path / f"{HOSTILE}.sql"
    script.write_text(f"SELECT '{HOSTILE}';\n")
    program = "import sys; from assay.cli import main; main()"
    here, there = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", program, words[0], script.name, *words[1:]],
        cwd=tmp_path,
        env={**os.environ, "TERM": "xterm", "ASSAY_STATE_DIRECTORY": str(tmp_path / "state")},
        stdin=subprocess.DEVNULL,
        stdout=there,
        stderr=there,
    )
    os.close(there)
    seen = b""
    while True:
        try:
            piece = os.read(here, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        seen += piece
    os.close(here)
    process.wait()
    text = seen.decode().replace("\r\n", "\n").replace("\r", "")
    assert "owned" in text
    assert not SEQUENCE.search(text)
    assert not CONTROL.search(text), CONTROL.search(text)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    Path("one.sql").write_text("SELECT 1;\n")


def test_a_record_of_an_unknown_version_is_refused_in_words(
    capfd: pytest.CaptureFixture[str],
) -> None:
    words = ["run", "one.sql", "--on", "null", "--transactions", "1", "--records", "old"]
    assert run_program(words) == 0
    with closing(sqlite3.connect("old")) as record:
        record.execute("PRAGMA user_version = 0")
    capfd.readouterr()
    assert run_program(words) == 2
    said = capfd.readouterr().err
    assert "version (user_version) is 0" in said
    assert not any(word in said for word in ("rollback", "already exists", "bug"))


def test_errors_of_the_system_are_sentences_without_numbers() -> None:
    assert ArgumentError("[Errno 2] No such file: 'x'").message == "No such file: 'x'"
    assert ArgumentError("bind: Address in use (os error 98)").message == "bind: Address in use"
