"""Takes the published table of a test; returns its numbers, as printed, the cells that have the
levels which a table or a claim names, which stand in each of its columns, and the notes below
it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Struct, field

from assay.contracts.factors import OF_MACHINE
from assay.contracts.metric import ReportColumn, unit_of
from assay.experiment import Scalar
from assay.judge.run import EXCEEDED
from assay.plan import cell_names
from assay.record import ExperimentRecord, Run
from assay.report import cell_runs
from assay.report.cell_runs import STORAGE_ROLE, CellRuns
from assay.report.declared import aggregates, declaration
from assay.report.values import PUBLISHED, PUBLISHED_SPEED_UP, Number, ReportCell, absent
from assay.text import units
from assay.text.keys import FLAG, SCALAR, TEXT, TEXTS, Listed, OneOf, SeveralKeys, in_file
from assay.text.toml_file import TomlTable
from assay.workload.declared_reports import SHOWN, Declaration
from assay.workload.workload_record import WorkloadRecord

Level = Scalar | tuple[Scalar, ...]
"""Several: any of them."""
Levels = Mapping[str, Level]
"""By factor."""
QUANTITY = ("value", "key", "per")


class Quantity(Struct, frozen=True):
    """What is read from each run."""

    value: Annotated[str, in_file(OneOf(SHOWN))] = ""
    keys: Annotated[tuple[str, ...], in_file(TEXTS, name="key")] = ()
    per: Annotated[str, in_file(TEXT)] = ""

    def key(self, workload: WorkloadRecord, test: str) -> ReportColumn:
        """The key by which runs of the test are read; without a value or key, that of the test's
        own report."""
        if len(self.keys) == 1 and not self.per:
            return aggregates.at(*self.keys)
        if self.keys:
            unit = "ratio" if self.per else unit_of(self.keys[0])
            whole = " + ".join(self.keys)
            name = f"({whole}) / {self.per}" if self.per else whole
            return aggregates.of_paths(name, unit, self._read)
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
    return Quantity(**section.fields(Quantity))


def named_levels(section: TomlTable, *apart: str) -> dict[str, Level]:
    """Every other key of the section, which names a factor."""
    found: dict[str, Level] = {}
    for name in section.names():
        if name not in (*apart, *QUANTITY):
            several = section.scalars(name)
            found[name] = several[0] if len(several) == 1 else several
    return found


def all_cells(experiment: ExperimentRecord) -> list[CellRuns]:
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

    rows: Annotated[tuple[str, ...], in_file(TEXTS)]
    columns: Annotated[tuple[str, ...], in_file(TEXTS)] = ()


class ColumnCells(Struct, frozen=True):
    """Our cells for a column of a published table, and what is read of them."""

    test: Annotated[str, in_file(TEXT)] = ""
    """Empty: the test of the table."""
    levels: Annotated[
        Levels, SeveralKeys((), lambda section: named_levels(section, "test", INDEPENDENT_OF))
    ] = field(default_factory=dict)
    quantity: Annotated[Quantity, SeveralKeys((), quantity)] = field(default_factory=Quantity)
    independent_of: Annotated[tuple[str, ...], in_file(TEXTS)] = ()
    """Parameters of the test on which it does not depend."""


_ANY_NUMBER = in_file(Listed(SCALAR, may_be_empty=True))


class PublishedRow(Struct, frozen=True):
    system: Annotated[str, in_file(TEXT)]
    """As printed."""
    values: Annotated[tuple[float | str, ...], _ANY_NUMBER]
    """Of each column; a text is what the paper says in words. Empty: only ratios were printed."""
    levels: Annotated[Mapping[str, Scalar], SeveralKeys(
        (),
        lambda section: {
            name: value for name, value in section.plain().items() if name not in _OF_A_ROW
        },
    )]  # fmt: skip
    """Of factors, and what the paper says of the machine (`NOT_FACTORS`)."""
    speed_up: Annotated[tuple[float, ...], _ANY_NUMBER] = ()
    measured: Annotated[Levels, in_file(
        (), read=lambda section, key: named_levels(section.section(key))
    )] = field(default_factory=dict)  # fmt: skip
    """Of our cells, in place of what the row is called."""

    @property
    def factors(self) -> dict[str, Scalar]:
        """Without what it says of the machine."""
        return {key: level for key, level in self.levels.items() if key not in NOT_FACTORS}


class Published(Struct, frozen=True):
    source: Annotated[str, in_file(TEXT)]
    unit: Annotated[str, in_file(TEXT)]
    columns: Annotated[tuple[str, ...], in_file(TEXTS)]
    rows: Annotated[tuple[PublishedRow, ...], in_file((), below=PublishedRow, is_list=True)] = ()
    conditions: Annotated[str, in_file(TEXT)] = ""
    column_factor: Annotated[str, in_file(OneOf(COLUMN_FACTORS))] = ""
    column_levels: Annotated[tuple[Scalar, ...], _ANY_NUMBER] = ()
    machines: Annotated[Mapping[str, str], in_file(
        (),
        read=lambda section, key: {
            name: str(text) for name, text in section.section(key).plain().items()
        },
    )] = field(default_factory=dict)  # fmt: skip
    """What the paper says of its machines and versions, by what ran there."""
    layout: Annotated[FactorLayout | None, in_file((), below=FactorLayout)] = None
    """None: the table is shown beside measured values alone."""
    measured: Annotated[tuple[ColumnCells, ...], in_file((), below=ColumnCells, is_list=True)] = ()
    """For each column; empty: those of our own table."""
    any_system: Annotated[bool, in_file(FLAG)] = False
    """Whether measured values stand beside every row, whatever the published system."""
    in_text: Annotated[bool, in_file(FLAG)] = False
    """The paper has these numbers in its text: they are not among the tables it is known for."""
    parameters: Annotated[Mapping[str, Scalar], in_file(
        (), read=lambda section, key: section.section(key).plain()
    )] = field(default_factory=dict)  # fmt: skip
    """Of the workload, with which they were measured, where that makes them no other numbers."""

    @property
    def beside(self) -> list[ReportColumn]:
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
    found: Published = section.thing(Published)
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


def of_record(workload: WorkloadRecord, test: str) -> Published | None:
    """The published table of that test at the time of the run."""
    table = workload.published.get(test)
    return read(TomlTable(Path("published.toml"), "", (test,), table)) if table else None


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


class PublishedColumn(ColumnCells, frozen=True, kw_only=True):
    """A column of the paper's table, and our cells for it."""

    title: str
    unit: str
    read: ReportColumn
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
    return PublishedColumn(
        title=title,
        unit=unit,
        test=test,
        levels={"test": test, **own.levels},
        quantity=own.quantity,
        independent_of=own.independent_of,
        read=own.quantity.key(workload, test),
    )
