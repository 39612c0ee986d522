"""Takes the runs of a test; returns its cells in the order of their factors and levels, each
with its repetitions; what their answers and other programs mean for their verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from assay.comparison import factors
from assay.contracts import factors as factor_list
from assay.contracts.metric import ReportColumn
from assay.experiment import Scalar
from assay.judge import CellVerdict, RunWarning, agreement, machine_load, storage_checks, verdict
from assay.judge.agreement import AnsweringRun, asked
from assay.judge.run import EXCEEDED, CellKey, Verdict
from assay.judge.warning_kinds import WarningKind
from assay.plan import cell_names
from assay.plan.cell_names import AS_DECLARED, MACHINE, OFFERED_RATE
from assay.record import ExperimentRecord, Run
from assay.report import factor_order
from assay.report.values import ReportCell, absent
from assay.text import units

TEST, STORAGE, REPETITION = "test", "storage", "repetition"
"""Further factors that distinguish cells and runs."""
STORAGE_ROLE = "storage_role"
"""By this name `CellRuns.level` has what its storage is (`storage_roles`)."""
DURABILITY = "durability"
"""By this name `CellRuns.level` has `CellRuns.durability`, which the system on its storage
determines."""
OF_MIDDLE = "of one run of each cell"
"""Begins the note of a table that takes one run of each cell apart."""
_WHICH_RUNS = (
    " ({runs}): the repetition with the median throughput, of an even number the faster of the "
    "middle two; the summary has the median of all repetitions"
)
_RUNS_NAMED = 6


class CellRuns(Struct, frozen=True, dict=True):
    """One combination of levels, and all runs of it in the order of their repetitions."""

    factors: Mapping[str, Scalar]
    runs: tuple[Run, ...]
    name: str
    """As running text has it: system, storage, clients, and what else varies."""
    judged: CellVerdict
    """As it is on record, limited where another cell got different answers to the same."""
    durability: str | None = None
    """The durability by which it is compared (`assay.judge.storage_checks`); None: that of no
    system was measured, or nothing is committed."""

    @cached_property
    def measured(self) -> tuple[Run, ...]:
        """The runs that were measured to their end, whether right or wrong, without those that
        other programs disturbed (`assay.judge.machine_load`)."""
        ended = [run for run in self.runs if run.is_measured]
        return tuple(
            machine_load.undisturbed_runs(ended, lambda run: run, lambda run: run.key_of_repetition)
        )

    @cached_property
    def counted(self) -> tuple[Run, ...]:
        """Those and the ones that did not end; without what was left out."""
        ids = {run.id for run in self.measured}
        return tuple(run for run in self.runs if not run.is_measured or run.id in ids)

    @cached_property
    def run_ids(self) -> tuple[int, ...]:
        """Numbers of the runs behind its numbers; of all, where none was measured."""
        return tuple(run.id for run in self.measured or self.runs)

    @property
    def published_names(self) -> tuple[str, ...]:
        """What a published table may call the system: its name, or that of its driver."""
        found = [run.deployment for run in self.runs if run.deployment]
        return (self.runs[0].system, *(one.address.driver for one in found[:1]))

    @property
    def system_label(self) -> str:
        """Its system with all that it was given, also where that varies."""
        return self.runs[0].system_label

    @property
    def system_on_machine(self) -> str:
        """Its system, with the machine where there are several."""
        return self.runs[0].system_on_machine

    def level(self, factor: str) -> Scalar | None:
        """The cell's level of a factor; None where it has no such factor."""
        if factor == TEST:
            return self.runs[0].test
        if factor == STORAGE_ROLE:
            return next(filter(None, map(role, self.runs)), None)
        return self.durability if factor == DURABILITY else self.factors.get(factor)

    def without(self, factor: str) -> tuple[object, ...]:
        """What it shares with the cells that differ from it in that factor alone; those of another
        durability do not."""
        others = ((name, level) for name, level in self.factors.items() if name != factor)
        return (self.durability, *others)

    @property
    def absent(self) -> ReportCell:
        """The cell of a table where there is no number: the state, with its reason as a note."""
        for run in self.runs:
            if run.state == "refused":
                return absent("refused", note=f"refused: {run.reason}" if run.reason else "")
        for state in ("failed", "interrupted", EXCEEDED):
            for run in self.runs:
                if run.state == state:
                    return absent(state, note=f"run {run.id}: {run.state_shown}")
        states = {run.state for run in self.runs}
        if states == {"planned"}:
            return absent("not run")
        return absent("not measured" if states <= {"done", "planned"} else "under way")

    def each(self) -> Iterator[CellRuns]:
        """A `CellRuns` for each run, whose repetition is a factor."""
        for run in self.runs:
            yield replace(self, factors={**self.factors, REPETITION: run.repetition}, runs=(run,))


