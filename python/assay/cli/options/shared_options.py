"""The options that several commands share, each declared once."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from assay import env_vars, registry
from assay.cli.options.grouped_help import Headed
from assay.cli.options.numbers import NumberType
from assay.cli.options.setting_options import option
from assay.cli.output.live import LINE_EVERY_S
from assay.contracts.setting import Heading
from assay.experiment.settings.catalogue import DEFAULT_FILE_NAME, NEW, RECORDS
from assay.text import quantities

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

_MOST_SHOWN = 4
"""Formats that are listed in place of a value's name; more would make a line too long."""


def records_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--records PATH``, given as a `Path`."""
    return option(
        RECORDS,
        type=click.Path(dir_okay=False, path_type=Path),
        default=DEFAULT_FILE_NAME,
        envvar=env_vars.RECORDS.name,
        callback=_a_file,
    )(function)


def _a_file(_context: click.Context, parameter: click.Parameter, value: Path) -> Path:
    """Refuses `:memory:`, which would keep nothing."""
    if str(value) == ":memory:":
        raise click.BadParameter(
            "expected a file, found ':memory:': records must be kept after the run",
            param=parameter,
        )
    return value


COMPARISON_FORMS = ("table", "json", "csv", "markdown")
"""Those of a comparison and of a trend."""


def format_option(names: tuple[str, ...], default: str = "table") -> Decorator:
    """``--format NAME``: the formats that this command can write."""
    return click.option(
        "--format",
        "form",
        cls=Headed,
        heading=Heading.OUTPUT,
        type=click.Choice(names),
        default=default,
        callback=_with_its_encoding,
        metavar="FORMAT" if len(names) > _MOST_SHOWN else None,
        help=f"Output format: {', '.join(names)}."
        if len(names) > _MOST_SHOWN
        else "Output format.",
    )


def _with_its_encoding(_context: click.Context, _parameter: click.Parameter, form: str) -> str:
    """Files and programs get UTF-8 whatever the locale is; a table is for the terminal at hand."""
    if form != "table":
        stream: Any = sys.stdout
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8")
    return form


def report_format_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--format NAME``: the formats of a report."""
    return format_option(registry.report_forms())(function)


def of_records(records: Path) -> str:
    """`` --records FILE``, as a command says it; empty for the default."""
    return "" if str(records) == DEFAULT_FILE_NAME else f" --records {shlex.quote(str(records))}"


def detail_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--detail / --no-detail``; None: the format decides."""
    return click.option(
        "--detail/--no-detail",
        cls=Headed,
        heading=Heading.OUTPUT,
        default=None,
        help="All tables: percentiles per transaction type, CPU, setup. [default: for few cells]",
    )(function)


def progress_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--progress SECONDS``."""
    return click.option(
        "--progress",
        "progress_s",
        cls=Headed,
        heading=Heading.OUTPUT,
        type=NumberType(quantities.WAIT_S),
        default=LINE_EVERY_S,
        show_default=True,
        metavar="SECONDS",
        help="Seconds between lines of progress if standard error is not a terminal; 0: none.",
    )(function)


def new_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--new``, given as ``is_new: bool``."""
    return option(NEW, parameter="is_new")(function)


def is_typed(name: str) -> bool:
    """Whether the option is on the command line, rather than in an environment variable."""
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE
