"""Takes a form of a report and where it is to go; writes it there, or says what that needs. No
file that a command writes replaces a record file."""

from __future__ import annotations

import contextlib
import gc
import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from assay import registry
from assay.errors import ArgumentError, InputError
from assay.record.file.schema import insist_on_no_record
from assay.report.values import Report
from assay.text import output_file

STANDARD_OUTPUT = "-"
"""In place of the name of a file."""


@contextlib.contextmanager
def said_meanwhile(text: str) -> Iterator[None]:
    """On a terminal the text stands on standard error while the block runs, and is gone after
    it."""
    is_shown = sys.stderr.isatty()
    if is_shown:
        sys.stderr.write(text)
        sys.stderr.flush()
    try:
        yield
    finally:
        if is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


@contextlib.contextmanager
def without_garbage_collection() -> Iterator[None]:
    """For the block. A report is a tree of many small values that refer to none above them: looking
    for circles in it takes 40 % of the time of a long one, and frees nothing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # else the collector looks through all of it once, as soon as it works again
        if was_enabled:
            gc.enable()


def insist_on_readable(form: str, output: str | None = None, hint: str = "") -> None:
    """Raises `ArgumentError` where a page would be written to a terminal. ``hint``: how to write it
    to a file; empty: as a report."""
    if output not in (None, STANDARD_OUTPUT) or not sys.stdout.isatty():
        return
    if not getattr(registry.report_form(form), "is_for_terminals", True):
        raise ArgumentError(
            f"expected a file for --format {form}, found a terminal",
            hint=hint or f"assay report --format {form} --output report.{form}",
        )


def write(
    report: Report, form: str, detail: bool | None, output: str | None, *, force: bool
) -> None:
    """``output`` None or ``-``: to standard output."""
    render = registry.report_form(form)
    if output is None or output == STANDARD_OUTPUT:
        render(report, sys.stdout, detail=detail)
        return
    text = io.StringIO()
    render(report, text, detail=detail)

    write_file(output, text.getvalue().encode("utf-8"), force=force)


def write_charts(report: Report, folder: Path, *, force: bool) -> int:
    """Each chart as NAME.svg and NAME.png in ``folder``, which is made where it is not there;
    returns the number of charts. Nothing is written where a file is there already and not
    ``force``, and what is new is removed where one of them cannot be written."""
    files = {figure.file_name: figure for section in report.sections for figure in section.figures}
    if not force:
        _insist_on_new(folder / f"{name}{end}" for name in files for end in (".svg", ".png"))
    from assay.report import charts

    with _removed_on_failure() as new:
        try:
            if not folder.exists():
                folder.mkdir(parents=True)
                new.append(folder)
        except OSError as error:
            raise InputError(f"cannot be made: {error.strerror}", file=folder) from error

        for name, figure in files.items():
            for path, content in (
                (folder / f"{name}.svg", charts.svg(figure).encode("utf-8")),
                (folder / f"{name}.png", charts.png(figure)),
            ):
                is_new = not path.exists()
                write_file(path, content, force=force)
                new += [path] if is_new else []
    return len(files)


@contextlib.contextmanager
def _removed_on_failure() -> Iterator[list[Path]]:
    """A list of new files and folders, which are removed where the block fails."""
    new: list[Path] = []
    try:
        yield new
    except BaseException:
        with contextlib.suppress(OSError):
            for path in reversed(new):
                path.rmdir() if path.is_dir() else path.unlink()
        raise


def _insist_on_new(paths: Iterable[Path]) -> None:

    for path in paths:
        if path.exists():
            raise InputError(
                "already exists and is not overwritten", file=path, hint=output_file.REPLACE_HINT
            )


@contextmanager
def file_written(
    file: str | Path, *, force: bool, inputs: Iterable[str | int | Path] = ()
) -> Iterator[int]:
    """See `output_file.written`."""
    insist_on_no_record(Path(file))
    with output_file.written_file(file, force=force, inputs=inputs) as descriptor:
        yield descriptor


def write_file(file: str | Path, content: bytes, *, force: bool) -> None:
    """See `output_file.write`."""
    insist_on_no_record(Path(file))
    output_file.write_file(file, content, force=force)