def tests(experiment: ExperimentRecord) -> dict[str, list[Run]]:
    """Runs by test, both in the order in which factors and levels were asked for
    (`assay.report.factor_order`)."""
    by_test: dict[str, list[Run]] = {}
    for run in factor_order.runs_in_order(experiment):
        by_test.setdefault(run.test, []).append(run)
    return by_test


def cells(experiment: ExperimentRecord, runs: Iterable[Run]) -> list[CellRuns]:
    """Runs by cell, in the order of each cell's first run: two runs are of one cell if their
    fingerprints are equal, whatever the cells are called, and they were made on one machine."""
    runs = list(runs)
    groups = list(dict.fromkeys(name for run in runs for name in run.group_clients))
    of_machine = cell_names.varying_machines(run.server_machine for run in runs)
    taken = {name for run in runs for name in _factors(run, groups, of_machine)}
    of_system = cell_names.varying_settings((run.cell for run in runs), taken)
    by_cell: dict[CellKey, list[Run]] = {}
    for run in runs:
        by_cell.setdefault(run.cell_key, []).append(run)
    is_durability_needed = any(run.may_commit for run in runs)
    compared_by = storage_checks.durability_compared_by(
        (one.system_on_machine, one.storage, one.deployment)
        for one in experiment.runs
        if one.deployment and is_durability_needed
    )
    all_factors = [_factors(found[0], groups, of_machine, of_system) for found in by_cell.values()]
    names = cell_names.cell_names(all_factors)
    of_cells = [
        tuple(sorted(found, key=lambda run: (experiment.place_of(run), run.of_repetition)))
        for found in by_cell.values()
    ]
    on_record = [experiment.cells[key] for key in by_cell]
    judged = judged_by_answers(of_cells, names, on_record)
    return [
        CellRuns(
            factors,
            found,
            name,
            verdict,
            compared_by(
                found[0].system_on_machine,
                found[0].storage,
                [run.deployment for run in found if run.deployment],
            ),
        )
        for factors, found, name, verdict in zip(all_factors, of_cells, names, judged, strict=True)
    ]


def levels(cells: Sequence[CellRuns], factor: str) -> list[Scalar]:
    """The factor's levels: numbers by size, names in the order of their first cell."""
    if factor in (TEST, DURABILITY):
        given = (cell.level(factor) for cell in cells)
        return list(dict.fromkeys(level for level in given if level is not None))
    return _levels([cell.factors for cell in cells], factor)


def varying(cells: Sequence[CellRuns], *always: str) -> list[str]:
    """The factors ``always``, and those with more than one level in ``found``, or with one that
    is not the ordinary one."""
    names = dict.fromkeys(name for cell in cells for name in cell.factors)
    return [name for name in names if name in always or _is_named(name, levels(cells, name))]


def roles_are_of_machines(cells: Iterable[CellRuns]) -> bool:
    """Whether each machine has storages of one role alone, as where a paper has disks in one and
    solid state in another: then they are compared with their machines."""
    roles: dict[Scalar, set[Scalar | None]] = {}
    for cell in cells:
        if cell.measured and (machine := cell.level(MACHINE)) is not None:
            roles.setdefault(machine, set()).add(cell.level(STORAGE_ROLE))
    return len(roles) > 1 and all(len(of_machine) == 1 for of_machine in roles.values())


def label(level: Scalar | None, runs: tuple[int, ...] = ()) -> ReportCell:
    """A level as a cell about these runs; None: it has no such factor."""
    if level is None:
        return ReportCell("", is_absent=True, runs=runs)
    return ReportCell(cell_names.level_text(level), level=level, runs=runs)


def label_columns(
    cells: Sequence[CellRuns], factors: Sequence[str], run: Callable[[Any], Run] | None = None
) -> tuple[ReportColumn, ...]:
    """The cell's levels, as the first columns of a table. The source of a row is a pair of a cell
    and what else is shown of it. ``run``: of that, where the row is about one run alone."""

    def of(name: str) -> Callable[[Any], ReportCell]:
        def labelled(source: tuple[CellRuns, Any]) -> ReportCell:
            cell, what = source
            return label(cell.level(name), cell.run_ids if run is None else (run(what).id,))

        return labelled

    return tuple(
        ReportColumn(
            factor_list.heading(name),
            is_number=all(isinstance(level, int | float) for level in levels(cells, name)),
            is_label=True,
            cell=of(name),
        )
        for name in factors
    )


