"""Takes the cells of a test; returns the notes below their table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assay.judge.run import EXCEEDED
from assay.report.cells.cell_runs import CellRuns
from assay.report.declared.declaration import Declaration
from assay.report.declared.published import Published, PublishedRow

SIZE_ON_DISK = (
    "size on disk: of the loaded database, catalogue and transaction log included; of a server by "
    "URL its tables and indexes alone"
)
_WHAT = {
    "elapsed": "time from the first client's start to the last client's end",
    "latency": "mean latency of the transactions that ended ok",
    "throughput": "transactions that ended ok per second of the elapsed time",
    "size_on_disk": SIZE_ON_DISK,
    "load_time": "time of loading, indexing and analyzing",
}


def explanation(declaration: Declaration, cells: Sequence[CellRuns]) -> str:
    """What the numbers of the table are."""
    counts = [len(cell.runs) for cell in cells]
    least, most = min(counts), max(counts)
    number = f"{most}" if least == most else f"{least} to {most}"
    over = f"; median of {number} repetitions (smallest-largest)" if most > 1 else ""
    if not declaration.has_speed_up:
        ratio = ""
    elif declaration.is_more_better:
        ratio = f"; speed-up: other {declaration.columns} ÷ first {declaration.columns}"
    else:
        ratio = f"; speed-up: first {declaration.columns} ÷ other {declaration.columns}"
    return f"{_WHAT[declaration.value]}{over}{ratio}"


def failures(cells: Iterable[CellRuns]) -> list[str]:
    """A note for each run that failed, where other runs of its cell were measured."""
    return [
        f"run {run.id}, {cell.name}: {run.state_shown}"
        for cell in cells
        if cell.measured
        for run in cell.runs
        if run.state in ("failed", EXCEEDED, "interrupted", "refused") and not run.is_measured
    ]


def points(published: Published | None) -> tuple[str, ...]:
    """What was published, in one note: its rows are no rows of a table of runs."""
    if published is None:
        return ()
    are_several = len({row.system for row in published.rows}) > 1
    shown = dict.fromkeys(
        (f"{row.system}: " if are_several else "") + ", ".join(_printed(published, row))
        for row in published.rows
    )
    return (f"published: {published.source}: {'; '.join(shown)} ({published.conditions})",)


def _printed(published: Published, row: PublishedRow) -> Iterator[str]:
    """``server: 80 %``, ``1K update: several hours``."""
    for title, value, unit in zip(published.columns, row.values, published.units, strict=False):
        if not isinstance(value, str):
            yield f"{title}: {value:,.10g} {unit}"
        elif value:
            yield f"{title}: {value}"


def beside(published: Published | None, cells: Iterable[CellRuns]) -> list[str]:
    """The source of the published numbers, and which published system is beside which measured
    one."""
    if published is None:
        return []
    notes = [f"published: {published.source}, in {published.unit}"]
    if published.conditions:
        notes[0] += f" ({published.conditions})"
    cells = list(cells)
    notes += published.other_parameters(cell.factors for cell in cells)
    for cell in cells:
        name = cell.system_label
        row = published.row(cell.published_names, cell.factors)
        if row is not None and row.system.casefold() != name.casefold():
            notes.append(f"published beside {name}: {row.system}")
        if row is None:
            notes += [
                f"published for {factor} = {', '.join(map(str, there))}, not {here}"
                for factor, here in cell.factors.items()
                if (there := published.levels(factor)) and here not in there
            ]
    return list(dict.fromkeys(notes))
