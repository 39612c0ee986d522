"""Takes the words of a command line; gives the `Experiment` they ask for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay import registry
from assay.errors import ArgumentError
from assay.experiment import file as experiment_file
from assay.experiment import settings
from assay.experiment.values import Experiment
from assay.workloads import reader
from assay.workloads.values import Workload


@dataclass(frozen=True)
class Words:
    """What stood on the command line; None or empty: not said."""

    target: str
    """``WORKLOAD``, ``WORKLOAD.TEST``, a workload folder, or an experiment file ``*.toml``."""
    on: tuple[str, ...] = ()
    storage: tuple[str, ...] = ()
    set: tuple[str, ...] = ()
    clients: str | None = None
    repetitions: int | None = None
    order: str | None = None
    seed: int | None = None
    threads: int | None = None
    protocol: str | None = None
    bib: tuple[str, ...] = ()
    encoding: str | None = None
    keep_going: bool = False
    feed: str | None = None


def experiment(words: Words) -> tuple[Experiment, Workload]:
    """The experiment of these words, and its workload.

    A word given here wins over the experiment file. Raises `ArgumentError` or `ExperimentError`.
    """
    if words.target.endswith(".toml"):
        start, workload = experiment_file.read(Path(words.target))
        systems = settings.system_choices(words.on) if words.on else start.systems
    else:
        start, workload = _from_target(words.target)
        systems = settings.system_choices(words.on or (workload.default_system,))
    systems, parameters = settings.apply(words.set, systems, workload)
    said: dict[str, Any] = {
        "order": words.order,
        "repetitions": words.repetitions,
        "seed": words.seed,
        "threads": words.threads,
        "protocol": words.protocol,
        "encoding": words.encoding,
        "storages": settings.storage_choices(words.storage) or None,
        "clients": client_counts(words.clients) if words.clients is not None else None,
        "input_paths": words.bib or None,
        "keep_going": words.keep_going or None,
        "feed": words.feed,
    }
    result = replace(
        start,
        systems=systems,
        parameters={**start.parameters, **parameters},
        **{key: value for key, value in said.items() if value is not None},
    )
    check_parameters_are_used(result, workload)
    check_feed(result, workload)
    return result, workload


def _from_target(target: str) -> tuple[Experiment, Workload]:
    """``WORKLOAD`` or ``WORKLOAD.TEST``, the workload by name or by path."""
    name, test = target, ""
    head, _, tail = target.rpartition(".")
    is_whole = target in registry.workloads() or Path(target).is_dir()
    if not is_whole and head and tail and "/" not in tail:
        name, test = head, tail
    workload = reader.read(name)
    test = workload.test(test or workload.default_test).name
    return Experiment(workload=name, tests=(test,), systems=()), workload


def client_counts(words: str) -> tuple[int, ...]:
    """``1,8,32`` as numbers of clients."""
    counts = []
    for word in settings.split(words):
        if not word.isdecimal() or int(word) < 1:
            raise ArgumentError(
                f"--clients {words}: {word!r} is no number of clients", hint="--clients 1,8,32"
            )
        counts.append(int(word))
    if not counts:
        raise ArgumentError("--clients names no number", hint="--clients 1,8,32")
    return tuple(dict.fromkeys(counts))


def check_parameters_are_used(experiment: Experiment, workload: Workload) -> None:
    """Raises `ArgumentError` for a parameter that none of the chosen tests takes."""
    for name in experiment.parameters:
        takers = workload.parameters[name].tests
        if takers and not set(takers) & set(experiment.tests):
            raise ArgumentError(
                f"{name} means nothing to {', '.join(experiment.tests)}",
                hint=f"it is a parameter of {workload.name}.{f', {workload.name}.'.join(takers)}",
            )


def check_feed(experiment: Experiment, workload: Workload) -> None:
    """Raises `ArgumentError` where there is no such file, or the test runs no scripts."""
    if experiment.feed is None:
        return
    if not Path(experiment.feed).is_file():
        raise ArgumentError(f"--feed {experiment.feed}: there is no such file")
    for name in experiment.tests:
        if workload.test(name).procedure != "drive":
            raise ArgumentError(
                f"--feed means nothing to {workload.name}.{name}, whose clients run no scripts"
            )
