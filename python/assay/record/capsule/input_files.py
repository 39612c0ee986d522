"""Takes an experiment's record; returns the files that its rows were read from, and insists that
rows are read from the copies as they were from the files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from assay import registry
from assay.contracts.experiment import Experiment
from assay.errors import InputError
from assay.load.row_sources.protocol import ReadsFiles, RowSource, opened
from assay.record.file.read_only import open_for_reading
from assay.record.file.record_file import reading_errors
from assay.record.runs.records import ExperimentRecord
from assay.text.files import paths, pieces, shared_files
from assay.text.mentions import phrase
from assay.text.units import size
from assay.workload.values import Workload

FOLDER: Final = "input"
MOST_BYTES: Final = 1_000_000_000
"""Of all: a capsule is a file that people send one another."""
WITHOUT: Final = "--without-input"
"""Of `assay pack`."""
LEAVE_OUT: Final = (
    f"{WITHOUT} leaves input files out of the capsule: it then has their digest alone"
)


def input_files(record: ExperimentRecord, workload: Workload) -> dict[str, Path]:
    """By their names in the folder of the experiment file, in the order in which they are read.
    Raises `InputError` where they cannot be packed."""
    source: RowSource = registry.row_source(workload.data_source)
    files = _files(source, record)
    found: dict[str, Path] = {}
    left = MOST_BYTES
    for file in files:
        name = f"{FOLDER}/{file.name}"
        if name in found:
            raise InputError(
                "has the name of another input file: expected each name once",
                file=file,
                hint=LEAVE_OUT,
            )
        found[name] = file
        left -= file.stat().st_size
        if left < 0:
            raise InputError(
                f"with this file the input has {_whole(files)}: expected at most "
                f"{size(MOST_BYTES)} of input in a capsule",
                file=file,
                hint=phrase(
                    f"publish the files beside it, and pack with {WITHOUT}: who runs it again "
                    "names them with {--input PATH}"
                ),
            )
    return found


def _files(source: RowSource, record: ExperimentRecord) -> list[Path]:
    try:
        files = list(source.input_files(record.experiment.get("input_paths", ())))
    except InputError as error:
        error.hint = LEAVE_OUT
        raise
    for file in files:
        if not paths.is_file(file):
            what = "a folder" if paths.is_folder(file) else "nothing that can be read"
            raise InputError(f"expected an input file, found {what}", file=file, hint=LEAVE_OUT)
    return files


def lines(file: Path) -> Iterator[str]:
    """Raises `InputError` where it cannot be read."""
    with _reading(file), shared_files.opened(file) as content:
        for line in content:
            yield line.decode(errors="replace")


def copy(file: Path, target: Path) -> None:
    """Raises `InputError` where it cannot be read, `OSError` where the copy cannot be written."""
    pieces.to_file(target, _pieces(file))


def _pieces(file: Path) -> Iterator[bytes]:
    with _reading(file), shared_files.opened(file) as content:
        yield from pieces.of_file(content)


@contextmanager
def _reading(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror or error}", file=file, hint=LEAVE_OUT
        ) from error


def _whole(files: list[Path]) -> str:
    return size(sum(file.stat().st_size for file in files))


def insist_on_the_same(
    record: ExperimentRecord, experiment: Experiment, workload: Workload
) -> None:
    """``experiment``: with the paths of the copies. Raises `InputError` where other rows would be
    read from them than were read from the files."""
    with closing(open_for_reading(record.path)) as connection, reading_errors(record.path):
        (text,) = connection.execute(
            "SELECT content FROM experiments WHERE id = ?", (record.id,)
        ).fetchone()
    expected = json.loads(text).get("input", "")
    rows = opened(workload, experiment, _Silent())
    found = rows.input_fingerprint if isinstance(rows, ReadsFiles) else ""
    if expected and found != expected:
        names = ", ".join(Path(one).name for one in record.experiment.get("input_paths", ()))
        raise InputError(
            f"expected the input that was read, with digest {expected}, found {found}: it was "
            "changed since",
            file=names,
            hint=f"run the experiment again with it as it is now, and pack that; or {LEAVE_OUT}",
        )


class _Silent:
    """What is said of the input was said when it was first read."""

    def stage(self, name: str) -> None:
        del name

    def warning(self, message: str) -> None:
        del message
