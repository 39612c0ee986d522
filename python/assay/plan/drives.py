"""Takes an experiment and a test, or a planned run and its drive steps; returns how their clients
are driven, with clients, pace and parameters as numbers, or raises an error with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from msgspec import Struct, field, structs

from assay.contracts.driving import (
    NUMBERS,
    OF_GROUPS,
    PAUSES,
    READ_PRIMARY,
    STOPS,
    DrivingChanges,
    reads_of_scripts,
    without,
    without_other_limits,
)
from assay.contracts.factors import CACHE
from assay.errors import ArgumentError, ExperimentError
from assay.experiment import COLD_CACHES, Driving, Experiment, Scalar
from assay.plan.values import PlannedRun
from assay.registry import WORKLOAD_FILE
from assay.text import rates
from assay.text.phrases import Mention, did_you_mean, phrase
from assay.text.quantities import CLIENTS, SHARE_IN_A_MIX, WEIGHT_IN_A_MIX, shown
from assay.text.rates import Rate
from assay.text.units import exact_duration
from assay.workload.driving import NO_PAUSE, PAUSE_FORMS, is_pause, pause
from assay.workload.schema import evaluate
from assay.workload.steps import Deferred, Drive, Group, Step
from assay.workload.values import Test, Workload

_COUNTS = tuple(name for name in STOPS if name != "duration_s")
"""Limits per group: a limit of the group replaces those of the step."""
_DIGITS_OF_SHARES = 5
"""Weights times ten to this power less one have 32 bits, as the engine takes them."""


class PlannedGroup(Struct, frozen=True):
    """A group of clients in a run, with values in place of parameters."""

    group: Group
    mix: Mapping[str, int]
    clients: int
    driving: Driving
    """As numbers only; settings of the whole step are the same in all groups."""

    @property
    def name(self) -> str:
        return self.group.name

    @property
    def scripts(self) -> tuple[str, ...]:
        return self.group.scripts

    @property
    def order(self) -> str:
        return self.group.order


class PlannedDrive(Struct, frozen=True):
    """A drive step of a run."""

    step: Drive
    run: PlannedRun
    """The run with the clients, the pace and the parameters of this step."""
    scripts: tuple[str, ...]
    order: str
    mix: Mapping[str, int] = field(default_factory=dict)
    groups: tuple[PlannedGroup, ...] = ()
    deferred: Deferred | None = None
    """Who runs what ``scripts`` queue."""

    @property
    def clients(self) -> int:
        """All at once, in its groups or beside them."""
        return self.run.cell.clients + (self.deferred.clients if self.deferred else 0)


def drives(workload: Workload, run: PlannedRun) -> tuple[PlannedDrive, ...]:
    """All drive steps of the run. Raises `ArgumentError` or `ExperimentError` for settings that
    contradict one another."""
    return tuple(drive(workload, run, step) for step in workload.test(run.cell.test).drives)


def drive(workload: Workload, run: PlannedRun, step: Drive) -> PlannedDrive:
    """The step, with every parameter replaced by its value."""
    test, cell = workload.test(run.cell.test), run.cell
    parameters = parameters_of(workload, run, step)
    known = workload.with_defaults(parameters)
    changed = cell.driving.changed(step.driving_changes).of_system(cell.system.name)
    paced = resolved_driving(changed, known)
    paced = on_cache(paced, cell.level(CACHE))
    clients = _clients(step.clients, known, cell.clients)
    if step.is_one_client:
        paced = structs.replace(paced, transactions=_together(paced, clients))
        clients = 1
    groups = _with_clients(
        _group(planned_group, paced, known, cell.group_clients.get(planned_group.name))
        for planned_group in step.groups
    )
    groups = tuple(
        structs.replace(one, driving=_routed(one.driving, one.scripts, workload)) for one in groups
    )
    if groups:
        clients = sum(planned_group.clients for planned_group in groups)
        for planned_group in groups:
            check_driving(
                f"group {planned_group.name}",
                planned_group.order,
                planned_group.driving,
                ends_with_another=bool(planned_group.group.ends_with),
            )
    else:
        order = step.order if step.scripts else test.order
        check_driving(f"test {test.name}", order, paced)
    own = step if step.scripts else test
    scripts = own.scripts
    if groups:
        scripts = tuple(
            dict.fromkeys(name for planned_group in groups for name in planned_group.scripts)
        )
    mix = weights(own.mix, known)
    deferred = None if groups or cell.feed else test.deferred
    if deferred:
        scripts = (*scripts, *deferred.scripts)
    if not cell.feed:
        paced = _routed(paced, scripts, workload)
    of_step = replace(cell, clients=clients, driving=paced, parameters=parameters)
    planned_run = replace(run, cell=of_step)
    return PlannedDrive(step, planned_run, scripts, own.order, mix, groups, deferred)


def _routed(whole: Driving, scripts: Iterable[str], workload: Workload) -> Driving:
    """With the names of these scripts where it says where they are sent; one word, where all go
    there. Raises `ArgumentError` for a name that is of no script of the workload."""
    asked = reads_of_scripts(whole.read)
    if not asked:
        return whole
    by_script: dict[str, str] = {}
    from assay.workload import script_names

    for word, read in asked.items():
        names = script_names.meant_scripts(word, workload.scripts)
        if not names:
            raise ArgumentError(
                f"read: no script is called {word}, which would go to {read}",
                hint=did_you_mean(word, tuple(workload.scripts)),
            )
        by_script |= dict.fromkeys(names, read)
    of_these = {script: by_script.get(script, READ_PRIMARY) for script in scripts}
    if len(words := set(of_these.values())) == 1:
        return structs.replace(whole, read=words.pop())
    sent = (f"{script}={read}" for script, read in sorted(of_these.items()) if read != READ_PRIMARY)
    return structs.replace(whole, read=",".join(sent))


def parameters_of(workload: Workload, run: PlannedRun, step: Step) -> Mapping[str, Scalar]:
    """The run's parameters, with those that this step changes."""
    cell = run.cell
    if not step.parameters:
        return cell.parameters
    known = {**workload.with_defaults(cell.parameters), "clients": cell.clients}
    file = workload.folder / WORKLOAD_FILE
    changed = {
        name: evaluate(expression, known, file) for name, expression in step.parameters.items()
    }
    for name, value in changed.items():
        if not workload.parameters[name].fits(value):
            raise ExperimentError(
                f"{name} = {shown(value)}: expected {workload.parameters[name].type}",
                file=file,
                line=step.parameters[name].line,
            )
    return {**cell.parameters, **changed}


