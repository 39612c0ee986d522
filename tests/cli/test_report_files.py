"""`assay report --output` and `--charts`: files that are whole, and never replaced unasked."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli.options import shared_options
from assay.cli.process import written_files
from assay.cli.program import run_program
from assay.errors import SystemUnderTestError

RUN = ["run", "one.sql", "--on", "null", "--clients", "2", "--duration", "6",
       "--think-time", "constant:2ms"]  # fmt: skip
NO_PROBES = ["--no-probe", "--no-durability"]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("one.sql").write_text("select 1;\n", encoding="utf-8")
        assert run_program([*RUN, *NO_PROBES, "--format", "csv"]) == 0
    return folder


@pytest.fixture
def here(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(recorded)
    return recorded


def test_a_command_that_is_printed_can_be_typed_with_any_path() -> None:
    assert shared_options.of_records(Path("my records/r")) == " --records 'my records/r'"


def test_a_page_is_written_to_a_file_that_is_replaced_only_with_force(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["report", "--format", "html", "--output", "page.html"]
    assert run_program(words) == 0
    out, said = capsys.readouterr()
    assert out == "" and said == "written to page.html\n"
    page = (here / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and page.endswith("</body></html>\n")
    assert run_program(words) == 2
    assert "already exists" in capsys.readouterr().err
    assert run_program([*words, "--force"]) == 0


@pytest.mark.usefixtures("here")
def test_a_page_is_not_written_to_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for words in (["report"], [*RUN[:2], "--on", "null", "--duration", "1"]):
        assert run_program([*words, "--format", "html"]) == 2
        out, said = capsys.readouterr()
        assert out == "" and "expected a file for --format html, found a terminal" in said
        assert "--output report.html" in said


def test_charts_are_written_as_svg_and_png(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["report", "--charts", "pictures"]) == 0
    assert " charts in pictures" in capsys.readouterr().err
    files = {path.name for path in (here / "pictures").iterdir()}
    assert {name.rpartition(".")[0] + end for name in files for end in (".svg", ".png")} == files
    assert any("timeline" in name for name in files)
    assert run_program(["report", "--charts", "pictures"]) == 2
    assert "--force" in capsys.readouterr().err


def test_charts_that_cannot_be_written_leave_nothing(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written, write = [], written_files.write

    def until_full(file: Path, content: bytes, *, force: bool) -> None:
        if len(written) == 3:
            raise SystemUnderTestError(f"{file}: cannot be written: No space left on device")
        write(file, content, force=force)
        written.append(file)

    monkeypatch.setattr(written_files, "write", until_full)
    (here / "kept").mkdir()
    for folder in ("full", "kept"):
        written.clear()
        assert run_program(["report", "--charts", folder]) == 3
        assert "No space left" in capsys.readouterr().err and len(written) == 3
    assert not (here / "full").exists()
    assert list((here / "kept").iterdir()) == []


@pytest.mark.usefixtures("here")
def test_force_alone_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["report", "--force"]) == 2
    assert "--output or --charts" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["assay-records.sqlite", "link", "other", "assay-records.sqlite-wal"]
)
def test_no_output_replaces_a_record_file(
    here: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    record = here / "assay-records.sqlite"
    (here / "other").write_bytes(record.read_bytes())
    (here / "link").unlink(missing_ok=True)
    (here / "link").symlink_to(record.name)
    before = record.read_bytes()
    for words in (["report"], ["generate", "tpcb", "--table", "pgbench_branches"]):
        assert run_program([*words, "--output", name, "--force"]) == 2
        assert "is a record file" in capsys.readouterr().err
    assert record.read_bytes() == before == (here / "other").read_bytes()


@pytest.mark.usefixtures("here")
def test_a_hyphen_and_a_pipe_are_standard_output() -> None:
    assay = [str(Path(sys.executable).with_name("assay"))]
    for file in ("-", "/dev/stdout"):
        words = [*assay, "report", "--format", "json", "--output", file]
        found = subprocess.run(words, capture_output=True, text=True, check=False)
        assert found.returncode == 0, found.stderr
        assert json.loads(found.stdout)["version"]
        assert not Path("-").exists()


def test_formats_for_programs_are_utf_8_in_any_locale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("häß.sql").write_text("select 1;\n", encoding="utf-8")
    assert run_program(["run", "häß.sql", "--on", "null", "--duration", "1", *NO_PROBES]) == 0
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    assay = [str(Path(sys.executable).with_name("assay"))]
    for command in (["report"], ["list", "runs"]):
        words = [*assay, *command, "--format", "json"]
        found = subprocess.run(words, capture_output=True, check=False)
        assert found.returncode == 0, found.stderr
        assert "häß" in found.stdout.decode("utf-8")
