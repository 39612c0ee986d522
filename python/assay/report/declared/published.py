"""Takes the published table of a test; returns its numbers, as printed, to be shown beside the
measured values.

A workload's ``published.toml`` holds one table per test::

    [parallel]
    source     = "N. H. F. Beebe, 2011, Table 2"
    conditions = "more than 500,000 entries; servers of 2005 to 2007"
    unit       = "s"                        # or one for each column: "min, s, MB"
    columns    = ["disk", "Fusion-io"]      # in the paper's order and words
    rows = [                                # speed_up: as printed, columns[0] ÷ columns[1:]
      { system = "…", clients = 8, values = [178, 184], speed_up = [0.96] },
    ]

    column_factor = "storage_role"          # what distinguishes the columns, and its levels;
    column_levels = ["disk", "solid state"] # `assay.report.cells.cell_runs`
    layout = { rows = ["clients"], columns = ["system"] }
    # as printed: `assay.report.papers.paper_table`
    machines = { "disk" = "…" }             # what the paper says of each, as notes of that table

Where only ratios were printed, ``values`` is empty and ``speed_up`` is given alone. The table of a
series has a row per level, for any system (`assay.report.papers.joined`).

Three further keys are for the comparison of a whole paper
(`assay.report.papers.published_measured`)::

    measured   = [{ test = "load" }, { test = "select" }]  # our cells for each column, if they
                                            # are not those of the report's or the series' columns
    any_system = true                       # measured values stand beside every row
    in_text    = true                       # the paper has these numbers in its text, in no table
    parameters = { latest_year = "2012" }   # as the paper had them: other levels are said in a
                                            # note, and stand beside its numbers all the same

and a row may say which of our cells it stands for, in place of what it is called:
``measured = { system = "mydb", memory = "48GB" }``.

A published row is shown beside measured values when its ``system`` is, in any letter case, the name
of the measured system or else of its driver, and every other key is a factor with the same
level. What a row says of the machine (``hardware`` as printed; ``machine``, ``storage_role``,
``memory_bytes``) is no such key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct, field

from assay.contracts.recorded import WorkloadRecord
from assay.experiment import Scalar
from assay.report.cells.cell_runs import STORAGE_ROLE
from assay.report.declared import selection
from assay.report.declared.selection import Levels, Quantity
from assay.report.values import (
    PUBLISHED,
    PUBLISHED_SPEED_UP,
    Number,
    ReportCell,
    ReportColumn,
    absent,
)
from assay.text.files.toml_file import TomlTable

HARDWARE = "hardware"
INDEPENDENT_OF = "independent_of"
_OF_A_ROW = ("system", "values", "speed_up", "measured")
NOT_FACTORS = {
    "system",
    "values",
    "speed_up",
    "measured",
    HARDWARE,
    "machine",
    STORAGE_ROLE,
    "memory_bytes",
}
COLUMN_FACTORS = (STORAGE_ROLE, "clients")


class FactorLayout(Struct, frozen=True):
    """Which factors label the rows, and which the columns outside the values."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]


class ColumnCells(Struct, frozen=True):
    """Our cells for a column of a published table, and what is read of them."""

    test: str = ""
    """Empty: the test of the table."""
    levels: Levels = field(default_factory=dict)
    quantity: Quantity = field(default_factory=Quantity)
    independent_of: tuple[str, ...] = ()
    """Parameters of the test on which it does not depend."""


class PublishedRow(Struct, frozen=True):
    system: str
    """As printed."""
    values: tuple[float | str, ...]
    """Of each column; a text is what the paper says in words. Empty: only ratios were printed."""
    speed_up: tuple[float, ...]
    levels: Mapping[str, Scalar]
    """Of factors, and what the paper says of the machine (`NOT_FACTORS`)."""
    measured: Levels = field(default_factory=dict)
    """Of our cells, in place of what the row is called."""

    @property
    def factors(self) -> dict[str, Scalar]:
        """Without what it says of the machine."""
        return {key: level for key, level in self.levels.items() if key not in NOT_FACTORS}


