"""The options that describe an experiment, for the commands that run, plan or explain one."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from assay import registry
from assay.cli import completers
from assay.cli.erase_option import erase_option
from assay.cli.numbers import NumberType
from assay.contracts.driving import ARRIVALS, CONNECTIONS, ISOLATION_LEVELS
from assay.contracts.experiment import ENCODINGS, PROTOCOLS
from assay.experiment.settings import ORDERS
from assay.experiment.spelling import as_written
from assay.experiment.words import Words
from assay.text import quantities


def _a_target(context: click.Context, _parameter: click.Parameter, value: str) -> str:
    """Requires a target, unless scripts are given."""
    if not value and not context.params.get("script"):
        raise click.UsageError(
            "nothing to run: expected a workload, a script (FILE.sql, FILE.cql, FILE.json, "
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


def _in_seconds(
    _context: click.Context, _parameter: click.Parameter, value_ms: float | None
) -> float | None:
    return None if value_ms is None else value_ms / 1000


def _families() -> list[str]:
    families = [registry.family(name) for name in registry.families()]
    return [f"{one.name}:{one.member_word}" for one in families]


_EXPERIMENT_OPTIONS = (
    click.argument(
        "target",
        metavar="[WORKLOAD[.TEST,…]|SCRIPT[@WEIGHT]|FILE.toml]",
        default="",
        callback=_a_target,
        shell_complete=completers.target,
    ),
    click.option(
        "--on",
        multiple=True,
        metavar="SYSTEM,…",
        shell_complete=completers.in_a_list(completers.system),
        help="Systems: names from `assay list systems`, NAME[key=value], or URLs of running "
        "servers; `old=` before one names it.",
    ),
    click.option(
        "--storage",
        multiple=True,
        metavar="STORAGE,…",
        shell_complete=completers.in_a_list(completers.storage),
        help="Storages: KIND, KIND[key=value,…] or KIND:DIRECTORY, NAME= before it to name "
        "it; see `assay list storages --detail`. [default: here]",
    ),
    erase_option,
    click.option(
        "--price",
        multiple=True,
        metavar="STORAGE=PRICE/GB,…",
        help="What a storage costs (ssd=0.60EUR/GB): reports then divide its speed-up by its "
        "price. A GB has 1,000,000,000 bytes.",
    ),
    click.option(
        "--required-rate",
        "required_rate_per_s",
        type=NumberType(quantities.OFFERED_RATE_PER_S),
        metavar="R",
        help="Transactions per second that are needed: with --price, the report says which storage "
        "keeps them for the least money.",
    ),
    click.option(
        "--only",
        multiple=True,
        metavar="PATTERN,…",
        help="Execute only the cells whose test, system or storage has one of these names (* for "
        "any characters); each further --only narrows the choice.",
    ),
    click.option(
        "--quick",
        is_flag=True,
        help="Run the quick version, for a laptop: with the quick values of the workload, or of "
        "[quick] in the file; the title says so.",
    ),
    click.option(
        "-D",
        "--set",
        multiple=True,
        metavar="KEY=VALUE,…",
        shell_complete=completers.setting,
        help="Workload parameter or script variable (copies=1,10), or a server's setting "
        "(SYSTEM.KEY=VALUE); each value is a cell.",
    ),
    click.option(
        "-f",
        "--script",
        multiple=True,
        is_eager=True,
        metavar="FILE[@WEIGHT]",
        help="Script in place of the test's own, or by itself; each further one is added to "
        "the mix. FILE.sql, .cql or .json; `-`: standard input.",
    ),
    click.option(
        "--memory",
        metavar="SIZE,…",
        help="Memory of a private server, page cache included (8GB,1GB; none: all), each size a "
        "cell.",
    ),
    click.option(
        "--cpus",
        metavar="N,…",
        help="Processors of a private server (2,0.5; none: all), each number a cell.",
    ),
    click.option(
        "--rtt",
        metavar="D,…",
        help="Round-trip time to add between clients and server (0,1ms), each a cell: a proxy "
        "delays every byte by half of it.",
    ),
    click.option(
        "-c",
        "--clients",
        metavar="N,…",
        help="Concurrent clients, each number a cell; by group: readers=8,writers=2. [default: "
        "the test's]",
    ),
    click.option(
        "-s",
        "--scale",
        type=NumberType(quantities.SCALE),
        metavar="N",
        help="Same as --set scale=N. [default: 1]",
    ),
    click.option(
        "-T",
        "--duration",
        "duration_s",
        type=NumberType(quantities.DURATION_S),
        metavar="S",
        help="How long to measure: seconds, or with a unit (500ms, 5s, 2min, 1h), as in all "
        "options of time. [default: the test's; 10 for a script]",
    ),
    click.option(
        "-t",
        "--transactions",
        type=NumberType(quantities.TRANSACTIONS),
        metavar="N",
        help="Transactions per client; with --duration, whichever ends first.",
    ),
    click.option(
        "--warm-up",
        "warm_up_s",
        type=NumberType(quantities.WAIT_S),
        metavar="S",
        help="Seconds of work before the measurement; none with --cache cold. [default: the "
        "test's]",
    ),
    click.option(
        "--ramp-up",
        "ramp_up_s",
        type=NumberType(quantities.WAIT_S),
        metavar="S",
        help="Seconds over which clients start one after another, before the warm-up. [default: "
        "the test's]",
    ),
    click.option(
        "--drain",
        "drain_s",
        type=NumberType(quantities.WAIT_S),
        metavar="S",
        help="Seconds to wait at the end for open transactions, which are then cancelled. "
        "[default: the test's; 10]",
    ),
    click.option(
        "--arrival",
        type=click.Choice(ARRIVALS),
        help="closed: a client starts when its last transaction has ended; constant, poisson: at "
        "the offered rate. [default: the test's]",
    ),
    click.option(
        "-R",
        "--offered-rate",
        "offered_rate_per_s",
        metavar="R,…",
        help="Transactions per second of all clients, each rate a cell; implies --arrival "
        "constant.",
    ),
    click.option(
        "-L",
        "--latency-limit",
        "latency_limit_s",
        type=NumberType(quantities.LATENCY_LIMIT_MS),
        callback=_in_seconds,
        metavar="MS",
        help="Milliseconds after which a transaction is late, or skipped if it could not start. "
        "[default: the test's; 0: none]",
    ),
    click.option(
        "--think-time",
        metavar="D",
        help="Pause after each transaction: a distribution such as exponential:1s, or none. "
        "[default: the test's]",
    ),
    click.option(
        "--keying-time",
        metavar="D",
        help="Pause before each transaction, written like --think-time.",
    ),
    click.option(
        "--retries",
        type=NumberType(quantities.RETRIES),
        metavar="N",
        help="Retries after a deadlock or a serialization failure. [default: the test's]",
    ),
    click.option(
        "--reconnect",
        is_flag=True,
        help="Try for a minute to reconnect clients that lose their connection.",
    ),
    click.option(
        "--isolation",
        type=click.Choice(ISOLATION_LEVELS),
        metavar="LEVEL",
        help=f"Isolation level: {', '.join(ISOLATION_LEVELS)}. [default: the test's]",
    ),
    click.option(
        "--connection",
        type=click.Choice(CONNECTIONS),
        help="kept: one session per client; per transaction: a new one each time. [default: the "
        "test's]",
    ),
    click.option(
        "--cache",
        metavar="STATE,…",
        help="State of the caches when a measurement begins, each a cell: cold, cold-machine (all "
        "files), warm or as-is. [default: the test's; as-is]",
    ),
    click.option(
        "--client-program",
        metavar="PROGRAM,…",
        help="What clients are, each a cell: engine (Assay's own) or native (a process of the "
        "system's client program per client). [default: engine]",
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
        "--log",
        metavar="FILE",
        help="File for single transactions (type, client, times, outcome): CSV, or Parquet by its "
        "name. New, or that of the experiment that is continued.",
    ),
    click.option(
        "--log-sample",
        type=NumberType(quantities.LOG_SAMPLE),
        metavar="SHARE",
        help="Share of the transactions that --log writes, chosen by the seed. [default: 1]",
    ),
    click.option(
        "--repetitions",
        type=NumberType(quantities.REPETITIONS),
        metavar="N",
        help="Runs of each cell; with --precision or --budget the minimum. [default: 1]",
    ),
    click.option(
        "--precision",
        type=NumberType(quantities.PRECISION),
        metavar="P%",
        help="Repeat each cell, 3 to 30 times, until its mean is known to within this share: half "
        "the width of its 95 % interval.",
    ),
    click.option(
        "--budget",
        "budget_s",
        type=NumberType(quantities.BUDGET_S),
        metavar="S",
        help="Begin no repetition that would end later than this (30min); without --precision, as "
        "many as fit, up to 30. Each cell is run at least once.",
    ),
    click.option(
        "--order",
        type=click.Choice(ORDERS),
        help="interleaved: systems take turns; randomized: in a random order, by the seed; "
        f"sequential: one after the other. [default: {ORDERS[0]}]",
    ),
    click.option(
        "--seed",
        type=NumberType(quantities.SEED),
        metavar="N",
        help="Seed of all random streams. [default: 1]",
    ),
    click.option(
        "-j",
        "--threads",
        type=NumberType(quantities.THREADS),
        metavar="N",
        help="Client threads, at most one per client; 0: one per processor. [default: 0]",
    ),
    click.option(
        "-M",
        "--protocol",
        type=click.Choice(PROTOCOLS),
        help="How statements are sent, as in pgbench. [default: simple for a script, else the "
        "test's]",
    ),
    click.option(
        "--input",
        "--bib",
        "input",
        multiple=True,
        metavar="PATH",
        help="File or folder that the workload's rows are read from; may be repeated.",
    ),
    click.option(
        "--feed",
        metavar="FILE",
        help="Plain SQL file whose statements clients send instead of the test's scripts.",
    ),
    click.option(
        "--encoding",
        type=click.Choice(ENCODINGS),
        help=f"Encoding of the --input files. [default: {ENCODINGS[0]}]",
    ),
    click.option(
        "--keep-going",
        is_flag=True,
        help="Skip and count bad entries of --input files instead of stopping.",
    ),
)


def experiment_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that describe an experiment; the command gets ``words: Words``."""

    @wraps(function)
    def with_words(**given: Any) -> Any:
        words = Words(**{name: given.pop(name) for name in Words.__dataclass_fields__})
        with as_written(words):
            return function(words=words, **given)

    decorated: Callable[..., Any] = with_words
    for option in reversed(_EXPERIMENT_OPTIONS):
        decorated = option(decorated)
    return decorated
