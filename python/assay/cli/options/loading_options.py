"""The options of commands that load rows; parsed into a `Loading`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay import env_vars
from assay.cli.options.setting_options import option
from assay.cli.options.shared_options import is_typed
from assay.errors import ArgumentError
from assay.experiment import Experiment
from assay.experiment.settings.catalogue import DATASETS, LOAD_SESSIONS, VERIFY
from assay.load.load_options import Loading

if TYPE_CHECKING:
    from assay.workload.values import Workload

datasets_option = option(
    DATASETS,
    type=click.Path(file_okay=False, path_type=Path),
    envvar=env_vars.DATASETS.name,
)


def refuse_unused_loading(loading: Loading, experiment: Experiment, workload: Workload) -> None:
    """Raises `ArgumentError` for a loading option that has no effect on this experiment."""
    from assay.load.row_sources.protocol import row_source

    source = row_source(workload)
    loads = source.makes_rows and any(workload.test(name).loads for name in experiment.tests)
    options = {
        "--load-sessions": (loading.sessions is not None, loads and source.has_expressions),
        "--verify": (loading.is_verified, loads),
        "--datasets": (is_typed("datasets"), loads),
    }
    for name, (is_given, applies) in options.items():
        if is_given and not applies:
            why = "its rows are loaded by one session" if loads else "it loads no rows"
            raise ArgumentError(
                f"{name} does not apply to {workload.name}: {why}", hint=f"leave {name} out"
            )


_OPTIONS = (option(LOAD_SESSIONS), option(VERIFY), datasets_option)


def loading_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The command gets ``loading: Loading``."""

    @wraps(function)
    def with_loading(
        *, load_sessions: int | None, verify: bool, datasets: Path | None, **given: Any
    ) -> Any:
        return function(loading=Loading(load_sessions, verify, datasets), **given)

    decorated: Callable[..., Any] = with_loading
    for decorate in reversed(_OPTIONS):
        decorated = decorate(decorated)
    return decorated
