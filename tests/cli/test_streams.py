"""Output streams that are full, closed or without a reader lose no measurement and no message."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.record import Store

ASSAY = "import sys; from assay.cli import main; sys.argv[0] = 'assay'; main()"
RUN = "run one.sql --on null --transactions 3"
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
        ("explain one.sql --on null --format json", ">/dev/full", 3, FULL),
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
    ended = shell(RUN, streams, tmp_path)
    assert ended.returncode == status, ended.stderr
    assert "kept in assay-records.sqlite as experiment 1" in ended.stderr
    assert states(tmp_path) == ["done"]


def test_a_failed_run_keeps_its_status_with_a_closed_pipe(tmp_path: Path) -> None:
    ended = shell(f"{RUN.replace('--on null', '--on null[fail=data@1]')}", "| true", tmp_path)
    assert (ended.returncode, states(tmp_path)) == (1, ["failed"]), ended.stderr


@pytest.mark.parametrize("streams", ["2>&-", "2>/dev/full", "2>&- <&-"])
def test_without_standard_error_the_output_is_only_data(streams: str, tmp_path: Path) -> None:
    ended = shell(f"{RUN} --format json", streams, tmp_path)
    assert ended.returncode == 0
    assert json.loads(ended.stdout)["experiment"]["id"] == 1
    assert states(tmp_path) == ["done"]


def test_a_wrong_argument_without_any_stream_has_its_status(tmp_path: Path) -> None:
    assert shell("rnu", ">&- 2>&- <&-", tmp_path).returncode == 2
