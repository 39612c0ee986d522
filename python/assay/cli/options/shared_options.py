"""The options that several commands share, each declared once: settings of the catalogue, and what
commands have in common that plan, run, load, probe or report."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import reduce, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay import env_vars, registry
from assay.cli.options import completers
from assay.cli.options.usage_errors import DestroyingOption, Headed
from assay.contracts import capabilities
from assay.contracts.setting import (
    Assignments,
    Choice,
    FileNames,
    Flag,
    Heading,
    NameList,
    NumberOf,
    Setting,
)
from assay.errors import ArgumentError
from assay.experiment.settings_catalogue import (
    AGAIN,
    DATASETS,
    DEFAULT_FILE_NAME,
    LOAD_SESSIONS,
    NEW,
    PROBE_S,
    RECORDS,
    SETTINGS,
    VERIFY,
    Words,
)
from assay.text import quantities
from assay.text.quantities import Quantity, shown

if TYPE_CHECKING:
    from assay.contracts.experiment import StorageChoice
    from assay.experiment import Experiment
    from assay.load.dataset import Loading
    from assay.probe.measure import FirstUse
    from assay.workload.values import Workload


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

_MOST_SHOWN = 4
"""Formats that are listed in place of a value's name; more would make a line too long."""


def records_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--records PATH``, given as a `Path`."""
    return setting_option(
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
            "expected a file, found ':memory:': records must be kept after the run", param=parameter
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
    return click.option(
        "--progress",
        "progress_s",
        cls=Headed,
        heading=Heading.OUTPUT,
        type=NumberType(quantities.WAIT_S),
        default=quantities.LINE_EVERY_S,
        show_default=True,
        metavar="SECONDS",
        help="Seconds between lines of progress if standard error is not a terminal; 0: none.",
    )(function)


def new_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--new``, given as ``is_new: bool``."""
    return setting_option(NEW, parameter="is_new")(function)


def no_repeat_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--no-repeat``, given as ``no_repeat: bool``."""
    return click.option(
        "--no-repeat",
        cls=Headed,
        heading=Heading.REPETITIONS,
        is_flag=True,
        help="Do not measure a repetition again that other programs disturbed.",
    )(function)


def is_typed(name: str) -> bool:
    """Whether the option is on the command line, rather than in an environment variable."""
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


_COMPLETERS = {
    "on": completers.in_a_list(completers.system),
    "storage": completers.in_a_list(completers.storage),
    "set": completers.setting,
}


def setting_option(setting: Setting, /, **further: Any) -> Decorator:
    """``further``: what click alone knows of, such as the variable of the environment."""
    names = (setting.short, setting.option, setting.other_option)
    return click.option(
        *(name for name in names if name is not None),
        further.pop("parameter", setting.name),
        **{
            "cls": Headed,
            "heading": setting.heading,
            "metavar": setting.metavar,
            "help": setting.help,
            "shell_complete": _COMPLETERS.get(setting.name),
            **_of_kind(setting),
            **further,
        },
    )


def _of_kind(setting: Setting) -> dict[str, Any]:
    match setting.kind:
        case NumberOf(quantity=quantity, of_option=of_option):
            return {"type": NumberType(of_option or quantity)}
        case Choice(levels=levels):
            return {"type": click.Choice(levels)}
        case Flag(destroys=True):
            return {"is_flag": True, "cls": DestroyingOption}
        case Flag():
            return {"is_flag": True}
        case FileNames() if setting.name == "script":
            return {"multiple": True, "is_eager": True}  # the target may be left out beside one
        case NameList() | FileNames() | Assignments():
            return {"multiple": True}
    return {}


class NumberType(click.ParamType):  # type: ignore[type-arg]  # older releases take none
    """A number in a declared range; anything else is an error that names the range."""

    name = "number"

    def __init__(self, quantity: Quantity) -> None:
        self.quantity = quantity

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | float:
        if not isinstance(value, str):  # a default
            number: int | float = value
            return number
        if value != value.strip():
            self.fail(f"expected {self.quantity.expected}, found {shown(value)}", param, ctx)
        try:
            return self.quantity.of_word(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def _a_target(context: click.Context, _parameter: click.Parameter, value: str) -> str:
    """Requires a target, unless scripts are given, or a word is completed."""
    if not value and not context.params.get("script") and not context.resilient_parsing:
        raise click.UsageError(
            f"nothing to run: expected a workload, a script ({capabilities.script_file_names()}, "
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
    *(setting_option(setting) for setting in SETTINGS.values()),
)


def _with_all(options: Iterable[Decorator], function: Callable[..., Any]) -> Callable[..., Any]:
    """The first of them is the outermost."""
    return reduce(lambda made, option: option(made), reversed([*options]), function)


def experiment_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that describe an experiment; the command gets ``words: Words``."""

    @wraps(function)
    def with_words(**given: Any) -> Any:
        from assay.experiment.settings_validation import as_written

        words = Words(**{name: given.pop(name) for name in Words.__struct_fields__})
        with as_written(words):
            return function(words=words, **given)

    return _with_all(_EXPERIMENT_OPTIONS, with_words)


