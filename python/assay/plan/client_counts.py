"""Takes what an experiment says of clients, and a test; returns how many clients each of its cells
has, and each group of clients where that is not as the workload declares it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from assay.errors import ArgumentError
from assay.experiment import Experiment, Scalar
from assay.plan.drives import clients_of, declared_clients
from assay.workload.steps import Drive
from assay.workload.values import Test


class ClientCount(NamedTuple):
    at_once: int
    """The most that work at once, of all groups together."""
    of_groups: Mapping[str, int]
    """Of each group; empty: all are as they are declared."""


def number_of_levels(experiment: Experiment, test: Test) -> int:
    """How many `levels` there are."""
    if test.groups and experiment.group_clients:
        return math.prod(len(one) for one in _named(experiment, test).values())
    return len(experiment.clients or test.clients)


def levels(
    experiment: Experiment, test: Test, parameters: Mapping[str, Scalar]
) -> list[ClientCount]:
    """Every client count of the test. One number for a test with groups is shared among them in the
    ratio that is declared. Raises `ArgumentError` where that leaves a fraction of a client."""
    found = []
    for of_all, of_groups in _asked(experiment, test, parameters):
        at_once = clients_of(test, parameters, of_groups)
        declared = {one.name: declared_clients(one, parameters) for one in test.groups}
        in_full = {**declared, **of_groups}
        changed = {} if in_full == declared else in_full
        found += [ClientCount(at_once or one, changed) for one in of_all]
    return list({(one.at_once, *sorted(one.of_groups.items())): one for one in found}.values())


def _asked(
    experiment: Experiment, test: Test, parameters: Mapping[str, Scalar]
) -> Iterator[tuple[tuple[int, ...], dict[str, int]]]:
    """Counts of clients without a group, and counts by group."""
    if test.groups and experiment.group_clients:
        named = _named(experiment, test)
        for values in itertools.product(*named.values()):
            yield test.clients, dict(zip(named, values, strict=True))
    elif test.groups and experiment.clients:
        for count in experiment.clients:
            yield (count,), _shared(test, count, parameters)
    else:
        yield experiment.clients or test.clients, {}


def _named(experiment: Experiment, test: Test) -> dict[str, tuple[int, ...]]:
    """Levels of each group of this test."""
    groups = {one.name: one for one in test.groups}
    named = {name: one for name, one in experiment.group_clients.items() if name in groups}
    for name, counts in named.items():
        if isinstance(parameter := groups[name].clients, str):
            raise _is_parameter(name, parameter, counts[0])
    return named


def _shared(test: Test, count: int, parameters: Mapping[str, Scalar]) -> dict[str, int]:
    shared: dict[str, int] = {}
    for step in test.drives:
        of_step = _shared_in(step, count, parameters)
        for name, one in of_step.items():
            if shared.setdefault(name, one) != one:
                raise ArgumentError(
                    f"clients = {count}: the steps of {test.name} share clients among their groups "
                    "in different ratios",
                    hint=f"give the clients of each group: --clients {name}={one},…",
                )
    return shared


def _shared_in(step: Drive, count: int, parameters: Mapping[str, Scalar]) -> dict[str, int]:
    for group in step.groups:
        if isinstance(group.clients, str):
            raise _is_parameter(group.name, group.clients, count)
    declared = {one.name: declared_clients(one, parameters) for one in step.groups}
    whole = sum(declared.values())
    if any(one * count % whole for one in declared.values()):
        least = whole // math.gcd(*declared.values())
        said = ",".join(f"{name}={one}" for name, one in declared.items())
        raise ArgumentError(
            f"clients = {count}: the groups are declared as {said}, and {count} clients cannot be "
            "shared in that ratio",
            hint=f"a multiple of {least}, or the clients of each group: --clients {said}",
        )
    return {name: one * count // whole for name, one in declared.items()}


def _is_parameter(group: str, parameter: str, count: int) -> ArgumentError:
    return ArgumentError(
        f"group {group} has as many clients as the parameter {parameter} says",
        hint=f"--set {parameter}={count}",
    )
