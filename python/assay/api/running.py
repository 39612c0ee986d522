"""`assay.run`: an experiment, asked for in Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path as FilePath
from typing import Never

from assay import env_vars
from assay.api import asked
from assay.api.asked import Limits, Numbers, Path
from assay.api.results import Result
from assay.cli.output.progress import progress as shown_on_standard_error
from assay.contracts.events import ignored
from assay.errors import ArgumentError
from assay.experiment import from_command_line
from assay.experiment.origin import command_of, patterns
from assay.experiment.settings_validation import as_written
from assay.lab import lab
from assay.lab.continuation import Request
from assay.load.dataset import Loading
from assay.probe.measure import FirstUse
from assay.record import DEFAULT_FILE_NAME, Store
from assay.text import quantities

Seconds = float | str
"""A number of seconds, or a text with a unit: ``"2min"``."""


def run(
    workload: Path = "",
    *,
    on: str | Sequence[str] = (),
    storage: str | Sequence[str] = (),
    log_storage: str | Sequence[str] = (),
    erase: bool = False,
    price: str | Sequence[str] = (),
    required_rate_per_s: float | None = None,
    set: Mapping[str, Numbers] | None = None,  # noqa: A002  (as --set)
    script: Path | Iterable[Path] | None = None,
    memory: Limits | None = None,
    cpus: Limits | None = None,
    rtt: Numbers | None = None,
    clients: int | Sequence[int] | Mapping[str, int | Sequence[int]] | None = None,
    generators: int | Sequence[int] | None = None,
    fleet: str | None = None,
    on_lost: str | None = None,
    duration_s: Seconds | None = None,
    transactions: int | None = None,
    warm_up_s: Seconds | None = None,
    ramp_up_s: Seconds | None = None,
    drain_s: Seconds | None = None,
    statement_limit_s: Seconds | None = None,
    arrival: str | None = None,
    offered_rate_per_s: Numbers | None = None,
    latency_limit_s: Seconds | None = None,
    goal: str | None = None,
    goal_over: str | None = None,
    goal_tolerance: float | str | None = None,
    goal_trials: int | None = None,
    think_time: str | None = None,
    keying_time: str | None = None,
    retries: int | None = None,
    reconnect: bool = False,
    isolation: str | None = None,
    connection: str | None = None,
    read: str | None = None,
    cache: str | Sequence[str] | None = None,
    client_program: str | Sequence[str] | None = None,
    per_statement: bool = False,
    allow_shell: bool = False,
    trust: bool = False,
    log: Path | None = None,
    log_sample: float | None = None,
    repetitions: int | None = None,
    precision: float | str | None = None,
    budget_s: float | str | None = None,
    order: str | None = None,
    seed: int | None = None,
    threads: int | None = None,
    protocol: str | None = None,
    input: Path | Iterable[Path] | None = None,  # noqa: A002  (as --input)
    encoding: str | None = None,
    keep_going: bool = False,
    feed: Path | None = None,
    quick: bool = False,
    only: str | Iterable[str] | None = None,
    new: bool = False,
    load_sessions: int | None = None,
    verify: bool = False,
    datasets: Path | None = None,
    probe_s: Seconds | None = None,
    durability: bool = True,
    again: bool = False,
    records: Path = DEFAULT_FILE_NAME,
    show_progress: bool = False,
    **unknown: Never,
) -> Result:
    """Runs an experiment, keeps it in the record file ``records``, and returns its result.

    ``workload`` is what ``assay run`` takes: the name of a workload (``"tpcb"``) or of a test of
    it, a folder, a script (``"mine.sql"``, ``"mine.cql"``, ``"mine.json"``), an experiment file
    (``"e.toml"``); it may be left out where ``script`` is given. The other arguments are the
    options of ``assay run``, with ``_`` for ``-``; those that are a length of time or a rate end
    in their unit, as in experiment files. Several values of one are levels: each is run.

    >>> import assay
    >>> result = assay.run("tpcb", on="null", clients=[1, 2], transactions=10, warm_up_s=0)
    >>> [(run.clients, run.outcomes.ok) for run in result.runs]
    [(1, 10), (2, 20)]
    >>> result.is_ok
    True

    Without ``durability``, it is not measured whether commits are flushed before they are answered.
    With ``again``, it is measured even if the user's cache has its result of the last 24 hours, as
    is what storages do (``probe_s``).

    An experiment file continues where its last experiment was interrupted, as with ``assay run``;
    with ``new`` another one begins.

    A run that fails is part of the result. Raises `assay.errors.ArgumentError` and its like for
    what cannot be done as asked, before anything is started, and
    `assay.errors.SystemUnderTestError` where a system is missing.
    """
    given = {**locals()}
    asked.refuse_unknown(unknown, run.__annotations__.keys() - {"return", "unknown"})
    words = asked.words(_target(workload, script), given)
    number = asked.number
    loading = Loading(
        number("load_sessions", load_sessions, quantities.LOAD_SESSIONS),
        asked.flag("verify", verify),
        None if datasets is None else FilePath(asked.path("datasets", datasets)),
    )
    record = FilePath(asked.path("records", records))
    request = Request(command_of(words), asked.flag("new", new), patterns(words))
    first_use = FirstUse(
        _probe_s(probe_s),
        asked.flag("durability", durability),
        asked.flag("again", again) or env_vars.AGAIN.flag(default=False),
    )
    with as_written(words, in_python=True):
        return _result(words, loading, record, show_progress, request, first_use)


def _target(workload: Path, script: object) -> str:
    """The workload, which may be left out where a script is given."""
    if workload == "" and script is not None:
        return ""
    if workload == "":
        raise ArgumentError(
            "workload: expected a workload, a folder, a script or an experiment file, found ''"
        )
    return asked.path("workload", workload)


def _probe_s(given: Seconds | None) -> float | None:
    """How long to probe storages: as given, else as the environment has it; None: neither has."""
    name, word = env_vars.PROBE_SECONDS.name, env_vars.PROBE_SECONDS.get()
    if given is None and word is not None:
        return float(asked.number(name, word, quantities.PROBE_OR_NONE_S))
    return (
        None if given is None else float(asked.number("probe_s", given, quantities.PROBE_OR_NONE_S))
    )


def _result(
    words: from_command_line.Words,
    loading: Loading,
    record: FilePath,
    show_progress: bool,
    request: Request,
    first_use: FirstUse,
) -> Result:
    experiment, workload = from_command_line.experiment(words)
    from_command_line.insist_on_systems(words)
    with shown_on_standard_error() if show_progress else nullcontext(ignored) as shown:
        ended = lab.run(
            experiment,
            workload,
            records=record,
            sinks=[shown],
            loading=loading,
            request=request,
            first_use=first_use,
        )
    with Store(ended.rescue or record, must_exist=True) as store:
        return Result(store.experiment(ended.experiment_id))
