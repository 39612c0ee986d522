"""The options of commands that probe storages; given as seconds."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from assay import env_vars
from assay.cli.numbers import Number
from assay.cli.options import is_typed
from assay.errors import ArgumentError
from assay.experiment import Experiment
from assay.probe import DEFAULT_S
from assay.text.quantities import PROBE_OR_NONE_S


def refuse_unused_probe(experiment: Experiment) -> None:
    """Raises `ArgumentError` for a typed option that has no effect on this experiment."""
    if any(system.url is None for system in experiment.systems):
        return
    for name, option in (("probe_s", "--probe-seconds"), ("no_probe", "--no-probe")):
        if is_typed(name):
            raise ArgumentError(
                f"{option} does not apply: only the storages of systems that Assay starts are "
                "probed, and all systems are reached by URL",
                hint=f"leave {option} out",
            )


_OPTIONS = (
    click.option(
        "--probe-seconds",
        "probe_s",
        type=Number(PROBE_OR_NONE_S),
        metavar="S",
        default=DEFAULT_S,
        envvar=env_vars.PROBE_SECONDS.name,
        show_default=True,
        help="About how long to measure reads, writes and flushes of each storage before the first "
        "use, with fio.",
    ),
    click.option("--no-probe", is_flag=True, help="Same as --probe-seconds 0."),
)


def probing_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The command gets ``probe_s: float``; 0: storages are not probed."""

    @wraps(function)
    def with_seconds(*, probe_s: float, no_probe: bool, **given: Any) -> Any:
        if no_probe and is_typed("probe_s") and probe_s:
            raise ArgumentError(
                "--no-probe and --probe-seconds exclude each other", hint="leave one out"
            )
        return function(probe_s=0.0 if no_probe else probe_s, **given)

    decorated: Callable[..., Any] = with_seconds
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated
