"""Takes the published table of a test; returns its numbers, as printed, the cells that have the
levels which a table or a claim names, which stand in each of its columns, and the notes below
it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from assay.contracts.factors import OF_MACHINE
from assay.experiment import Scalar
from assay.judge.run import EXCEEDED
from assay.plan import cell_names
from assay.record import ExperimentRecord, Run
from assay.report import cell_runs
from assay.report.cell_runs import STORAGE_ROLE, CellRuns
from assay.report.declared import aggregates, declaration
from assay.report.declared.aggregates import RunValue
from assay.report.declared.declaration import Declaration
from assay.report.values import (
    PUBLISHED,
    PUBLISHED_SPEED_UP,
    Number,
    ReportCell,
    ReportColumn,
    absent,
)
from assay.text import units
from assay.text.toml_file import TomlTable
from assay.workload.derived_metrics import WorkloadRecord

Level = Scalar | tuple[Scalar, ...]
"""Several: any of them."""
Levels = Mapping[str, Level]
"""By factor."""
QUANTITY = ("value", "key", "per")


class Quantity(Struct, frozen=True):
    """What is read from each run."""

    value: str = ""
    keys: tuple[str, ...] = ()
    per: str = ""

    def key(self, workload: WorkloadRecord, test: str) -> RunValue:
        """The key by which runs of the test are read; without a value or key, that of the test's
        own report."""
        if len(self.keys) == 1 and not self.per:
            return aggregates.at(*self.keys)
        if self.keys:
            unit = "ratio" if self.per else aggregates.unit_at(self.keys[0])
            whole = " + ".join(self.keys)
            name = f"({whole}) / {self.per}" if self.per else whole
            return RunValue(self._read, unit, name=name)
        declared = declaration.of_record(workload, test)
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


def quantity(section: TomlTable, default: Quantity | None = None) -> Quantity:
    """``value``, ``key`` and ``per`` of the section; ``default`` where it has none of them."""
    if default is not None and not any(name in section for name in QUANTITY):
        return default
    return Quantity(
        section.choice("value", aggregates.KEYS) if "value" in section else "",
        section.texts("key", ()),
        section.text("per", ""),
    )


def named_levels(section: TomlTable, *apart: str) -> dict[str, Level]:
    """Every other key of the section, which names a factor."""
    found: dict[str, Level] = {}
    for name in section.names():
        if name not in (*apart, *QUANTITY):
            several = section.scalars(name)
            found[name] = several[0] if len(several) == 1 else several
    return found


def all_cells(experiment: ExperimentRecord) -> list[CellRuns]:
    """The cells of every test."""
    return [
        cell
        for runs in cell_runs.tests(experiment).values()
        for cell in cell_runs.cells(experiment, runs)
    ]


def cells_with_levels(cells: Iterable[CellRuns], wanted: Levels) -> list[CellRuns]:
    return [cell for cell in cells if all(has_level(cell, *one) for one in wanted.items())]


def has_level(cell: CellRuns, factor: str, wanted: Level) -> bool:
    """Whether the cell has that level, or one of them."""
    if isinstance(wanted, tuple):
        return any(has_level(cell, factor, one) for one in wanted)
    if factor == "system":
        names = (*cell.published_names, cell.runs[0].system_label)
        return str(wanted).casefold() in [name.casefold() for name in names]
    level = level_of(cell, factor)
    if isinstance(wanted, str) or isinstance(level, str):
        return level is not None and str(level) == str(wanted)
    return bool(level == wanted)


def level_of(cell: CellRuns, factor: str) -> Scalar | None:
    """Also of an option, a setting or the machine of its system."""
    found = cell.level(factor)
    if found is not None or factor == cell_runs.TEST:
        return found
    run = cell.runs[0]
    if factor in OF_MACHINE:
        return cell_names.machine_levels(run.server_machine, [factor])[factor]
    return cell_names.asked_settings(run.cell).get(factor)


def system_apart_from(cell: CellRuns, factors: Collection[str]) -> str:
    """What its system is called without the options and settings that are these factors."""
    planned = cell.runs[0].cell
    own = {name: name for name in factors if name in cell_names.asked_settings(planned)}
    label = str(cell.factors["system"])
    return cell_names.label_without_settings(label, planned, own)


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
    table = workload.published.get(test)
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
        {} if measured is None else named_levels(measured),
    )


def _column_cells(section: TomlTable) -> ColumnCells:
    levels = named_levels(section, "test", INDEPENDENT_OF)
    return ColumnCells(
        section.text("test", ""),
        levels,
        quantity(section),
        section.texts(INDEPENDENT_OF, ()),
    )


def printed_cell(value: float | str, unit: str) -> ReportCell:
    """As published: a number, or what the paper says in words ("": nothing)."""
    if isinstance(value, str):
        return ReportCell(value) if value else absent("")
    return ReportCell(f"{value:.10g}", Number(value, unit))


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


def notes_on_failures(cells: Iterable[CellRuns]) -> list[str]:
    """A note for each run that failed, where other runs of its cell were measured."""
    return [
        f"run {run.id}, {cell.name}: {run.state_shown}"
        for cell in cells
        if cell.measured
        for run in cell.runs
        if run.state in ("failed", EXCEEDED, "interrupted", "refused") and not run.is_measured
    ]


def note_on_points(published: Published | None) -> tuple[str, ...]:
    """What was published, in one note: its rows are no rows of a table of runs."""
    if published is None:
        return ()
    are_several = len({row.system for row in published.rows}) > 1
    shown = dict.fromkeys(
        (f"{row.system}: " if are_several else "") + ", ".join(_printed_values(published, row))
        for row in published.rows
    )
    return (f"published: {published.source}: {'; '.join(shown)} ({published.conditions})",)


def _printed_values(published: Published, row: PublishedRow) -> Iterator[str]:
    """``server: 80 %``, ``1K update: several hours``."""
    for title, value, unit in zip(published.columns, row.values, published.units, strict=False):
        if not isinstance(value, str):
            yield f"{title}: {value:,.10g} {unit}"
        elif value:
            yield f"{title}: {value}"


def notes_beside(published: Published | None, cells: Iterable[CellRuns]) -> list[str]:
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


class PublishedColumn(Struct, frozen=True):
    """A column of the paper's table, and our cells for it."""

    title: str
    unit: str
    test: str
    levels: Levels
    quantity: Quantity
    key: RunValue
    independent_of: tuple[str, ...] = ()
    """Parameters of the test on which it does not depend."""

    @property
    def units(self) -> tuple[str, ...]:
        """Those in which the paper may have what we measure; empty: in any words."""
        return units.readable(self.key.unit)

    def number(self, cell: CellRuns) -> Number | None:
        """Our number in the paper's unit; None also where it cannot be read in that unit."""
        found = aggregates.number(cell, self.key, is_mean=True)
        if found is None:
            return None
        value = units.converted(found.value, found.unit, self.unit)
        if value is None:
            return None
        return Number(value, self.unit, found.n, judged=found.judged)


