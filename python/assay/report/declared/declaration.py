"""Takes ``[report.<test>]`` of a workload's `workload.toml`; returns what the test's table shows.

Two shapes. *By factors*, the tables of most papers::

    [report.parallel]
    title      = "Parallel SQL benchmark: wall-clock time and speed-up"
    reproduces = "Beebe 2011, Table 2"
    blocks     = "clients"      # a block of rows per level, with a heading line
    rows       = "system"       # default
    columns    = "storage"      # default; a column per level
    value      = "elapsed"      # default; or throughput, latency, size_on_disk, load_time
    unit       = "s"            # of a time: min, s (default), ms or µs
    speed_up   = true           # first column ÷ each other column
    scalability = true          # of columns = "clients": that, ÷ the ratio of their clients

A factor is ``system``, ``storage``, ``clients``, ``protocol``, ``threads``, ``cache``,
``client_program``, ``offered_rate_per_s`` or a parameter of the workload. Other factors that vary
become blocks, so that no cell is hidden.
A test without a section here is shown cell by cell (`assay.report.sections.results`).

*By fields* of the observation, for tests that measure something else::

    [report.update]
    title  = "Incremental update"
    fields = [ { key = "changed_files", title = "changed files" },
               { key = "elapsed_ns", title = "time", unit = "s" } ]
    along  = "days"             # what the titles of the fields count, if they are numbers: a chart
    note   = "time: with its commit"   # below the table

``key`` is a path (``default.refused_at``); its ending is the unit: ``_ns``, ``_bytes``, ``_per_s``.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from assay.contracts.observation import Observation
from assay.contracts.recorded import WorkloadRecord
from assay.record import Run
from assay.report.declared import aggregates, field_path
from assay.text.files.toml_file import TomlTable
from assay.text.units import TIME_UNITS

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
        and field_path.unit(name) in _SHOWN_UNITS
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
