"""The options that several commands share, each declared once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from assay import env_vars, registry
from assay.cli.live import LINE_EVERY_S
from assay.cli.numbers import Number
from assay.experiment.settings import ORDERS
from assay.experiment.values import ARRIVALS, CONNECTIONS, ISOLATION_LEVELS, PROTOCOLS
from assay.experiment.words import Words
from assay.record import DEFAULT_FILE_NAME
from assay.text import quantities

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def records_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--records PATH``, given as a `Path`."""
    return click.option(
        "--records",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="PATH",
        default=DEFAULT_FILE_NAME,
        envvar=env_vars.RECORDS.name,
        callback=_a_file,
        help="Record file in which all runs are kept.",
    )(function)


def _a_file(_context: click.Context, parameter: click.Parameter, value: Path) -> Path:
    """Refuses `:memory:`, which would keep nothing."""
    if str(value) == ":memory:":
        raise click.BadParameter(
            "expected a file, found ':memory:': records must be kept after the run",
            param=parameter,
        )
    return value


def format_option(names: tuple[str, ...], default: str = "table") -> Decorator:
    """``--format NAME``: the formats that this command can write."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(names),
        default=default,
        help="Output format.",
    )


def report_format_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--format NAME``: the formats of a report."""
    return format_option(registry.report_forms())(function)


def detail_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--detail / --no-detail``; None: the format decides."""
    return click.option(
        "--detail/--no-detail",
        default=None,
        help="Show percentiles per transaction type and the reason behind each number. "
        "[default: depends on the format and the number of cells]",
    )(function)


def progress_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--progress SECONDS``."""
    return click.option(
        "--progress",
        "progress_s",
        type=Number(quantities.WAIT_S),
        default=LINE_EVERY_S,
        show_default=True,
        metavar="SECONDS",
        help="How often to print a line with throughput, p99 and the time left while a run is "
        "under way, if standard error is not a terminal; 0: never.",
    )(function)


def _a_target(context: click.Context, _parameter: click.Parameter, value: str) -> str:
    """Requires a target, unless scripts are given."""
    if not value and not context.params.get("script"):
        raise click.UsageError(
            "nothing to run: expected a workload, a script (FILE.sql, -f FILE) or FILE.toml",
            context,
        )
    return value


def is_typed(name: str) -> bool:
    """Whether the option is on the command line, rather than in an environment variable."""
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


