"""Takes the engine's document of the files; reads them once before anything is written or sent, and
says what is wrong with them."""

from __future__ import annotations

import json
import signal
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import structs

from assay.cli.process.outcome import say
from assay.errors import RunFailed
from assay.load.bibsql.bibliography import counted, skipped_text
from assay.load.bibsql.documents import BibDocument, Problems, Scan, ScanDocument
from assay.provision.machine.signals import TERMINATIONS

_SHOWN = 20


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """At once: a pipe without a writer is waited for inside the engine, where no Python
    handler runs, and there is nothing yet to put away."""
    handlers = [signal.signal(number, signal.SIG_DFL) for number in TERMINATIONS]
    try:
        yield
    finally:
        for number, handler in zip(TERMINATIONS, handlers, strict=True):
            signal.signal(number, handler)


def check(source: BibDocument) -> Scan:
    """The engine's `Scan` of the files; raises `InputError` where they are bad. Costs a tenth of
    writing them."""
    from assay import _engine
    from assay.provision.engine.session import raise_as_ours

    document = ScanDocument(
        files=source.files,
        encoding=source.encoding,
        keep_going=source.keep_going,
        strict=source.strict,
    )
    try:
        scan: Scan = json.loads(_engine.bib_scan(document.json))
    except _engine.EngineError as error:
        raise_as_ours(error)
    return scan


def without_entries(source: BibDocument, files: Iterable[str]) -> list[str]:
    """Those of the files in which no entry is good, and something is bad: an update keeps the rows
    that they had. Without ``keep_going`` they are errors."""
    if not source.keep_going:
        return []
    found = []
    with tempfile.NamedTemporaryFile("w", suffix=".bib") as good:
        # Files without any entry are refused together: one entry is always there.
        good.write("@Misc{good, title = {Good}}\n")
        good.flush()
        for file in files:
            # A macro may be defined in another file.
            scan = check(structs.replace(source, files=(good.name, file), strict=False))
            if scan["problems"]["errors"] and scan["entries"] == 1:
                found.append(file)
    return found


def kept_rows_error(files: Iterable[str]) -> RunFailed:
    """What an update ends with that has left such files out."""
    return RunFailed(
        f"no entry can be read, and the rows that are there are kept: {', '.join(files)}",
        hint="correct the errors above, and update again; the other files are done",
    )


def say_problems(
    problems: Problems, given: Collection[str], changed: Iterable[Path] | None = None
) -> None:
    """What was wrong and did not stop the program: the first of it, and how much there is.
    ``given``: the options ``quiet`` and ``all-warnings``. ``changed``: an update names only
    what is wrong with these files; None: with all."""
    if changed is not None:
        problems = _of_files(problems, set(map(str, changed)))
    if "quiet" in given:
        kept = [problem for problem in problems["kept"] if problem["severity"] == "error"]
        problems = {**problems, "kept": kept, "warnings": 0}
    for line in _lines(problems, len(problems["kept"]) if "all-warnings" in given else _SHOWN):
        say(line)


def _of_files(problems: Problems, files: Collection[str]) -> Problems:
    """All of them where the engine has not kept every one: those of the files may be missing."""
    if len(problems["kept"]) < problems["errors"] + problems["warnings"]:
        return problems
    kept = [problem for problem in problems["kept"] if problem["file"] in files]
    errors = sum(problem["severity"] == "error" for problem in kept)
    return {**problems, "kept": kept, "errors": errors, "warnings": len(kept) - errors}


def _lines(problems: Problems, most: int) -> list[str]:
    lines = []
    for problem in problems["kept"][:most]:
        place = ":".join(
            str(part) for part in (problem["file"], problem["line"], problem["column"]) if part
        )
        lines.append(f"{problem['severity']}: {place}: {problem['message']}")
    if not lines:
        return []
    total = f"{counted(problems['errors'], 'error')}, {counted(problems['warnings'], 'warning')}"
    if skipped := skipped_text(problems):
        total += f"; left out: {skipped}"
    if len(lines) < problems["errors"] + problems["warnings"]:
        total += f"; the first {len(lines)} are shown"
        if len(lines) < len(problems["kept"]):
            total += f": --all-warnings shows {len(problems['kept'])}"
    return [*lines, total]
