"""The options of commands that measure storages and systems before their first run: the probe, as
seconds, and durability."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from assay import env_vars
from assay.cli.options.grouped_help import Headed
from assay.cli.options.setting_options import option
from assay.cli.options.shared_options import is_typed
from assay.errors import ArgumentError
from assay.experiment import Experiment
from assay.experiment.settings.catalogue import PROBE_S
from assay.experiment.settings.setting import Heading
from assay.probe.first_use import DEFAULT_S, FirstUse


def refuse_unused_probe(experiment: Experiment, first_use: FirstUse) -> None:
    """Raises `ArgumentError` for a typed length of the probe where nothing is probed. Options that
    leave measurements out are obeyed in any case."""
    if (
        first_use.probe_s
        and is_typed("probe_s")
        and all(system.url is not None for system in experiment.systems)
    ):
        raise ArgumentError(
            "--probe-seconds does not apply: only the storages of systems that Assay starts are "
            "probed, and all systems are reached by URL",
            hint="leave --probe-seconds out",
        )


_OPTIONS = (
    option(PROBE_S, default=DEFAULT_S, envvar=env_vars.PROBE_SECONDS.name, show_default=True),
    click.option(
        "--no-probe",
        cls=Headed,
        heading=Heading.STORAGES,
        is_flag=True,
        help="Same as --probe-seconds 0.",
    ),
    click.option(
        "--no-durability",
        cls=Headed,
        heading=Heading.STORAGES,
        is_flag=True,
        help="Do not measure whether commits are flushed before they are answered (2 to 15 s, once "
        "per system and storage with its own device).",
    ),
)


def probing_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The command gets ``first_use: FirstUse``."""

    @wraps(function)
    def with_seconds(*, probe_s: float, no_probe: bool, no_durability: bool, **given: Any) -> Any:
        if no_probe and is_typed("probe_s") and probe_s:
            raise ArgumentError(
                "--no-probe and --probe-seconds exclude each other", hint="leave one out"
            )
        first_use = FirstUse(0.0 if no_probe else probe_s, not no_durability)
        return function(first_use=first_use, **given)

    decorated: Callable[..., Any] = with_seconds
    for decorate in reversed(_OPTIONS):
        decorated = decorate(decorated)
    return decorated
