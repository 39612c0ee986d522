"""Takes ``[series.NAME]`` of a workload file; returns the declaration of a table over several
tests, as in some papers: one column per task, one row per size.

::

    [series.table]
    title      = "Times of each task, by size of the table"
    reproduces = "Kreymer 1995"
    rows       = "records"       # the factor that labels the rows, beside the system
    columns = [
      { title = "init load", test = "load", key = "elapsed_ns", unit = "min" },
      { title = "1 select", test = "select", key = "transactions.one.latency.mean_ns",
        independent_of = ["updates"] },
      { title = "memory", test = "update", key = "samples.resident_bytes" },
      { title = "first", test = "select", cache = "cold", key = "elapsed_ns" },
      { title = "TPS", test = "update", value = "throughput" },
    ]

``assay run WORKLOAD.NAME`` runs all of its tests. A ``key`` is a path
(`assay.report.declared.field_path`), a ``value`` a name of `assay.report.declared.aggregates.KEYS`.
``paper_only = true``: in the report of a paper's experiment and of one that was asked for by the
name of the series. ``independent_of``: parameters on which the column does not depend, so that it
is comparable where the test has less of them than its paper.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from assay.contracts.recorded import WorkloadRecord
from assay.experiment import CACHES
from assay.report.declared import aggregates
from assay.report.declared.aggregates import RunValue
from assay.text.files.toml_file import TomlTable
from assay.text.units import TIME_UNITS


class SeriesColumn(Struct, frozen=True):
    title: str
    test: str
    key: str = ""
    value: str = ""
    """One of the two."""
    unit: str = "s"
    """The unit of a time."""
    cache: str | None = None
    """Only the runs with the caches in this state; None: all of them."""
    independent_of: tuple[str, ...] = ()
    """Parameters of the test on which it does not depend."""

    @property
    def read(self) -> RunValue:
        """What is read of each run."""
        return aggregates.KEYS[self.value] if self.value else aggregates.at(self.key)


class Series(Struct, frozen=True):
    name: str
    title: str
    reproduces: str
    rows: str
    columns: tuple[SeriesColumn, ...]
    paper_only: bool = False
    """Shown among the paper's tables, or where it was asked for, since other reports have its
    numbers elsewhere."""

    @property
    def heading(self) -> str:
        return f"{self.title} ({self.reproduces})" if self.reproduces else self.title


def read(section: TomlTable, name: str) -> Series:
    """Raises `ExperimentError` with the line that is wrong."""
    series = Series(
        name=name,
        title=section.text("title"),
        reproduces=section.text("reproduces", ""),
        rows=section.text("rows", "clients"),
        columns=tuple(map(_column, section.sections("columns"))),
        paper_only=section.boolean("paper_only", False),
    )
    section.done()
    if not series.columns:
        raise section.error("a series without columns", hint="columns = [{ title, test, key }]")
    return series


def of_record(workload: WorkloadRecord) -> list[Series]:
    """The series of the workload at the time of the run."""
    return [
        read(TomlTable(Path("workload.toml"), "", ("series", name), table), name)
        for name, table in workload.get("series", {}).items()
    ]


def _column(section: TomlTable) -> SeriesColumn:
    column = SeriesColumn(
        title=section.text("title"),
        test=section.text("test"),
        key=section.text("key", ""),
        value=section.choice("value", aggregates.KEYS) if "value" in section else "",
        unit=section.choice("unit", TIME_UNITS, "s"),
        cache=section.choice("cache", CACHES) if "cache" in section else None,
        independent_of=section.texts("independent_of", ()),
    )
    section.done()
    if bool(column.key) == bool(column.value):
        raise section.error("expected either key or value", "key" if column.key else None)
    return column