class Published(Struct, frozen=True):
    source: str
    conditions: str
    unit: str
    columns: tuple[str, ...]
    rows: tuple[PublishedRow, ...]
    column_factor: str = ""
    column_levels: tuple[Scalar, ...] = ()
    machines: Mapping[str, str] = field(default_factory=dict)
    """What the paper says of its machines and versions, by what ran there."""
    layout: FactorLayout | None = None
    """None: the table is shown beside measured values alone."""
    measured: tuple[ColumnCells, ...] = ()
    """For each column; empty: those of our own table."""
    any_system: bool = False
    """Whether measured values stand beside every row, whatever the published system."""
    in_text: bool = False
    """The paper has these numbers in its text: they are not among the tables it is known for."""
    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    """Of the workload, with which they were measured, where that makes them no other numbers."""

    @property
    def beside(self) -> list[ReportColumn]:
        """The columns beside measured ones."""
        has_speed_up = any(row.speed_up for row in self.rows)
        others = self.columns[1:]
        speed_ups = ["speed-up"] if len(others) == 1 else [f"speed-up {name}" for name in others]
        named = dict.fromkeys(self._printed_columns, PUBLISHED)
        named |= dict.fromkeys(speed_ups if has_speed_up else [], PUBLISHED_SPEED_UP)
        return [
            ReportColumn(f"published\n{title}", is_number=True, role=role)
            for title, role in named.items()
        ]

    @property
    def units(self) -> tuple[str, ...]:
        """The unit of each column."""
        found = tuple(self.unit.split(", "))
        return found * len(self.columns) if len(found) == 1 else found

    @property
    def _printed_columns(self) -> tuple[str, ...]:
        return self.columns if any(row.values for row in self.rows) else ()

    def row(self, names: tuple[str, ...], factors: Mapping[str, Scalar]) -> PublishedRow | None:
        """The row for the first of ``names`` (of system, of driver) that has one."""
        for name in names:
            for row in self.rows:
                is_same = all(factors.get(key) == level for key, level in row.factors.items())
                if row.system.casefold() == name.casefold() and is_same:
                    return row
        return None

    def levels(self, factor: str) -> list[Scalar]:
        """Levels of that factor in the published table; empty if it is not a factor there."""
        if factor in NOT_FACTORS:
            return []
        return list(dict.fromkeys(row.levels[factor] for row in self.rows if factor in row.levels))

    def other_parameters(self, measured: Iterable[Mapping[str, Scalar]]) -> list[str]:
        """Those that our cells, by their factors, have with other levels: ``latest_year: 2012
        published, 2023 measured``."""
        every = list(measured)
        found = []
        for name, there in self.parameters.items():
            here = dict.fromkeys(str(cell[name]) for cell in every if name in cell)
            if here and [*here] != [str(there)]:
                found.append(f"{name}: {there} published, {', '.join(here)} measured")
        return found

    def cells(self, row: PublishedRow | None) -> list[ReportCell]:
        """One cell per column of `beside`."""
        if row is None:
            return [absent("") for _ in self.beside]
        values = list(map(printed_cell, row.values, self.units))
        speed_ups = [ReportCell(f"{value:.2f}", Number(value, "ratio")) for value in row.speed_up]
        cells = [*values, *speed_ups]
        return cells + [absent("")] * (len(self.beside) - len(cells))


def read(section: TomlTable) -> Published:
    """The table of one test; raises `ExperimentError` with the line that is wrong."""
    found = Published(
        source=section.text("source"),
        conditions=section.text("conditions", ""),
        unit=section.text("unit"),
        columns=section.texts("columns"),
        rows=tuple(map(_row, section.sections("rows"))),
        column_factor=section.choice("column_factor", COLUMN_FACTORS)
        if "column_factor" in section
        else "",
        column_levels=section.scalars("column_levels", may_be_empty=True)
        if "column_levels" in section
        else (),
        machines={name: str(text) for name, text in section.section("machines").plain().items()},
        layout=_layout(section.section("layout")) if "layout" in section else None,
        measured=tuple(map(_column_cells, section.sections("measured")))
        if "measured" in section
        else (),
        any_system=section.boolean("any_system", False),
        in_text=section.boolean("in_text", False),
        parameters=section.section("parameters").plain() if "parameters" in section else {},
    )
    section.done()
    if len(found.units) != len(found.columns):
        raise section.error(
            f"unit: {found.unit!r}: expected one unit, or one for each of {found.columns}",
            "unit",
            hint='with commas: "min, s, MB"',
        )
    if found.measured and len(found.measured) != len(found.columns):
        raise section.error("our cells for each of the columns", "measured")
    for row in found.rows:
        if len(row.values) != len(found.columns) and (row.values or not row.speed_up):
            raise section.error(f"{row.system}: a value for each of {found.columns}", "rows")
    return found


def _layout(section: TomlTable) -> FactorLayout:
    layout = FactorLayout(section.texts("rows"), section.texts("columns", ()))
    section.done()
    return layout


def of_record(workload: WorkloadRecord, test: str) -> Published | None:
    """The published table of that test at the time of the run."""
    table = workload.get("published", {}).get(test)
    return read(TomlTable(Path("published.toml"), "", (test,), table)) if table else None


def _row(section: TomlTable) -> PublishedRow:
    system, values = section.text("system"), section.scalars("values", may_be_empty=True)
    others = {name: value for name, value in section.plain().items() if name not in _OF_A_ROW}
    measured = section.section("measured") if "measured" in section else None
    return PublishedRow(
        system,
        values,
        section.scalars("speed_up", may_be_empty=True) if "speed_up" in section else (),
        others,
        {} if measured is None else selection.levels(measured),
    )


def _column_cells(section: TomlTable) -> ColumnCells:
    levels = selection.levels(section, "test", INDEPENDENT_OF)
    return ColumnCells(
        section.text("test", ""),
        levels,
        selection.quantity(section),
        section.texts(INDEPENDENT_OF, ()),
    )


def printed_cell(value: float | str, unit: str) -> ReportCell:
    """As published: a number, or what the paper says in words ("": nothing)."""
    if isinstance(value, str):
        return ReportCell(value) if value else absent("")
    return ReportCell(f"{value:.10g}", Number(value, unit))