def clients_of(
    test: Test, parameters: Mapping[str, Scalar], of_groups: Mapping[str, int]
) -> int | None:
    """The most clients that work at once; None: a step takes the count of the run. ``of_groups``:
    the counts of groups that differ from the declared ones."""
    counts = [
        sum(
            of_groups.get(group.name) or declared_clients(group, parameters)
            for group in step.groups
        )
        if step.groups
        else _clients(step.clients, parameters, 0)
        for step in test.drives
    ]
    return max(counts) if counts and all(counts) else None


def declared_clients(group: Group, parameters: Mapping[str, Scalar]) -> int:
    """0: the group is left out."""
    if isinstance(group.clients, str) and parameters[group.clients] == 0:
        return 0
    return _clients(group.clients, parameters, 1)


def _with_clients(groups: Iterable[PlannedGroup]) -> tuple[PlannedGroup, ...]:
    """Those that have clients, but for those that would end with a group that has none."""
    found = tuple(group for group in groups if group.clients)
    names = {group.name for group in found}
    return tuple(group for group in found if group.group.ends_with in ("", *names))


def _clients(asked: int | str | None, parameters: Mapping[str, Scalar], otherwise: int) -> int:
    if asked is None:
        return otherwise
    found = parameters[asked] if isinstance(asked, str) else asked
    if not CLIENTS.holds(found):
        raise ArgumentError(f"clients = {shown(found)}: expected {CLIENTS.expected}")
    return int(found)


def weights(asked: Mapping[str, int | str], parameters: Mapping[str, Scalar]) -> Mapping[str, int]:
    """The weights of a mix, with every parameter replaced by its value; shares (0.95, 0.05) become
    the smallest powers of ten times themselves that are whole. Raises `ArgumentError` where that is
    no weight, and where no script is left to run."""
    found: dict[str, Scalar] = {}
    for script, weight in asked.items():
        value = parameters[weight] if isinstance(weight, str) else weight
        kind = SHARE_IN_A_MIX if isinstance(value, float) else WEIGHT_IN_A_MIX
        if not kind.holds(value):
            raise ArgumentError(
                f"{weight} = {shown(value)}, the weight of {script}: expected {kind.expected}"
            )
        found[script] = value
    if found and not any(found.values()):
        named = ", ".join(f"{name} {asked[name]}" for name in found)
        raise ArgumentError(f"no script of the mix has a weight above 0: {named}")
    scaled = _whole([float(value) for value in found.values()])
    return dict(zip(found, scaled, strict=True))


def _whole(shares: Sequence[float]) -> list[int]:
    for power in range(_DIGITS_OF_SHARES):
        scaled = [round(share * 10**power, _DIGITS_OF_SHARES) for share in shares]
        if all(share.is_integer() for share in scaled):
            return [int(share) for share in scaled]
    raise ArgumentError(
        f"the weights of a mix are {', '.join(map(shown, shares))}: expected shares of at most "
        f"{_DIGITS_OF_SHARES - 1} digits behind the point"
    )


def _together(paced: Driving, clients: int) -> int | None:
    return None if paced.transactions is None else int(paced.transactions) * clients


