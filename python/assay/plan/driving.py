"""Takes an experiment, a test and parameters; returns the `Driving` of a cell as numbers, or raises
an error with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import structs

from assay.contracts.driving import NUMBERS, OF_GROUPS, PAUSES, DrivingChanges, without
from assay.errors import ArgumentError
from assay.experiment import COLD_CACHES, Driving, Experiment, Scalar
from assay.text import rates
from assay.text.mentions import Mention, phrase
from assay.text.quantities import shown
from assay.text.rates import Rate
from assay.text.units import exact_duration
from assay.workload.driving import NO_PAUSE, PAUSE_FORMS, is_pause, pause
from assay.workload.values import Test


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
    return resolved(test.driving.changed(changes), parameters)


def resolved(asked: Driving, parameters: Mapping[str, Scalar]) -> Driving:
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


def check(what: str, order: str, driving: Driving, *, ends_with_another: bool = False) -> None:
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
            f"arrival {driving.arrival}: no rate is given",
            hint=phrase("{--offered-rate 1000}"),
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