datasets_option = setting_option(
    DATASETS, type=click.Path(file_okay=False, path_type=Path), envvar=env_vars.DATASETS.name
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


_LOADING_OPTIONS = (setting_option(LOAD_SESSIONS), setting_option(VERIFY), datasets_option)


def loading_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The command gets ``loading: Loading``."""

    @wraps(function)
    def with_loading(
        *, load_sessions: int | None, verify: bool, datasets: Path | None, **given: Any
    ) -> Any:
        from assay.load.dataset import Loading

        return function(loading=Loading(load_sessions, verify, datasets), **given)

    return _with_all(_LOADING_OPTIONS, with_loading)


def refuse_unused_probe(experiment: Experiment, first_use: FirstUse) -> None:
    """Raises `ArgumentError` for a typed length of the probe, or another measurement, where nothing
    is probed. Options that leave measurements out are obeyed in any case."""
    if not all(system.url is not None for system in experiment.systems):
        return
    for setting, is_given in ((PROBE_S, first_use.probe_s), (AGAIN, first_use.again)):
        if is_given and is_typed(setting.name):
            raise ArgumentError(
                f"{setting.option} does not apply: only the storages of systems that Assay starts "
                "are probed, and all systems are reached by URL",
                hint=f"leave {setting.option} out",
            )


_PROBING_OPTIONS = (
    setting_option(PROBE_S, envvar=env_vars.PROBE_SECONDS.name),
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
    setting_option(AGAIN),
)


def probing_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The command gets ``first_use: FirstUse``."""

    @wraps(function)
    def with_seconds(
        *, probe_s: float | None, no_probe: bool, no_durability: bool, again: bool, **given: Any
    ) -> Any:
        if no_probe and is_typed("probe_s") and probe_s:
            raise ArgumentError(
                "--no-probe and --probe-seconds exclude each other", hint="leave one out"
            )
        from assay.probe.measure import FirstUse

        again = again or env_vars.AGAIN.flag(default=False)
        first_use = FirstUse(0.0 if no_probe else probe_s, not no_durability, again)
        return function(first_use=first_use, **given)

    return _with_all(_PROBING_OPTIONS, with_seconds)


def run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The command gets ``words``, ``is_new``, ``loading`` and ``first_use``."""
    options = (experiment_options, new_option, loading_options, probing_options)
    return _with_all(options, function)


erase_option = setting_option(SETTINGS["erase"])


def refuse_unused_erase(storages: Iterable[StorageChoice], erase: bool) -> None:
    """Raises `ArgumentError` where no device would be erased."""
    from assay.experiment.choices.storage_words import erased_devices

    if erase and not erased_devices(storages):
        raise ArgumentError(
            "--erase does not apply: no storage names a device that would be erased",
            hint="leave --erase out",
        )
