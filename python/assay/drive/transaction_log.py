"""Takes the name of a file; gives each measured drive of an experiment a place in it, where the
engine writes its transactions one by one, and keeps it as CSV or Parquet.

The file is made when the experiment begins, and rows are added run by run, so that an experiment
that ends early leaves those of its ended runs; a continued one goes on in the same CSV file. A
drive that fails leaves no rows.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from assay.contracts.engine import LogDocument
from assay.errors import ArgumentError, InputError, SystemUnderTestError
from assay.text import paths
from assay.text.phrases import Mention, phrase

COLUMNS = {
    "run": "int64",
    "begun_unix_ns": "int64",
    "transaction": "string",
    "client": "int64",
    "due_ns": "int64",
    "start_ns": "int64",
    "end_ns": "int64",
    "latency_ns": "int64",
    "outcome": "string",
}
"""Name → its type in a Parquet file. Those without a start were skipped."""
_CSV, _PARQUET = ".csv", ".parquet"
_HEADINGS = (",".join(COLUMNS) + "\n").encode("ascii")


def insist_on_form(file: str) -> None:
    """Raises `ArgumentError` for a file whose name ends otherwise, and where Parquet cannot be
    written."""
    form = Path(file).suffix.lower()
    if form not in (_CSV, _PARQUET):
        raise ArgumentError(
            phrase(
                "{}: expected a file that ends in {} or {}",
                Mention("log", str(file)),
                _CSV,
                _PARQUET,
            ),
            hint=phrase("{}", Mention("log", f"{Path(file).stem or 'transactions'}{_CSV}")),
        )
    if form == _PARQUET and find_spec("pyarrow") is None:
        raise ArgumentError(
            phrase("{} needs pyarrow, which is not installed", Mention("log", str(file))),
            hint=phrase(
                "pip install pyarrow, or {}", Mention("log", str(Path(file).with_suffix(_CSV)))
            ),
        )


class TransactionLog:
    """A file that is being written."""

    def __init__(self, rows: Path, parquet: Any = None) -> None:
        self._rows = rows
        self._parquet = parquet

    @contextmanager
    def of_drive(self, run: int, sample: float) -> Iterator[LogDocument]:
        """What the drive document says of it; the rows are kept where the block ends without
        error."""
        before = self._rows.stat().st_size
        try:
            yield LogDocument(path=str(self._rows.absolute()), run=run, sample=sample)
        except BaseException:
            with contextlib.suppress(OSError):
                os.truncate(self._rows, before)
            raise
        if self._parquet is not None:
            with _written(self._rows):
                self._parquet.add(self._rows)
                os.truncate(self._rows, len(_HEADINGS))


@contextmanager
def opened(
    file: str | None, before: Mapping[int, bool] | None = None
) -> Iterator[TransactionLog | None]:
    """None where there is no file. ``before``: number of each run of the experiment that is
    continued → whether it has ended; None: none is continued. Raises `InputError` where the file is
    there already and not of these runs, or cannot be made."""
    if file is None:
        yield None
        return
    path = Path(file)
    with contextlib.ExitStack() as stack:
        if path.suffix.lower() == _CSV:
            if before is not None and paths.exists(path):
                _keep_ended(path, before)
            else:
                _make(path, _HEADINGS)
            yield TransactionLog(path)
            return
        _make(
            path, b"", "log to another file; of an experiment that is continued, only CSV goes on"
        )
        rows = path.with_name(f".{path.name}.{os.urandom(4).hex()}{_CSV}")
        stack.callback(rows.unlink, missing_ok=True)
        _make(rows, _HEADINGS)
        with _Parquet(path) as parquet:
            yield TransactionLog(rows, parquet)


class _Parquet:
    """A Parquet file, to which the rows of CSV files are added."""

    def __init__(self, path: Path) -> None:
        import pyarrow  # type: ignore[import-untyped, import-not-found, unused-ignore]
        from pyarrow import parquet

        self._path = path
        kinds = {"int64": pyarrow.int64(), "string": pyarrow.string()}
        self._types = {name: kinds[kind] for name, kind in COLUMNS.items()}
        self._writer = parquet.ParquetWriter(path, pyarrow.schema(list(self._types.items())))

    def __enter__(self) -> _Parquet:
        return self

    def __exit__(self, *_: object) -> None:
        with _written(self._path):
            self._writer.close()

    def add(self, rows: Path) -> None:
        from pyarrow import csv

        options = csv.ConvertOptions(
            column_types=self._types, null_values=[""], strings_can_be_null=False
        )
        with csv.open_csv(rows, convert_options=options) as batches:
            for batch in batches:
                self._writer.write_batch(batch)


def _keep_ended(path: Path, before: Mapping[int, bool]) -> None:
    """Takes out the rows of the runs that are done again: those of a process that was killed."""
    with _written(path), path.open("r+b") as log:
        if log.readline() != _HEADINGS:
            raise InputError(
                phrase("is no log of transactions: expected the headings that {--log} writes"),
                file=path,
                line=1,
                hint="log to another file",
            )
        end = len(_HEADINGS)
        for line in log:
            if not line.endswith(b"\n"):
                break
            run = line.partition(b",")[0].decode("ascii", "replace")
            if not run.isdecimal() or int(run) not in before:
                raise InputError(
                    f"expected rows of the experiment that is continued, found run {run!r}",
                    file=path,
                    hint="log to another file",
                )
            if not before[int(run)]:
                break
            end += len(line)
        log.truncate(end)


def _make(path: Path, content: bytes, if_there: str = "log to another file") -> None:
    try:
        with path.open("xb", buffering=0) as new:
            try:
                new.write(content)
            except OSError:
                path.unlink(missing_ok=True)
                raise
    except FileExistsError as error:
        raise InputError(
            "already exists and is not overwritten", file=path, hint=if_there
        ) from error
    except OSError as error:
        hint = "log to a folder that this user may write"
        if not path.parent.is_dir():
            hint = f"make the folder: mkdir -p {shlex.quote(str(path.parent))}"
        elif error.errno in (errno.ENOSPC, errno.EDQUOT):
            hint = "free some space there, or log to another folder"
        reason = f"cannot be written: {error.strerror or error}"
        raise InputError(reason, file=path, hint=hint) from error


@contextmanager
def _written(path: Path) -> Iterator[None]:
    """Raises `SystemUnderTestError` where the disk is full."""
    try:
        yield
    except OSError as error:
        raise SystemUnderTestError(
            f"{path}: the log of transactions cannot be written: {error.strerror or error}",
            hint=phrase("free some space there, or log a sample: {--log-sample 0.01}"),
        ) from error
