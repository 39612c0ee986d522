"""Reads each built-in workload once in a process: thousands of tests ask for one, and none changes
it."""

from __future__ import annotations

from functools import cache, wraps
from pathlib import Path

from assay import registry
from assay.workload import reader
from assay.workload.values import Workload


def read_once() -> None:
    """From now on; `inspect.unwrap` of `reader._read` reads anew."""
    read = reader._read
    read_first = cache(read)

    @wraps(read)
    def read_built_in_once(folder: Path, extending: tuple[Path, ...] = ()) -> Workload:
        is_built_in = folder.is_relative_to(registry.WORKLOADS_FOLDER)
        return read_first(folder) if is_built_in else read(folder, extending)

    reader._read = read_built_in_once
