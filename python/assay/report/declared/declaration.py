"""Takes ``[report.<test>]`` and ``[series.NAME]`` of a workload file; returns what the table of
a test, and a table over several tests, shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct, field

from assay.contracts.metric import Metric, unit_of
from assay.contracts.observation import Observation
from assay.contracts.recorded import WorkloadRecord
from assay.experiment import CACHES, Scalar
from assay.plan.cell_names import CACHE
from assay.record import Run
from assay.report.cell_runs import TEST, CellRuns
from assay.report.declared import aggregates
from assay.report.values import Number
from assay.text import units
from assay.text.toml_file import TomlTable
from assay.text.units import TIME_UNITS

_SHOWN_UNITS = ("ns", "bytes", "ratio")


class Field(Struct, frozen=True):
    key: str
    title: str
    unit: str = "s"
    """The unit of a time."""


class Titled(Struct, frozen=True, kw_only=True):
    title: str
    reproduces: str = ""

    @property
    def heading(self) -> str:
        """``title (Beebe 2011, Table 2)``."""
        return f"{self.title} ({self.reproduces})" if self.reproduces else self.title


class Declaration(Titled, frozen=True, kw_only=True):
    blocks: str = ""
    rows: str = "system"
    columns: str = "storage"
    value: str = "elapsed"
    unit: str = "s"
    has_speed_up: bool = False
    has_scalability: bool = False
    fields: tuple[Field, ...] = ()
    """Empty: the table is by factors."""
    along: str = ""
    """What the titles of the fields count; empty: they are names."""
    note: str = ""
    """What its numbers include, where their titles do not say it."""

    @property
    def is_more_better(self) -> bool:
        return self.value == "throughput"


def read(section: TomlTable, test: str) -> Declaration:
    """The declaration of ``test``; raises `ExperimentError` with the line that is wrong.

    An empty section declares the elapsed time of each system on each storage.
    """
    declaration = Declaration(
        title=section.text("title", test),
        reproduces=section.text("reproduces", ""),
        blocks=section.text("blocks", ""),
        rows=section.text("rows", "system"),
        columns=section.text("columns", "storage"),
        value=_value(section),
        unit=section.choice("unit", TIME_UNITS, "s"),
        has_speed_up=section.boolean("speed_up", False),
        has_scalability=section.boolean("scalability", False),
        fields=tuple(map(_field, section.sections("fields"))),
        along=section.text("along", ""),
        note=section.text("note", ""),
    )
    section.done()
    factors = [declaration.blocks, declaration.rows, declaration.columns]
    if len(set(factors)) < len(factors):
        raise section.error("blocks, rows and columns must be three different factors")
    if declaration.along and not all(_is_number(field.title) for field in declaration.fields):
        raise section.error("the titles of fields along something are numbers", "along")
    if declaration.has_scalability and declaration.columns != "clients":
        raise section.error(
            "scalability compares numbers of clients", "scalability", hint='columns = "clients"'
        )
    return declaration


def of_record(workload: WorkloadRecord, test: str) -> Declaration | None:
    """The declaration at the time of the run; None where the workload had none."""
    declared = workload.get("report", {}).get(test)
    if declared is None:
        return None
    return read(TomlTable(Path("workload.toml"), "", ("report", test), declared), test)


def of_test(workload: WorkloadRecord, test: str, runs: Iterable[Run]) -> Declaration | None:
    """As the workload declares it; of a test without clients that is not declared, what its reports
    say: every time, size and ratio."""
    declared = of_record(workload, test)
    reports = [run.observation for run in runs if run.observation is not None]
    if declared is not None or not reports or isinstance(reports[0], Observation):
        return declared
    fields = tuple(
        Field(name, _title(name))
        for name in reports[0].__struct_fields__
        if any(isinstance(getattr(one, name), int | float) for one in reports)
        and unit_of(name) in _SHOWN_UNITS
    )
    return Declaration(title="What was measured", fields=fields) if fields else None


def _title(name: str) -> str:
    """``backup_ns``: backup."""
    return name.rpartition("_")[0].replace("_", " ")


def _value(section: TomlTable) -> str:
    return section.choice("value", tuple(aggregates.KEYS), "elapsed")


def _is_number(title: str) -> bool:
    return title.isascii() and title.isdecimal()


def _field(section: TomlTable) -> Field:
    found = Field(
        key=section.text("key"),
        title=section.text("title"),
        unit=section.choice("unit", TIME_UNITS, "s"),
    )
    section.done()
    return found


Level = Scalar | tuple[Scalar, ...]
"""Several: any of them."""
Levels = Mapping[str, Level]
"""By factor."""


class Quantity(Struct, frozen=True):
    """What is read from each run."""

    value: str = ""
    keys: tuple[str, ...] = ()
    per: str = ""

    def key(self, workload: WorkloadRecord, test: str) -> Metric:
        """The key by which runs of the test are read; without a value or key, that of the test's
        own report."""
        if len(self.keys) == 1 and not self.per:
            return aggregates.at(*self.keys)
        if self.keys:
            unit = "ratio" if self.per else unit_of(self.keys[0])
            whole = " + ".join(self.keys)
            name = f"({whole}) / {self.per}" if self.per else whole
            return aggregates.of_paths(name, unit, self._read)
        declared = of_record(workload, test)
        return aggregates.KEYS[self.value or (declared.value if declared else "elapsed")]

    def _read(self, run: Run) -> float | None:
        found = [aggregates.value_at(run, key) for key in self.keys]
        if not all(isinstance(value, int | float) for value in found):
            return None
        whole: float = sum(found)
        if not self.per:
            return whole
        below = aggregates.value_at(run, self.per)
        return whole / below if isinstance(below, int | float) and below else None


class ColumnCells(Struct, frozen=True):
    """Our cells for a column of a published table, and what is read of them."""

    test: str = ""
    """Empty: the test of the table."""
    levels: Levels = field(default_factory=dict)
    quantity: Quantity = field(default_factory=Quantity)
    independent_of: tuple[str, ...] = ()
    """Parameters of the test on which it does not depend."""


class CellsColumn(ColumnCells, frozen=True, kw_only=True):
    """A column of a table over several tests, or of a paper's table, and our cells for it."""

    title: str
    unit: str
    """Of a paper's column its own; else that in which a time is shown."""
    read: Metric
    """From each run of the cells."""

    @property
    def units(self) -> tuple[str, ...]:
        """Those in which the paper may have what we measure; empty: in any words."""
        return units.readable(self.read.unit)

    def number(self, cell: CellRuns) -> Number | None:
        """Our number in the paper's unit; None also where it cannot be read in that unit."""
        found = aggregates.number(cell, self.read, is_mean=True)
        if found is None:
            return None
        value = units.converted(found.value, found.unit, self.unit)
        if value is None:
            return None
        return Number(value, self.unit, found.n, judged=found.judged)


