"""Takes ``[report.<test>]`` and ``[series.NAME]`` of a workload file; returns what the table of
a test, and a table over several tests, shows."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from assay.contracts.observation import Observation
from assay.experiment import CACHES
from assay.record import Run
from assay.report.declared import aggregates
from assay.report.declared.aggregates import RunValue
from assay.text.toml_file import TomlTable
from assay.text.units import TIME_UNITS
from assay.workload.derived_metrics import WorkloadRecord

_SHOWN_UNITS = ("ns", "bytes", "ratio")


class Field(Struct, frozen=True):
    key: str
    title: str
    unit: str = "s"
    """The unit of a time."""


class Declaration(Struct, frozen=True):
    title: str
    reproduces: str = ""
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
    def heading(self) -> str:
        """``title (Beebe 2011, Table 2)``."""
        return f"{self.title} ({self.reproduces})" if self.reproduces else self.title

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
    declared = workload.report.get(test)
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
        and aggregates.unit_at(name) in _SHOWN_UNITS
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
        for name, table in workload.series.items()
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
