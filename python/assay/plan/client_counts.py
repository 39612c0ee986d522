"""Takes an experiment and a test; returns the client count of each of the test's cells, and of each
group where it differs from the workload's.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from assay.errors import ArgumentError
from assay.experiment import Experiment, Scalar
from assay.plan.drives import clients_of, declared_clients
from assay.text.mentions import Mention, phrase
from assay.workload.steps import Drive
from assay.workload.values import Test


class ClientCount(NamedTuple):
    at_once: int
    """The most clients at once, over all groups."""
    of_groups: Mapping[str, int]
    """Clients of each group; empty: all are as declared."""


def number_of_levels(experiment: Experiment, test: Test) -> int:
    """The number of `levels`."""
    if test.groups and experiment.group_clients:
        return math.prod(len(counts) for counts in _named(experiment, test).values())
    return len(experiment.clients or test.clients)


def levels(
    experiment: Experiment, test: Test, parameters: Mapping[str, Scalar]
) -> list[ClientCount]:
    """Every client count of the test. A single count for a test with groups is divided among them
    in the declared ratio; raises `ArgumentError` where that leaves a fraction of a client."""
    found = []
    for of_all, of_groups in _asked(experiment, test, parameters):
        at_once = clients_of(test, parameters, of_groups)
        declared = {count.name: declared_clients(count, parameters) for count in test.groups}
        in_full = {**declared, **of_groups}
        changed = {} if in_full == declared else in_full
        found += [ClientCount(at_once or count, changed) for count in of_all]
    return list(
        {(count.at_once, *sorted(count.of_groups.items())): count for count in found}.values()
    )


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
    groups = {group.name: group for group in test.groups}
    named = {name: group for name, group in experiment.group_clients.items() if name in groups}
    for name, counts in named.items():
        if isinstance(parameter := groups[name].clients, str):
            raise _is_parameter(name, parameter, counts[0])
    return named


def _shared(test: Test, count: int, parameters: Mapping[str, Scalar]) -> dict[str, int]:
    shared: dict[str, int] = {}
    for step in test.drives:
        of_step = _shared_in(step, count, parameters)
        for name, clients in of_step.items():
            if shared.setdefault(name, clients) != clients:
                raise ArgumentError(
                    f"clients = {count}: the steps of {test.name} divide clients among their "
                    "groups in different ratios",
                    hint=phrase(
                        "give the clients of each group: {}",
                        Mention("clients", f"{name}={clients},…"),
                    ),
                )
    return shared


def _shared_in(step: Drive, count: int, parameters: Mapping[str, Scalar]) -> dict[str, int]:
    for group in step.groups:
        if isinstance(group.clients, str):
            raise _is_parameter(group.name, group.clients, count)
    declared = {clients.name: declared_clients(clients, parameters) for clients in step.groups}
    whole = sum(declared.values())
    if any(clients * count % whole for clients in declared.values()):
        least = whole // math.gcd(*declared.values())
        listed = ",".join(f"{name}={clients}" for name, clients in declared.items())
        raise ArgumentError(
            f"clients = {count}: the groups are declared as {listed}, and {count} clients "
            "cannot be divided in that ratio",
            hint=phrase(
                "a multiple of {}, or the clients of each group: {}",
                least,
                Mention("clients", listed),
            ),
        )
    return {name: clients * count // whole for name, clients in declared.items()}


def _is_parameter(group: str, parameter: str, count: int) -> ArgumentError:
    return ArgumentError(
        f"group {group} has as many clients as the parameter {parameter} says",
        hint=phrase("{}", Mention("set", f"{parameter}={count}")),
    )
