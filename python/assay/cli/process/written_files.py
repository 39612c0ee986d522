"""Files that commands write: no record file is replaced by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.record.file.schema import insist_on_no_record
from assay.text.files import output_file


@contextmanager
def written(
    file: str | Path, *, force: bool, inputs: Iterable[str | int | Path] = ()
) -> Iterator[int]:
    """See `output_file.written`."""
    insist_on_no_record(Path(file))
    with output_file.written(file, force=force, inputs=inputs) as descriptor:
        yield descriptor


def write(file: str | Path, content: bytes, *, force: bool) -> None:
    """See `output_file.write`."""
    insist_on_no_record(Path(file))
    output_file.write(file, content, force=force)
