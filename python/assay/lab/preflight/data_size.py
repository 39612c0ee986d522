"""Takes planned runs, and the sizes that the record has of earlier ones; returns about how many
bytes of data each system will have on each storage, before anything is started."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from assay import registry
from assay.contracts.storages.abilities import SizeChosen
from assay.experiment import Scalar, StorageChoice
from assay.load.row_sources.protocol import RowsSize, row_source
from assay.plan import PlannedRun
from assay.plan.drives import parameters_of
from assay.workload.values import Workload


class DataSize(Struct, frozen=True):
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
    rows = RowSizes(workload, input_paths)
    largest: dict[tuple[str, str], DataSize] = {}
    for run in runs:
        cell = run.cell
        if cell.system.url is not None:
            continue
        known = measured.get(run.position)
        expected = rows.of(run) if known is None else None
        size_bytes = known if expected is None else expected.text_bytes
        if size_bytes is None:
            continue
        found = DataSize(cell.system.label, cell.storage, size_bytes, known is not None)
        place = (cell.system.label, cell.storage.name)
        if place not in largest or largest[place].bytes < size_bytes:
            largest[place] = found
    return list(largest.values())


def size_bytes_of(storage: StorageChoice) -> int | None:
    """The size of the storage, which each system has for itself; None: its size is not chosen."""
    kind = registry.storage(storage.kind)
    return kind.size_bytes(storage) if isinstance(kind, SizeChosen) else None


class RowSizes:
    """The sizes of rows, each asked once."""

    def __init__(self, workload: Workload, input_paths: Sequence[str]) -> None:
        self._workload = workload
        self._paths = input_paths
        self._known: dict[str, RowsSize | None] = {}

    def of(self, run: PlannedRun) -> RowsSize | None:
        """Of the largest of its loads; None where nothing is loaded, or that is not known."""
        test = self._workload.test(run.cell.test)
        steps = [step for step in test.steps if step.loads]
        if test.data == "empty" or run.cell.system.url is not None:
            return None
        found = [self._of_parameters(parameters_of(self._workload, run, one), run) for one in steps]
        return max((one for one in found if one), key=lambda size: size.text_bytes, default=None)

    def _of_parameters(self, parameters: Mapping[str, Scalar], run: PlannedRun) -> RowsSize | None:
        language = registry.system(run.cell.system.name).dialect.language
        key = repr((language, sorted(parameters.items())))
        if key not in self._known:
            source = row_source(self._workload)
            size = source.rows_size(self._workload, self._paths, parameters, language)
            self._known[key] = size
        return self._known[key]