def _factors(
    run: Run,
    groups: Iterable[str],
    of_machine: Sequence[str],
    of_system: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Scalar]:
    """``groups``: those whose clients are not as declared in some run. ``of_machine``,
    ``of_system``: what servers were given of the machine, and asked for, in several levels; one
    level stands in the system's name."""
    label = cell_names.label_without_machine(run.system_label, run.server_machine, of_machine)
    return factors.of_run(
        run,
        cell_names.label_without_settings(label, run.cell, of_system),
        cell_names.setting_levels(run.cell, of_system),
        cell_names.machine_levels(run.server_machine, of_machine),
        {one: run.group_clients.get(one, AS_DECLARED) for one in groups},
        _offered_rate(run),
    )


def _offered_rate(run: Run) -> dict[str, Scalar]:
    rate_per_s = run.driving.offered_rate_per_s
    return {} if rate_per_s is None else {OFFERED_RATE: rate_per_s}


def middle_run(cell: CellRuns) -> Run | None:
    """The repetition that is shown where one run is taken apart
    (`assay.judge.statistics.samples`)."""
    from assay.judge.statistics import samples

    place = samples.middle_repetition([run.driven for run in cell.measured])
    found = None if place is None else cell.measured[place]
    return None if found is None or found.driven is None else found


def middle_runs(cells: Iterable[CellRuns]) -> list[tuple[CellRuns, Run]]:
    """Of each cell that has one."""
    return [(cell, run) for cell in cells if (run := middle_run(cell)) is not None]


def measured_runs(cell: CellRuns) -> list[Run]:
    """The repetitions whose clients were driven to the end."""
    return [run for run in cell.measured if run.driven is not None]


def of_middle(measured_cells: Iterable[CellRuns]) -> tuple[str, ...]:
    """The note of a table that takes one run of each cell apart; none where each was run once."""
    measured_cells = list(measured_cells)
    if not any(len(cell.runs) > 1 for cell in measured_cells):
        return ()
    ids = [run.id for _, run in middle_runs(measured_cells)]
    named = ", ".join(str(number) for number in ids[:_RUNS_NAMED])
    more = f" and {len(ids) - _RUNS_NAMED} more" if len(ids) > _RUNS_NAMED else ""
    return (
        OF_MIDDLE + _WHICH_RUNS.format(runs=f"{'run' if len(ids) == 1 else 'runs'} {named}{more}"),
    )


def without_lost(runs: Iterable[Run], *, of_groups: bool = False) -> tuple[str, ...]:
    """The note of a table with rows of transaction types, or ``of_groups``, which do not have what
    lost generators did; none where they are whole."""
    found = [(run.id, words) for run in runs if (words := _without_lost(run, of_groups))]
    if not found:
        return ()
    what = "groups" if of_groups else "transaction types"
    said = "; ".join(f"of run {number} {words}" for number, words in found)
    return (f"{what} {said}; the outcomes and the TPS of the run have these",)


def without_lost_in_words(runs: Sequence[Run], *, of_groups: bool = False) -> str:
    """The same in short, of all repetitions of a cell; empty where they are whole."""
    found = [words for run in runs if (words := _without_lost(run, of_groups))]
    if len(runs) == len(found) == 1:
        return found[0]
    return f"{len(found)} of {len(runs)} repetitions without lost generators" if found else ""


def _without_lost(run: Run, of_groups: bool) -> str:
    return run.measurement.groups_without if of_groups else run.measurement.types_without


def driven_runs(cells: Iterable[CellRuns]) -> list[tuple[CellRuns, Run]]:
    """Every run whose clients were driven, with its cell."""
    return [(cell, run) for cell in cells for run in cell.runs if run.driven is not None]


def _is_named(name: str, levels: Sequence[Scalar]) -> bool:
    is_said = name != factor_list.CACHE.name  # how cold caches are has columns of its own
    return len(levels) > 1 or (is_said and not factor_list.is_ordinary(name, levels[0]))


def _levels(levels: Sequence[Mapping[str, Scalar]], factor: str) -> list[Scalar]:
    seen = list(dict.fromkeys(factors[factor] for factors in levels if factor in factors))
    numbers = [level for level in seen if isinstance(level, int | float)]
    return [*sorted(numbers)] if len(numbers) == len(seen) else seen


