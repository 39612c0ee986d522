"""Takes planned runs and what is known of their data; refuses a storage that is too small for them,
before anything is started.

Known are the data of earlier runs, as they were measured on disk, and the number and size of the
rows, from which a system says what it needs for them at the least.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from assay import registry
from assay.contracts.storages.abilities import SizeChosen
from assay.contracts.systems.abilities import LeastServer, LeastSpace
from assay.errors import ArgumentError
from assay.lab.preflight.data_size import RowSizes
from assay.plan import PlannedRun
from assay.text.units import size
from assay.workload.values import Workload

HINT = "choose a larger size for it, or smaller data"


def warn_of_small_storages(
    workload: Workload, runs: Iterable[PlannedRun], input_paths: Sequence[str]
) -> Iterator[str]:
    """A sentence for each storage that is smaller than the text of the rows. Raises `ArgumentError`
    for one that the rows cannot fit on."""
    sizes = RowSizes(workload, input_paths)
    for run, storage_bytes in _on_chosen_sizes(runs):
        system = registry.system(run.cell.system.name)
        if isinstance(system, LeastServer):
            alone_bytes = system.least_storage_bytes(run.cell.system)
            if alone_bytes > storage_bytes:
                needs = f"a server without any rows needs {size(alone_bytes)} or more"
                raise _too_small(workload, run, storage_bytes, needs)
        found = sizes.of(run)
        if found is None or not isinstance(system, LeastSpace):
            continue
        least_bytes = system.least_bytes(found.rows, found.text_bytes)
        if least_bytes > storage_bytes:
            rows = f"its {found.rows:,} rows need" if found.rows else "its rows need"
            raise _too_small(workload, run, storage_bytes, f"{rows} {size(least_bytes)} or more")
        if found.text_bytes > storage_bytes:
            rows_are = f"its rows are about {size(found.text_bytes)} as text"
            where, what = _where(run, storage_bytes), _what(workload, run)
            yield f"{where} may be too small for {what}: {rows_are}"


def refuse_smaller_than_before(
    workload: Workload, runs: Iterable[PlannedRun], earlier: Callable[[PlannedRun], int | None]
) -> None:
    """Raises `ArgumentError` for a storage that is smaller than what the data of a run took on disk
    in ``earlier`` runs; None: not known."""
    for run, storage_bytes in _on_chosen_sizes(runs):
        took_bytes = earlier(run)
        if took_bytes is not None and took_bytes > storage_bytes:
            took = f"the same data took {size(took_bytes)} in an earlier run"
            raise _too_small(workload, run, storage_bytes, took)


def _on_chosen_sizes(runs: Iterable[PlannedRun]) -> Iterator[tuple[PlannedRun, int]]:
    """The runs whose storage has a size that was chosen, with the bytes; one of those that differ
    in nothing that decides the size of their data."""
    distinct = {
        repr((run.cell.system, run.cell.storage, run.cell.test, run.cell.parameters)): run
        for run in runs
    }
    for run in distinct.values():
        storage_bytes = _storage_bytes(run)
        if storage_bytes is not None:
            yield run, storage_bytes


def _storage_bytes(run: PlannedRun) -> int | None:
    """Of the storage; None where it is not known, or what is on it may be compressed."""
    choice = run.cell.storage
    if run.cell.system.url is not None:
        return None
    kind = registry.storage(choice.kind)
    if not isinstance(kind, SizeChosen):
        return None
    if any("compress" in value for value in choice.options.values()):
        return None
    return kind.size_bytes(choice)


def _too_small(workload: Workload, run: PlannedRun, storage_bytes: int, why: str) -> ArgumentError:
    where, what = _where(run, storage_bytes), _what(workload, run)
    return ArgumentError(f"{where} is too small for {what}: {why}", hint=HINT)


def _where(run: PlannedRun, storage_bytes: int) -> str:
    return f"storage {run.cell.storage_name!r} of {size(storage_bytes)}"


def _what(workload: Workload, run: PlannedRun) -> str:
    words = ", ".join(f"{name}={value}" for name, value in run.cell.parameters.items())
    test = workload.full_name(run.cell.test)
    return f"{test} on {run.cell.system.label}" + (f" ({words})" if words else "")
