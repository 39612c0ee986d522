"""Takes levels of factors, as a published table or claim names them, and what is compared; returns
the cells that have them, and the values of their repetitions.

Levels are by name: ``test``, ``system`` (in any letter case the name of a measured system, or of
its driver, or its whole label), ``storage``, ``clients``, a parameter, ``cache``,
``client_program``, or an option, setting or machine of the system (``engine``, ``memory``). A list
of levels is any of them.

What is compared: ``value`` (as in ``[report.TEST]``), or ``key``, a path through the observation;
several paths are summed. ``per``, another path, divides it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct

from assay.contracts.factors import OF_MACHINE
from assay.contracts.recorded import WorkloadRecord
from assay.experiment import Scalar
from assay.plan import server_machines, system_settings
from assay.record import ExperimentRecord, Run
from assay.report.cells import cell_runs
from assay.report.cells.cell_runs import CellRuns
from assay.report.declared import aggregates, declaration, field_path
from assay.report.declared.aggregates import RunValue
from assay.text.files.toml_file import TomlTable

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
            unit = "ratio" if self.per else field_path.unit(self.keys[0])
            whole = " + ".join(self.keys)
            name = f"({whole}) / {self.per}" if self.per else whole
            return RunValue(self._read, unit, name=name)
        declared = declaration.of_record(workload, test)
        return aggregates.KEYS[self.value or (declared.value if declared else "elapsed")]

    def _read(self, run: Run) -> float | None:
        found = [field_path.value(run, key) for key in self.keys]
        if not all(isinstance(value, int | float) for value in found):
            return None
        whole: float = sum(found)
        if not self.per:
            return whole
        below = field_path.value(run, self.per)
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


def levels(section: TomlTable, *apart: str) -> dict[str, Level]:
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


def with_levels(cells: Iterable[CellRuns], wanted: Levels) -> list[CellRuns]:
    return [cell for cell in cells if all(has(cell, *one) for one in wanted.items())]


def has(cell: CellRuns, factor: str, wanted: Level) -> bool:
    """Whether the cell has that level, or one of them."""
    if isinstance(wanted, tuple):
        return any(has(cell, factor, one) for one in wanted)
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
        return server_machines.levels(run.server_machine, [factor])[factor]
    return system_settings.asked(run.cell).get(factor)


def system_apart_from(cell: CellRuns, factors: Collection[str]) -> str:
    """What its system is called without the options and settings that are these factors."""
    document = cell.runs[0].cell
    own = {name: name for name in factors if name in system_settings.asked(document)}
    label = str(cell.factors["system"])
    return system_settings.label_without(label, document, own)