# Takes a run; returns the role of its storage, by which papers name the columns of their tables:
# ``disk`` (it rotates), ``solid state`` or ``memory``.
#
# It is the one that was asked for (``role=disk``). Without, a modelled storage has the role of
# its model; any other what the kernel says of its device, which virtual machines often get wrong.

DISK, SOLID_STATE, MEMORY = "disk", "solid state", "memory"
_OF_MODELS = {"rotating": DISK, "solid-state": SOLID_STATE}


def role(run: Run) -> str | None:
    """None where nothing was provisioned, or the storage is not known."""
    if said := run.cell.storage.role:
        return said.replace("-", " ")
    storage = run.deployment.storage if run.deployment else None
    if storage is None:
        return None
    if model := storage.facts.get("model"):
        return _OF_MODELS.get(model["kind"])
    if storage.file_system == "tmpfs":
        return MEMORY
    rotates = storage.facts.get("is_rotational")
    return None if rotates is None else DISK if rotates else SOLID_STATE


Runs = Sequence[Run]
"""Of one cell."""
_MOST_STATEMENTS = 3


def judged_by_answers(
    cells: Sequence[Runs], names: Sequence[str], verdicts: Sequence[CellVerdict]
) -> list[CellVerdict]:
    """In their order; each of those that differ with the reason not to rank it with the other."""
    found = list(verdicts)

    for first, other, of_first, of_other in _pairs_of_cells(cells):
        differing = agreement.differing_statements(of_first, of_other)
        if not differing:
            continue
        sentences = [one.sentence for one in differing[:_MOST_STATEMENTS]]
        left = len(differing) - len(sentences)
        more = [f"and {left} more"] if left else []
        detail = f"compared with {names[first]}: {'; '.join([*sentences, *more])}"
        warning = RunWarning(WarningKind.ANSWERS_DIFFER.id, detail)
        found[other] = _limited(found[other], warning)
        found[first] = _limited(found[first])
    return found


def agreement_lines(cells: Sequence[Runs], verdicts: Sequence[CellVerdict]) -> Iterator[str]:
    """One where all agree, or where some do not."""
    warnings = (one for judged in verdicts for one in judged.warnings)
    if any(one.name == WarningKind.ANSWERS_DIFFER.id for one in warnings):
        yield "answers differ: these numbers are not ranked (see the warnings)"
        return

    agreed = (
        agreement.agreement_of_statements(first, other)
        for *_, first, other in _pairs_of_cells(cells)
    )
    for words in dict.fromkeys(filter(None, agreed)):
        yield f"answers are the same: {words}"


def _pairs_of_cells(
    cells: Sequence[Runs],
) -> Iterator[tuple[int, int, list[AnsweringRun], list[AnsweringRun]]]:
    """Each cell with the first that asked the same: seeds are equal where only systems, storages
    and the like differ."""
    if len(cells) < 2:
        return
    firsts: dict[tuple[str, int], tuple[int, list[AnsweringRun]]] = {}

    for place, runs in enumerate(cells):
        known = asked([run for run in runs if run.is_measured])
        if not known:
            continue
        first = firsts.setdefault((runs[0].full_test_name, runs[0].seed), (place, known))
        if first[0] != place:
            yield first[0], place, first[1], known


def _limited(own: CellVerdict, *warnings: RunWarning) -> CellVerdict:
    limit = Verdict.because("unreliable", "answers differ")
    word = verdict.worst([limit, own.verdict])
    return replace(own, verdict=word, warnings=(*own.warnings, *warnings))


DISTURBED_RUNS = "disturbed"


def disturbed_runs(cells: Sequence[CellRuns]) -> str:
    """``2 of 22 runs left out, as other programs disturbed them; 2 measured again``; empty where
    there is none of both."""
    ended = [run for cell in cells for run in cell.runs if run.is_measured]
    left_out = len(ended) - sum(len(cell.measured) for cell in cells)
    again = sum(run.in_place_of is not None for run in ended)
    of_all = f"of {units.counted(len(ended), 'run')}"
    if not left_out:
        return f"{again} {of_all} repeat what other programs disturbed" if again else ""
    them = "it" if left_out == 1 else "them"
    said = f"{left_out} {of_all} left out, as other programs disturbed {them}"
    return f"{said}; {again} measured again" if again else said