def columns_of_table(
    workload: WorkloadRecord, name: str, published: Published
) -> tuple[PublishedColumn, ...]:
    """Of the table of that test or series; empty: the report of the test has no such columns."""
    found = zip(published.columns, published.units, _own(workload, name, published), strict=False)
    return tuple(_published_column(workload, name, *one) for one in found)


def _own(workload: WorkloadRecord, name: str, published: Published) -> Sequence[ColumnCells]:
    """Of each column."""
    if published.measured:
        return published.measured
    for joined in declaration.series_of_record(workload):
        if joined.name == name:
            return [
                ColumnCells(
                    one.test,
                    {"cache": one.cache} if one.cache else {},
                    Quantity(one.value) if one.value else Quantity(keys=(one.key,)),
                    one.independent_of,
                )
                for one in joined.columns
            ]
    declared = declaration.of_record(workload, name)
    if declared and declared.fields:
        return []
    factor = declared.columns if declared else "storage"
    return [ColumnCells(levels={factor: title}) for title in published.columns]


def _published_column(
    workload: WorkloadRecord, name: str, title: str, unit: str, own: ColumnCells
) -> PublishedColumn:
    test = own.test or name
    key = own.quantity.key(workload, test)
    levels: Levels = {"test": test, **own.levels}
    return PublishedColumn(title, unit, test, levels, own.quantity, key, own.independent_of)
