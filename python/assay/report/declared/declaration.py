"""Takes ``[report.<test>]`` and ``[series.NAME]`` of a workload file; returns what the table of
a test, and a table over several tests, shows."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import structs

from assay.contracts.metric import ReportColumn, unit_of
from assay.contracts.observation import Observation
from assay.record import Run
from assay.report.declared import aggregates
from assay.text.toml_file import TomlTable
from assay.workload.declared_reports import Declaration, Field, Series, SeriesColumn
from assay.workload.workload_record import WorkloadRecord

_SHOWN_UNITS = ("ns", "bytes", "ratio")


def read(section: TomlTable, test: str) -> Declaration:
    """The declaration of ``test``; raises `ExperimentError` with the line that is wrong.

    An empty section declares the elapsed time of each system on each storage.
    """
    declaration: Declaration = section.thing(Declaration)
    factors = [declaration.blocks, declaration.rows, declaration.columns]
    if len(set(factors)) < len(factors):
        raise section.error("blocks, rows and columns must be three different factors")
    if declaration.along and not all(
        (field.title.isascii() and field.title.isdecimal()) for field in declaration.fields
    ):
        raise section.error("the titles of fields along something are numbers", "along")
    if declaration.has_scalability and declaration.columns != "clients":
        raise section.error(
            "scalability compares numbers of clients", "scalability", hint='columns = "clients"'
        )
    return structs.replace(declaration, title=declaration.title or test)


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
        and unit_of(name) in _SHOWN_UNITS
    )
    return Declaration(title="What was measured", fields=fields) if fields else None


def _title(name: str) -> str:
    """``backup_ns``: backup."""
    return name.rpartition("_")[0].replace("_", " ")


def read_of(column: SeriesColumn) -> ReportColumn:
    return aggregates.KEYS[column.value] if column.value else aggregates.at(column.key)


def read_series(section: TomlTable, name: str) -> Series:
    """Raises `ExperimentError` with the line that is wrong."""
    series: Series = section.thing(Series, name=name)
    if not series.columns:
        raise section.error("a series without columns", hint="columns = [{ title, test, key }]")
    for own, column in zip(section.sections("columns"), series.columns, strict=True):
        if bool(column.key) == bool(column.value):
            raise own.error("expected either key or value", "key" if column.key else None)
    return series


def series_of_record(workload: WorkloadRecord) -> list[Series]:
    """The series of the workload at the time of the run."""
    return [
        read_series(TomlTable(Path("workload.toml"), "", ("series", name), table), name)
        for name, table in workload.series.items()
    ]