def _group(
    group: Group, whole: Driving, parameters: Mapping[str, Scalar], clients: int | None
) -> PlannedGroup:
    changes = without_other_limits(group.driving_changes, _COUNTS)
    if changes.get("offered_rate_per_s") and not whole.is_open:
        changes.setdefault("arrival", "constant")
    return PlannedGroup(
        group,
        mix=weights(group.mix, parameters),
        clients=clients or declared_clients(group, parameters),
        driving=resolved_driving(structs.replace(whole, **changes), parameters),
    )


def driving(
    experiment: Experiment,
    test: Test,
    parameters: Mapping[str, Scalar],
    offered_rate_per_s: Rate | None,
) -> Driving:
    """The driving of the test as a whole, without the changes of its steps."""
    changes = DrivingChanges(experiment.driving)
    if offered_rate_per_s is not None:
        changes["offered_rate_per_s"] = offered_rate_per_s
    if test.groups:
        changes = without(changes, OF_GROUPS)
    if test.overlaps:  # it ends when every client has run its transactions
        changes = without(changes, ("duration_s", "passes"))
    return resolved_driving(test.driving.changed(changes), parameters)


def resolved_driving(asked: Driving, parameters: Mapping[str, Scalar]) -> Driving:
    """The driving with names of parameters replaced by values. A limit of 0 means
    none."""
    levels = {name: getattr(asked, name) for name in NUMBERS}
    values = {
        name: parameters.get(level, level) if isinstance(level, str) else level
        for name, level in levels.items()
    }
    for name in PAUSES:
        value = getattr(asked, name)
        if value in parameters:
            value = str(parameters[value])
            if not is_pause(value):
                raise ArgumentError(
                    f"{name} is {value!r}: expected a distribution of pauses, or {NO_PAUSE}",
                    hint=PAUSE_FORMS,
                )
            value = pause(value)
        values[name] = value
    values["latency_limit_s"] = values["latency_limit_s"] or None
    values["statement_limit_s"] = values["statement_limit_s"] or None
    return structs.replace(asked, **values)


def on_cache(driving: Driving, cache: str) -> Driving:
    """The driving where the caches are so: nothing warms cold ones before the measurement."""
    return (
        structs.replace(driving, ramp_up_s=0.0, warm_up_s=0.0) if cache in COLD_CACHES else driving
    )


def check_driving(
    what: str, order: str, driving: Driving, *, ends_with_another: bool = False
) -> None:
    """Raises `ArgumentError` for settings of ``what`` that contradict one another."""
    for name, quantity in NUMBERS.items():
        value = getattr(driving, name)
        if value is not None and not quantity.holds(value):
            raise ArgumentError(f"{name} = {shown(value)}: expected {quantity.expected}")
    if not driving.stop and not ends_with_another:
        raise ArgumentError(
            f"the {what} never ends", hint=phrase("{--duration 30} or {--transactions 1000}")
        )
    if order != "sequence" and driving.passes is not None:
        raise ArgumentError(
            f"the {what} is a mix, which has no passes",
            hint=phrase("{--duration 30} or {--transactions 1000}"),
        )
    if driving.queue is not None and driving.has_count_of_each_client:
        raise ArgumentError(
            f"the {what} has a queue, which all clients share, and a count of each client's own",
            hint="give queue, or transactions, or passes",
        )
    if driving.is_open and driving.passes is not None:
        raise ArgumentError(
            "passes do not apply to an open loop, which starts transactions at a given rate",
            hint=phrase("{--duration 30} or {--transactions 1000}"),
        )
    if driving.is_open and driving.offered_rate_per_s is None:
        raise ArgumentError(
            f"arrival {driving.arrival}: no rate is given", hint=phrase("{--offered-rate 1000}")
        )
    _refuse_later_steps(driving)
    if not driving.is_open and driving.offered_rate_per_s is not None:
        raise ArgumentError(
            "an offered rate has no effect in a closed loop",
            hint=phrase("{--arrival constant} or {--arrival poisson}"),
        )
    for name in PAUSES:
        if driving.is_open and getattr(driving, name) is not None:
            raise ArgumentError(
                f"{name} has no effect in an open loop, which starts transactions at a given rate",
                hint=phrase("{}, or {--arrival closed}", Mention(name, "none")),
            )


def _refuse_later_steps(driving: Driving) -> None:
    """Raises `ArgumentError` for a profile with a step that would never come."""
    rate, measured_s = driving.offered_rate_per_s, driving.duration_s
    if rate is None or not isinstance(measured_s, int | float):
        return
    change_s = rates.last_change_s(rate)
    is_end_of_ramp = rates.ends_in_a_ramp(rate)
    if change_s > measured_s or (change_s == measured_s and not is_end_of_ramp):
        shorter = f"end the ramp at {measured_s:.12g}s" if is_end_of_ramp else "leave the step out"
        raise ArgumentError(
            f"the profile of the offered rate has a step at {exact_duration(change_s)}, and the "
            f"measurement ends after {exact_duration(measured_s)}",
            hint=phrase("{}, or a longer {}", shorter, Mention("duration", f"{2 * change_s:.12g}")),
        )
