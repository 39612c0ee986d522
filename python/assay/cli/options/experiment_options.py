"""The options that describe an experiment, for the commands that run, plan or explain one."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from assay import registry
from assay.cli.options import completers
from assay.cli.options.setting_options import Decorator, option
from assay.contracts import languages
from assay.experiment.settings.catalogue import SETTINGS, Words
from assay.experiment.settings.error_spelling import as_written


def _a_target(context: click.Context, _parameter: click.Parameter, value: str) -> str:
    """Requires a target, unless scripts are given."""
    if not value and not context.params.get("script"):
        raise click.UsageError(
            f"nothing to run: expected a workload, a script ({languages.files()}, "
            "-f FILE) or FILE.toml:\n"
            "assay run WORKLOAD --on SYSTEM\n"
            "assay run FILE.sql --on SYSTEM --clients 8 --duration 30\n"
            "assay run FILE.toml\n"
            f"workloads: {', '.join(registry.workloads())} (tests: `assay list workloads`)\n"
            f"systems: {', '.join([*registry.systems(), *_families()])}, or the URL of a running "
            "server",
            context,
        )
    return value


def _families() -> list[str]:
    families = [registry.family(name) for name in registry.families()]
    return [f"{one.name}:{one.member_word}" for one in families]


_EXPERIMENT_OPTIONS: tuple[Decorator, ...] = (
    click.argument(
        "target",
        metavar="[WORKLOAD[.TEST,…]|SCRIPT[@WEIGHT]|FILE.toml]",
        default="",
        callback=_a_target,
        shell_complete=completers.target,
    ),
    *(option(setting) for setting in SETTINGS.values()),
)


def experiment_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that describe an experiment; the command gets ``words: Words``."""

    @wraps(function)
    def with_words(**given: Any) -> Any:
        words = Words(**{name: given.pop(name) for name in Words.__struct_fields__})
        with as_written(words):
            return function(words=words, **given)

    decorated: Callable[..., Any] = with_words
    for decorate in reversed(_EXPERIMENT_OPTIONS):
        decorated = decorate(decorated)
    return decorated
