"""Whole outputs of commands, kept in `transcripts/`: a changed word is seen in all of them.

They are files of commands with all that each of them writes.

::

    # a remark, also behind the commands
    file one.sql
    | SELECT 1;
    set ASSAY_DATASETS=folder
    $ assay plan one.sql --on null --duration 1_0
    ! error: --duration: expected …
    [2]

``file`` makes a file of the lines that follow, ``set`` sets an environment variable; commands run
in order in one folder, which is written ``FOLDER``. Below a command stands what it wrote without
empty lines, to standard output indented by two blanks, to standard error behind ``!``, and its exit
status. A new command needs only its own line: ``pytest --keep-outputs FILE`` writes the rest, and
``git diff`` shows what has changed.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from assay.cli.program import run_program


class Written(NamedTuple):
    """By a command."""

    status: int
    out: str
    err: str


Run = Callable[[list[str]], Written]


def played(
    text: str, folder: Path, run: Run, set_variable: Callable[[str, str], object]
) -> Iterator[str]:
    """The lines of the transcript, with what its commands write now."""
    lines = text.split("\n")
    while lines:
        line = lines.pop(0)
        if _is_written(line):
            continue
        yield line
        word, _, rest = line.partition(" ")
        if word == "file":
            content = []
            while lines and lines[0].startswith("|"):
                content.append(lines[0][2:])
                yield lines.pop(0)
            path = folder / rest
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{each}\n" for each in content))
        elif word == "set":
            set_variable(*rest.split("=", 1))
        elif word == "$":
            program, *words = shlex.split(rest)
            assert program == "assay", line
            yield from _shown(run(words), folder)
        else:
            assert not word or word == "#", f"no line of a transcript: {line}"


def _is_written(line: str) -> bool:
    return line.startswith(("  ", "!", "["))


def _shown(written: Written, folder: Path) -> Iterator[str]:
    for text, sign in ((written.out, " "), (written.err, "!")):
        for line in filter(None, text.replace(str(folder), "FOLDER").splitlines()):
            yield f"{sign} {line}"
    yield f"[{written.status}]"


KEPT = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))


@pytest.mark.parametrize("kept", KEPT, ids=lambda path: path.stem)
def test_commands_write_what_was_kept(
    kept: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "140")

    def run(words: list[str]) -> Written:
        capfd.readouterr()
        before = {*tmp_path.rglob("*")}
        written = Written(run_program(words), *capfd.readouterr())
        assert written.status != 2 or {*tmp_path.rglob("*")} == before, (
            "what is refused leaves files"
        )
        return written

    before = kept.read_text("utf-8")
    now = "\n".join(played(before, tmp_path, run, monkeypatch.setenv))
    if request.config.getoption("--keep-outputs"):
        kept.write_text(now, "utf-8")
    else:
        assert now == before
