"""Takes records; returns tables and text. Pure: no input but its arguments.

`assay.report.build` makes one neutral `Report` of an experiment's records; a format (`table`,
`markdown`, `csv`, `json`, or an entry point of another package) is a function
``render(report, stream, *, detail=None)``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from assay.contracts.factors import NAMES
from assay.text.phrases import did_you_mean
from assay.text.toml_file import TomlTable
from assay.workload.values import Workload
from assay.workload.workload_record import WorkloadRecord

if TYPE_CHECKING:
    from assay.report.declared.published import Published
    from assay.workload.declared_reports import Series


def check_declarations(workload: Workload) -> None:
    """Reads the workload's declarations of reports and its published values, so that a mistake is
    reported, with its line, before a run and not after it."""
    if workload.is_ad_hoc:
        return
    from assay.record.metrics.catalogue import METRICS
    from assay.registry import WORKLOAD_FILE
    from assay.report.declared import declaration, published
    from assay.report.papers import claims
    from assay.text import toml_file
    from assay.workload.expected_answers import CLAIMS, PUBLISHED_FILE, published_names
    from assay.workload.file_keys import WORKLOAD
    from assay.workload.reader import report_sections, series_sections

    top = toml_file.read(workload.folder / WORKLOAD_FILE, WORKLOAD)
    for test, section in report_sections(top, workload.tests).items():
        declared = declaration.read(section, test)
        parameters = [one.name for one in workload.parameters_of(workload.test(test))]
        factors = {"blocks": declared.blocks, "rows": declared.rows, "columns": declared.columns}
        _refuse_unknown_factors(section, factors, parameters)
    of_workload = top.section("derived") if "derived" in top else None
    for name in of_workload.names() if of_workload else ():
        if of_workload and name in METRICS:
            hint = "give it another name"
            raise of_workload.error(f"{name} is a metric of every run", name, hint=hint)
    joined = {}
    for name, section in series_sections(top, workload.tests).items():
        joined[name] = declaration.read_series(section, name)
        _refuse_unknown_factors(section, {"rows": joined[name].rows}, workload.parameters)
    if (file := workload.folder / PUBLISHED_FILE).is_file():
        top = toml_file.read(file)
        for name in published_names(top):
            section = top.section(name)
            found = published.read(section)
            if name in joined:
                _refuse_other_columns(section, found, joined[name])
            _refuse_unknown_units(section, found, workload.for_record())
            _refuse_unknown_parameters(section, found, workload.parameters)
        for one in top.sections(CLAIMS) if CLAIMS in top else ():
            for term in claims.read(one).terms:
                workload.test(term.test)


def _refuse_unknown_factors(
    section: TomlTable, factors: Mapping[str, str], parameters: Collection[str]
) -> None:
    """What labels blocks, rows and columns is a factor of the test's cells. ``factors``: of each
    key, the word that it has; empty: none."""
    known = [*NAMES, *parameters]
    for key, word in factors.items():
        if word and word not in known:
            raise section.error(
                f"{key} = {word!r}: no such factor", key, hint=did_you_mean(word, known)
            )
    for column in section.sections("columns") if not section.is_text("columns") else ():
        for word in column.texts("independent_of", ()):
            if word not in parameters:
                raise column.error(
                    f"independent_of: no parameter is called {word!r}",
                    "independent_of",
                    hint=did_you_mean(word, parameters),
                )


def _refuse_other_columns(section: TomlTable, published: Published, measured: Series) -> None:
    """The published table of a series must have the columns of our table."""
    titles = [column.title for column in measured.columns]
    if len(published.columns) != len(titles):
        raise section.error(f"a column for each of {', '.join(titles)}", "columns")


def _refuse_unknown_parameters(
    section: TomlTable, published: Published, parameters: Collection[str]
) -> None:
    for name in published.parameters:
        if name not in parameters:
            hint = did_you_mean(name, parameters)
            raise section.error(f"no parameter is called {name!r}", "parameters", hint=hint)


def _refuse_unknown_units(
    section: TomlTable, published: Published, workload: WorkloadRecord
) -> None:
    """A printed time or size must be in a unit into which the measured one is converted."""
    from assay.report.declared import published as published_columns

    if published.column_factor == "clients":
        return  # printed and measured as scalability
    for column in published_columns.columns_of_table(workload, str(section.path[-1]), published):
        if column.units and column.unit not in column.units:
            raise section.error(
                f"unit: {column.unit!r} of {column.title!r}: invalid value",
                "unit",
                hint=did_you_mean(column.unit, column.units),
            )