class Series(Titled, frozen=True, kw_only=True):
    name: str
    rows: str
    columns: tuple[CellsColumn, ...]
    paper_only: bool = False
    """Shown among the paper's tables, or where it was asked for, since other reports have its
    numbers elsewhere."""


def read_series(section: TomlTable, name: str) -> Series:
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


def series_of_record(workload: WorkloadRecord) -> list[Series]:
    """The series of the workload at the time of the run."""
    return [
        read_series(TomlTable(Path("workload.toml"), "", ("series", name), table), name)
        for name, table in workload.get("series", {}).items()
    ]


def _column(section: TomlTable) -> CellsColumn:
    title, test, key = section.text("title"), section.text("test"), section.text("key", "")
    value = section.choice("value", aggregates.KEYS) if "value" in section else ""
    unit = section.choice("unit", TIME_UNITS, "s")
    cache = {CACHE: section.choice("cache", CACHES)} if "cache" in section else {}
    column = CellsColumn(
        title=title,
        unit=unit,
        test=test,
        levels={TEST: test, **cache},
        quantity=Quantity(value, (key,) if key else ()),
        independent_of=section.texts("independent_of", ()),
        read=aggregates.KEYS[value] if value else aggregates.at(key),
    )
    section.done()
    if bool(key) == bool(value):
        raise section.error("expected either key or value", "key" if key else None)
    return column
