"""Takes all runs; returns the data of each system, its size on disk, and its load times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assay.judge.spread import spread
from assay.record import RunRecord
from assay.report.values import Cell, Column, Number, Row, Section, Table, absent
from assay.text import units

_KEY = ("system", "storage", "data", "replicas")
_STEPS = ("load", "index", "analyze")
_OF_THE_RUN = (
    "how",
    "restore_ns",
    "size_on_disk_bytes",
    "buffer_bytes",
    "data_to_buffer",
    "options",
)
_EXTRA = {
    "data": ("data_bytes", "bytes"),
    "buffer": ("buffer_bytes", "bytes"),
    "data : buffer": ("data_to_buffer", ""),
    "restore": ("restore_ns", "ns"),
}
"""Title of a column → (key of the document, unit)."""


def section(runs: Iterable[RunRecord]) -> Section | None:
    """One row per system, storage and data set; the median where it was loaded several times."""
    loads: dict[tuple[Any, ...], dict[str, Mapping[str, Any]]] = {}
    for run in runs:
        if run.dataset:
            data = run.dataset
            key = (run.system_label, run.storage, data["description"], data["replicas"])
            # Runs that share a load have equal documents. Restored data have the times of the load
            # that was copied.
            loads.setdefault(key, {})[repr(_load_of(data))] = data
    if not loads:
        return None
    labels = [
        place for place in range(len(_KEY)) if place == 0 or len({key[place] for key in loads}) > 1
    ]
    documents = [document for found in loads.values() for document in found.values()]
    extra = _extra(documents)
    table = Table(
        name="loads",
        label_columns=len(labels),
        title="Size on disk and load time",
        columns=(
            *(Column(_KEY[place]) for place in labels),
            Column("size on disk", is_number=True),
            *(Column(name, is_number=True, unit=unit) for name, unit in extra),
            *(Column(step, is_number=True, unit="s") for step in _STEPS),
            Column("entries/s", is_number=True),
            Column("rows/s", is_number=True),
        ),
        rows=tuple(
            Row(
                (*(Cell(str(key[place])) for place in labels), *_cells(list(found.values()), extra))
            )
            for key, found in loads.items()
        ),
        notes=("per second of load: rows sent in one transaction, before there are indexes",),
    )
    return Section("Data load", (), (table,))


def _load_of(data: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The values of a load; without those of the run, such as the time to restore a copy."""
    return [(name, value) for name, value in sorted(data.items()) if name not in _OF_THE_RUN]


def _extra(documents: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """(title, unit) of columns that only some reports need."""
    found = []
    if any(document.get("buffer_bytes") for document in documents):
        found += [("data", ""), ("buffer", ""), ("data : buffer", "")]
    if any(document.get("restore_ns") for document in documents):
        found.append(("restore", "s"))
    return found


def _of_extra(documents: Sequence[Mapping[str, Any]], title: str) -> Cell:
    key, unit = _EXTRA[title]
    having = [document for document in documents if document.get(key)]
    if not having:
        return absent("")
    if title == "data : buffer":
        ratio = spread([document[key] for document in having]).median
        return Cell(f"{ratio:.2f}", Number(ratio, ""))
    return _median(having, key, unit)


def _cells(documents: Sequence[Mapping[str, Any]], extra: Sequence[tuple[str, str]]) -> list[Cell]:
    first = documents[0]
    load_ns = spread([document["load_ns"] for document in documents]).median
    # Every entry of the input is loaded as often as there are replicas, in the variant `full` only.
    is_full = first["replicas"] == 1 or first["variant"] == "full"
    entries = first["entries"] * first["replicas"]
    return [
        _median(documents, "size_on_disk_bytes", "bytes"),
        *(_of_extra(documents, title) for title, _ in extra),
        *(_median(documents, f"{step}_ns", "ns") for step in _STEPS),
        _rate(entries, load_ns) if is_full else absent(first["variant"]),
        _rate(sum(first["rows"].values()), load_ns),
    ]


def _rate(amount: int, load_ns: float) -> Cell:
    if not load_ns:
        return absent("")
    value = amount / (load_ns / 1e9)
    return Cell(f"{value:.0f}", Number(value, "per_s"))


def _median(documents: Iterable[Mapping[str, Any]], key: str, unit: str) -> Cell:
    over = spread([document[key] for document in documents])
    made = Number(over.median, unit, over.n, over.low, over.high)
    return Cell(units.shown(over.median, unit), made)
