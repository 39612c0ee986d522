"""Takes all runs; returns the data of each system, its size on disk, and its load times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.judge.statistics.spread import spread
from assay.load.dataset_facts import DatasetFacts
from assay.record import RunRecord
from assay.report.declared import notes
from assay.report.values import Number, ReportCell, ReportColumn, ReportTable, Row, Section, absent
from assay.text import units

_KEY = ("system", "storage", "data", "replicas")
_STEPS = ("load", "index", "analyze")
_EXTRA = {
    "data": ("data_bytes", "bytes"),
    "buffer": ("buffer_bytes", "bytes"),
    "data : buffer": ("data_to_buffer", ""),
    "restore": ("restore_ns", "ns"),
}
"""Title of a column → (field, unit)."""


def section(runs: Iterable[RunRecord]) -> Section | None:
    """One row per system, storage and data set; the median where it was loaded several times."""
    loads: dict[tuple[object, ...], dict[tuple[object, ...], DatasetFacts]] = {}
    for run in runs:
        if (data := run.data) is not None:
            key = (run.system_on_machine, run.storage, data.description, data.replicas)
            # A data set that is used again is handed in again. What was restored from a copy has
            # the times of the load that was copied.
            loads.setdefault(key, {})[data.one_load] = data
    if not loads:
        return None
    labels = [
        place for place in range(len(_KEY)) if place == 0 or len({key[place] for key in loads}) > 1
    ]
    documents = [document for found in loads.values() for document in found.values()]
    extra = _extra(documents)
    table = ReportTable(
        name="loads",
        label_columns=len(labels),
        title="Size on disk and load time",
        columns=(
            *(ReportColumn(_KEY[place]) for place in labels),
            ReportColumn("size on disk", is_number=True),
            *(ReportColumn(name, is_number=True, unit=unit) for name, unit in extra),
            *(ReportColumn(step, is_number=True, unit="s") for step in _STEPS),
            ReportColumn("items/s", is_number=True),
            ReportColumn("rows/s", is_number=True),
        ),
        rows=tuple(
            Row(
                (
                    *(ReportCell(str(key[place])) for place in labels),
                    *_cells(list(found.values()), extra),
                )
            )
            for key, found in loads.items()
        ),
        notes=(
            notes.SIZE_ON_DISK,
            "per second of load: rows sent in one transaction, before there are indexes",
        ),
    )
    return Section("Data load", (), (table,))


def _extra(documents: Iterable[DatasetFacts]) -> list[tuple[str, str]]:
    """(title, unit) of columns that only some reports need."""
    found = []
    if any(one.buffer_bytes for one in documents):
        found += [("data", ""), ("buffer", ""), ("data : buffer", "")]
    if any(one.restore_ns for one in documents):
        found.append(("restore", "s"))
    return found


def _of_extra(documents: Sequence[DatasetFacts], title: str) -> ReportCell:
    key, unit = _EXTRA[title]
    having = [one for one in documents if getattr(one, key)]
    if not having:
        return absent("")
    if title == "data : buffer":
        ratio = spread([getattr(one, key) for one in having]).median
        return ReportCell(f"{ratio:.2f}", Number(ratio, ""))
    return _median(having, key, unit)


def _cells(documents: Sequence[DatasetFacts], extra: Sequence[tuple[str, str]]) -> list[ReportCell]:
    first = documents[0]
    load_ns = spread([one.load_ns for one in documents]).median
    # Every entry of the input is loaded as often as there are replicas, in the variant `full` only.
    is_full = first.replicas == 1 or first.variant == "full"
    items = first.items * first.replicas
    return [
        _median(documents, "size_on_disk_bytes", "bytes"),
        *(_of_extra(documents, title) for title, _ in extra),
        *(_median(documents, f"{step}_ns", "ns") for step in _STEPS),
        _rate(items, load_ns) if is_full else absent(first.variant),
        _rate(sum(first.rows.values()), load_ns),
    ]


def _rate(amount: int, load_ns: float) -> ReportCell:
    if not load_ns:
        return absent("")
    value = amount / (load_ns / 1e9)
    return ReportCell(f"{value:.0f}", Number(value, "per_s"))


def _median(documents: Iterable[DatasetFacts], key: str, unit: str) -> ReportCell:
    values = [found for one in documents if (found := getattr(one, key)) is not None]
    if not values:
        return absent("")
    over = spread(values)
    made = Number(over.median, unit, over.n, over.low, over.high)
    return ReportCell(units.shown(over.median, unit), made)
