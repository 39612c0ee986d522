"""Transcripts: files of commands with all that each of them writes.

::

    # a remark, also behind the commands
    file one.sql
    | SELECT 1;
    set ASSAY_DATASETS=folder
    $ assay plan one.sql --on null --duration 1_0
    ! error: --duration: expected …

    [2]

``file`` makes a file of the lines that follow, ``set`` sets an environment variable; commands run
in order in one folder, which is written ``FOLDER``. Below a command stands what it wrote, to
standard output indented by two blanks, to standard error behind ``!``, and its exit status. A new
command needs only its own line: ``pytest --keep-outputs FILE`` writes the rest, and ``git diff``
shows what has changed.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple


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
        for line in text.replace(str(folder), "FOLDER").splitlines():
            yield f"{sign} {line}" if line or sign == " " else sign
    yield f"[{written.status}]"
