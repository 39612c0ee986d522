"""Takes planned runs, and the sizes that the record has of earlier ones; returns about how many
bytes of data each system will have on each storage, before anything is started."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.experiment import Scalar, StorageChoice
from assay.plan import PlannedRun
from assay.row_sources.protocol import row_source
from assay.workload.values import Workload


@dataclass(frozen=True)
class DataSize:
    """The largest data set of one system on one storage."""

    system: str
    """Its label."""
    storage: StorageChoice
    bytes: int
    is_measured: bool
    """Whether the same data were in the system before: their size on disk. Otherwise that of the
    rows as text, which is less: there are no indexes, logs and catalogues in it."""


def data_sizes(
    workload: Workload,
    runs: Iterable[PlannedRun],
    input_paths: Sequence[str],
    measured: Mapping[int, int],
) -> list[DataSize]:
    """``runs``: those that will be executed; ``input_paths``: those of the experiment;
    ``measured``: `Store.sizes_on_disk` of the runs. What is not known is left out, as are servers
    by URL. A storage with copies of the data (`assay.load.copies`) needs that much again."""
    rows = _RowSizes(workload, input_paths)
    largest: dict[tuple[str, str], DataSize] = {}
    for run in runs:
        cell = run.cell
        if cell.system.url is not None:
            continue
        known = measured.get(run.position)
        size_bytes = rows.of(run) if known is None else known
        if size_bytes is None:
            continue
        found = DataSize(cell.system.label, cell.storage, size_bytes, known is not None)
        place = (cell.system.label, cell.storage.name)
        if place not in largest or largest[place].bytes < size_bytes:
            largest[place] = found
    return list(largest.values())


class _RowSizes:
    """The sizes of rows as text, each asked once."""

    def __init__(self, workload: Workload, input_paths: Sequence[str]) -> None:
        self._workload = workload
        self._paths = input_paths
        self._known: dict[tuple[tuple[str, Scalar], ...], int | None] = {}

    def of(self, run: PlannedRun) -> int | None:
        test = self._workload.test(run.cell.test)
        if test.data == "empty" or not any(step.loads for step in test.steps):
            return None
        parameters = run.cell.parameters
        key = tuple(parameters.items())
        if key not in self._known:
            source = row_source(self._workload)
            self._known[key] = source.about_bytes(self._workload, self._paths, parameters)
        return self._known[key]