_EXPERIMENT_OPTIONS = (
    click.argument(
        "target",
        metavar="[WORKLOAD[.TEST,…]|SCRIPT.sql[@WEIGHT]|FILE.toml]",
        default="",
        callback=_a_target,
    ),
    click.option(
        "--on",
        multiple=True,
        metavar="SYSTEM,…",
        help="Systems under test: names from `assay list systems`, NAME[key=value], or URLs of "
        "running servers.",
    ),
    click.option(
        "--storage",
        multiple=True,
        metavar="STORAGE,…",
        help="Storages: KIND, KIND:DIRECTORY or NAME=KIND:DIRECTORY. [default: here]",
    ),
    click.option(
        "-D",
        "--set",
        multiple=True,
        metavar="KEY=VALUE,…",
        help="A parameter of the workload (copies=10), a variable of an ad hoc script "
        "(scale=10), or SYSTEM.KEY=VALUE for a setting of a system; several values "
        "are run one after another.",
    ),
    click.option(
        "-f",
        "--script",
        multiple=True,
        is_eager=True,
        metavar="FILE[@WEIGHT]",
        help="Script to run instead of the test's own, or without a workload; "
        "chosen by weight, may be repeated. `-`: standard input.",
    ),
    click.option(
        "-c",
        "--clients",
        metavar="N,…",
        help="Numbers of concurrent clients, each a separate cell; of groups of clients "
        "GROUP=N,…: readers=8,writers=2. [default: the test's own]",
    ),
    click.option(
        "-s",
        "--scale",
        type=Number(quantities.SCALE),
        metavar="N",
        help="The variable :scale of a script; same as --set scale=N. [default: 1]",
    ),
    click.option(
        "-T",
        "--duration",
        type=Number(quantities.DURATION_S),
        metavar="S",
        help="How long to measure, after ramp-up and warm-up: seconds, or with a unit "
        "(500ms, 5s, 2min, 1h), as in all options of time. With --transactions, the run ends "
        "at whichever comes first. [default: the test's own; 10 for an ad hoc script]",
    ),
    click.option(
        "-t",
        "--transactions",
        type=Number(quantities.TRANSACTIONS),
        metavar="N",
        help="Transactions to measure per client.",
    ),
    click.option(
        "--warm-up",
        type=Number(quantities.WAIT_S),
        metavar="S",
        help="Seconds that all clients work before the measurement starts. [default: the test's "
        "own]",
    ),
    click.option(
        "--ramp-up",
        type=Number(quantities.WAIT_S),
        metavar="S",
        help="Seconds over which clients start one after another, before the warm-up. [default: "
        "the test's own]",
    ),
    click.option(
        "--drain",
        type=Number(quantities.WAIT_S),
        metavar="S",
        help="Seconds to wait for transactions that are still open at the end of the "
        "measurement; after that they are cancelled and counted as unknown. [default: the "
        "test's own; 10]",
    ),
    click.option(
        "--arrival",
        type=click.Choice(ARRIVALS),
        help="closed: a client starts a transaction when its last one has ended; constant, "
        "poisson: transactions arrive at an offered rate, whether or not earlier ones have "
        "ended. [default: the test's own]",
    ),
    click.option(
        "-R",
        "--offered-rate",
        metavar="R,…",
        help="Transactions per second, all clients together; each rate is a separate cell. "
        "Makes the arrivals of a closed loop constant.",
    ),
    click.option(
        "-L",
        "--latency-limit",
        type=Number(quantities.LATENCY_LIMIT_MS),
        metavar="MS",
        help="Milliseconds after which a transaction is late; in an open loop, one that could "
        "not start within them is skipped. [default: the test's own; 0: none]",
    ),
    click.option(
        "--think-time",
        metavar="D",
        help="Pause after each transaction, in a closed loop: a distribution such as "
        "exponential:1s, or none. [default: the test's own]",
    ),
    click.option(
        "--keying-time",
        metavar="D",
        help="Pause before each transaction; written like --think-time.",
    ),
    click.option(
        "--retries",
        type=Number(quantities.RETRIES),
        metavar="N",
        help="How often a transaction is retried after a deadlock or a serialization failure. "
        "[default: the test's own]",
    ),
    click.option(
        "--reconnect",
        is_flag=True,
        help="Clients that lose their connection try to reconnect for a minute.",
    ),
    click.option(
        "--isolation",
        type=click.Choice(ISOLATION_LEVELS),
        metavar="LEVEL",
        help=f"Isolation level of every session: {', '.join(ISOLATION_LEVELS)}. "
        "[default: the test's own]",
    ),
    click.option(
        "--connection",
        type=click.Choice(CONNECTIONS),
        help="kept: each client keeps one session; per transaction: it opens one for each "
        "transaction, and the latency includes that. [default: the test's own]",
    ),
    click.option(
        "--per-statement",
        is_flag=True,
        help="Time each statement as well.",
    ),
    click.option(
        "--allow-shell",
        is_flag=True,
        help=r"Let scripts run programs on this machine (\shell, \setshell).",
    ),
    click.option(
        "--repetitions",
        type=Number(quantities.REPETITIONS),
        metavar="N",
        help="How often each cell is run. [default: 1]",
    ),
    click.option(
        "--order",
        type=click.Choice(ORDERS),
        help="interleaved: systems take turns; sequential: each does all its runs before the next. "
        f"[default: {ORDERS[0]}]",
    ),
    click.option(
        "--seed",
        type=Number(quantities.SEED),
        metavar="N",
        help="Seed of all random streams. [default: 1]",
    ),
    click.option(
        "-j",
        "--threads",
        type=Number(quantities.THREADS),
        metavar="N",
        help="Client threads; 0: one per processor. [default: 0]",
    ),
    click.option(
        "-M",
        "--protocol",
        type=click.Choice(PROTOCOLS),
        help="How statements are sent, as in pgbench: simple: as text, with every :name "
        "replaced; extended: parsed and bound each time; prepared: prepared once per "
        "client. [default: simple for a script, else the test's own]",
    ),
    click.option(
        "--input",
        "--bib",
        "input",
        multiple=True,
        metavar="PATH",
        help="File, or folder of files, from which the workload's rows are read; may be repeated.",
    ),
    click.option(
        "--feed",
        metavar="FILE",
        help="Plain SQL file whose statements every client sends one by one, as the system's own "
        "client would, instead of the test's scripts.",
    ),
    click.option(
        "--encoding",
        type=click.Choice(["utf-8", "latin-1"]),
        help="Encoding of the --input files. [default: utf-8]",
    ),
    click.option(
        "--keep-going",
        is_flag=True,
        help="Skip and count the bad entries of an --input file instead of stopping.",
    ),
)


def experiment_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that describe an experiment; the command gets ``words: Words``."""

    @wraps(function)
    def with_words(**given: Any) -> Any:
        words = Words(**{name: given.pop(name) for name in Words.__dataclass_fields__})
        return function(words=words, **given)

    decorated: Callable[..., Any] = with_words
    for option in reversed(_EXPERIMENT_OPTIONS):
        decorated = option(decorated)
    return decorated
