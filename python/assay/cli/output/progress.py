"""Prints the events of an experiment on standard error: a bar with throughput, p99 and the time
left, or lines if it is not a terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

from msgspec.structs import replace

from assay.contracts import factors
from assay.contracts.driving import DEFERRED, Driving
from assay.contracts.engine import DriveProgress
from assay.contracts.events import (
    ClientsAtWork,
    Event,
    FilesCopied,
    RowsSent,
    RunBegun,
    RunEnded,
    RunRefused,
    Sink,
    StageBegun,
    Warned,
)
from assay.contracts.experiment import brief
from assay.contracts.observation import Interval
from assay.text import quantities, rates
from assay.text.phrases import log_lines, reason_sentence
from assay.text.secrets import without_secrets
from assay.text.terminal import indented, visible
from assay.text.units import counted, digits, duration, latency, share, size

if TYPE_CHECKING:
    import rich.progress
    from rich.console import Console

    from assay.contracts.events import TimeNeeded


_EXTRAPOLATED_AFTER_S = 1.0
"""Before, the first transactions, which fill caches, would stand for all."""
_LEAST_SAID_S = 1.0
"""A lower bound below says nothing."""


class Live:
    """Progress of an experiment. ``clock`` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._run_began_s = clock()
        from assay.contracts.events import NOT_KNOWN

        self._own = self._after = NOT_KNOWN
        self._drives_s: tuple[float | None, ...] = ()
        self._drive = -1
        """Place of the current drive step among those of the run."""
        self._before: tuple[float, int] | None = None
        self._rate_per_s: float | None = None
        self._second: tuple[Interval, ...] = ()
        """The last one that was measured: an interval of each group."""

    def run(self, begun: RunBegun) -> None:
        self._run_began_s = self._clock()
        self._own, self._after = begun.own, begun.after
        self._drives_s, self._drive = begun.drives_s, -1
        self._forget()

    def stage(self, name: str) -> float | None:
        """Another stage begins: if clients work in it, they count from 0 again. Returns how long
        they work by the clock; None: counts end it, or it has no clients."""
        self._forget()
        if not name.startswith("drive "):
            return None
        self._drive += 1
        return self.step_s

    def _forget(self) -> None:
        self._before = self._rate_per_s = None
        self._second = ()

    @property
    def step_s(self) -> float | None:
        """How long the current drive step works by the clock; None: counts end it."""
        return self._drives_s[self._drive] if 0 <= self._drive < len(self._drives_s) else None

    def numbers(self, report: DriveProgress) -> str:
        """``26091 TPS, p99 1.04 ms, 8 clients, 3 failed`` of the last second, as far as known."""
        if report.seconds:
            last = report.seconds[-1].second
            self._second = tuple(
                line for line in report.seconds if line.second == last and line.group != DEFERRED
            )
        ok = sum(line.ok for line in self._second)
        rate_per_s = ok if self._second else self._rate(report)
        parts = [] if rate_per_s is None else [f"{digits(rate_per_s)} TPS"]
        from assay.judge.statistics.samples import needed_for

        if ok >= needed_for("p99"):
            parts.append(f"p99 {latency(max(line.p99_ns for line in self._second))}")
        parts.append(counted(report.clients_running, "client"))
        if report.failed:
            parts.append(f"{report.failed} failed")
        return ", ".join(parts)

    def left(self, report: DriveProgress) -> str:
        """``about 4 min left`` of the whole experiment; ``at least 4 min left`` where some of its
        runs may take longer than is known."""
        needed = self._own_left(report) + self._after
        if needed.is_known:
            return f"about {duration(round(needed.seconds))} left"
        if needed.seconds < _LEAST_SAID_S:
            return "time left not known yet"
        return f"at least {duration(round(needed.seconds))} left"

    def _own_left(self, report: DriveProgress) -> TimeNeeded:
        """Of the current run: as other runs of its cell took, and no less than its clients still
        work. A run that takes longer than the others did is estimated by its clients."""
        step_left_s = self._step_left_s(report)
        later_s = self._drives_s[self._drive + 1 :]
        from assay.contracts.events import TimeNeeded

        by_clients = TimeNeeded(
            (step_left_s or 0.0) + sum(one or 0.0 for one in later_s),
            is_known=step_left_s is not None and None not in later_s,
        )
        before_s = self._own.seconds - (self._clock() - self._run_began_s)
        if not self._own.is_known or before_s <= 0:
            return by_clients
        timed_s = by_clients.seconds if self.step_s is not None else 0.0
        return TimeNeeded(max(before_s, timed_s), is_known=True)

    def _step_left_s(self, report: DriveProgress) -> float | None:
        """Seconds left of the current step; None: not known."""
        elapsed_s = report.elapsed_s
        if self.step_s is not None:
            return max(0.0, self.step_s - elapsed_s)
        scheduled, done = report.scheduled or 0, report.done
        if not scheduled or not done or elapsed_s < _EXTRAPOLATED_AFTER_S:
            return None
        return elapsed_s * (scheduled - done) / done

    def _rate(self, report: DriveProgress) -> float | None:
        """Throughput between two reports a second apart, where the engine reports none."""
        at_s, ok = report.elapsed_s, report.ok
        if self._before is None or at_s - self._before[0] >= 1:
            if self._before is not None:
                self._rate_per_s = (ok - self._before[1]) / (at_s - self._before[0])
            self._before = (at_s, ok)
        return self._rate_per_s


_SILENT_S = 60.0
"""So long a log may be silent; a stage that reports nothing is named again."""
_LOOK_EVERY_S = 1.0
_SAY_AFTER_S = 1.0
"""After the end of the measurement: most transactions have ended by then."""


@contextmanager
def progress(
    stream: TextIO | None = None, every_s: float = quantities.LINE_EVERY_S
) -> Iterator[Sink]:
    """A bar if ``stream`` (by default standard error) is a terminal, otherwise lines. The bar is
    removed at the end, also after an interrupt. ``every_s``: interval between lines; 0: none."""
    stream = stream or sys.stderr
    if not stream.isatty():
        lines, ended = Lines(stream, every_s), threading.Event()
        watching = threading.Thread(target=lines.watch, args=(ended,), daemon=True)
        watching.start()
        try:
            yield lines
        finally:
            ended.set()
            watching.join()
        return
    # Here: a log does without what a terminal needs.
    from rich.console import Console

    from assay.cli.output.stage_bar import StageBar

    console = Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=True)
    bars = StageBar(console=console, transient=True, redirect_stdout=False)
    with bars:
        yield Bars(console, bars)


@contextmanager
def repeated(say: Callable[[str], None]) -> Iterator[Callable[[str], None]]:
    """``say`` for work that may be silent for long: the last line is said again each minute."""
    ended, said = threading.Event(), [(time.monotonic(), "")]

    def say_and_keep(line: str) -> None:
        said.append((time.monotonic(), line))
        say(line)

    def repeat() -> None:
        while not ended.wait(_SILENT_S):
            since_s, line = said[-1]
            if line:
                say(f"{time.monotonic() - since_s:.0f} s: {line}")

    repeating = threading.Thread(target=repeat, daemon=True)
    repeating.start()
    try:
        yield say_and_keep
    finally:
        ended.set()
        repeating.join()


class Lines:
    """One line per run and stage, and a progress line every ``every_s`` seconds: for logs."""

    def __init__(
        self, stream: TextIO, every_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream
        self._every_s = every_s
        self._clock = clock
        self._live = Live()
        self._drained = False
        self._stage = ""
        self._stage_began_s = clock()
        self._said_s = 0.0
        """When the last line was written, on the clock of the stage."""
        self._once = _Once()
        self._names = _Names()

    def __call__(self, event: Event) -> None:
        match event:
            case RunBegun():
                self._live.run(event)
                self._say(self._names.line(event))
            case StageBegun(name):
                self._drained, self._said_s, self._stage = False, 0.0, name
                self._stage_began_s = self._clock()
                planned_s = self._live.stage(name)
                self._say(f"  {name}" + (f", about {duration(planned_s)}" if planned_s else ""))
            case ClientsAtWork(report):
                self._driving(report)
            case RowsSent() | FilesCopied():
                self._at_interval(self._clock() - self._stage_began_s, _loaded(event))
            case _ if (line := self._once.line(event)) is not None:
                self._say(line)

    def watch(self, ended: threading.Event) -> None:
        """Until then, in a thread of its own."""
        while not ended.wait(_LOOK_EVERY_S):
            with suppress(OSError, ValueError):  # the stream is closed
                self.still()

    def still(self) -> None:
        """Names the stage if nothing was said for long."""
        elapsed_s = self._clock() - self._stage_began_s
        if self._stage and elapsed_s - self._said_s >= max(_SILENT_S, self._every_s):
            self._at_interval(elapsed_s, self._stage)

    def _at_interval(self, elapsed_s: float, words: str) -> None:
        if self._every_s and elapsed_s - self._said_s >= self._every_s:
            self._said_s = elapsed_s
            self._say(f"  {elapsed_s:.0f} s: {words}")

    def _driving(self, report: DriveProgress) -> None:
        """A progress line at each interval, and one while open transactions are waited for."""
        numbers, elapsed_s = self._live.numbers(report), report.elapsed_s
        self._at_interval(elapsed_s, f"{numbers}; {self._live.left(report)}")
        if not self._drained and (line := _still_open(report)):
            self._drained = True
            self._say(f"  {line}")

    def _say(self, line: str) -> None:
        self._stream.write(_line(line) + "\n")
        self._stream.flush()


class _Once:
    """The lines of warnings, and of runs that failed, were ended early or refused: each reason
    once; of later runs, with which earlier one they share it."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str], int] = {}

    def line(self, event: Event) -> str | None:
        """None: nothing is to be said of it."""
        match event:
            case Warned(message):
                return f"warning: {message}"
            case RunEnded(position, state, str(reason)):
                return self._of(state, position + 1, reason)
            case RunRefused(position, reason):
                return self._of("refused", position + 1, reason)
            case _:
                return None

    def _of(self, how: str, number: int, reason: str) -> str:
        first = self._first.setdefault((how, reason), number)
        log = " (its last lines: assay report --detail)" if log_lines(reason) else ""
        said = (
            f": {reason_sentence(reason)}{log}"
            if first == number
            else f" for the reason of run {first}"
        )
        return f"run {number} {how}{said}"


class _Names:
    """The lines of runs: a long name of a system is said once, and of later runs with which earlier
    one they share it."""

    def __init__(self) -> None:
        self._first: dict[str, int] = {}

    def line(self, run: RunBegun) -> str:
        label, number = run.system_label, run.position + 1
        first = self._first.setdefault(label, number)
        if first == number or brief(label) == label:
            return _name(run)
        return _name(replace(run, system_label=f"{brief(label)} as in run {first}"))


class Bars:
    """A line per run, and below the last one a bar for its current stage."""

    def __init__(self, console: Console, bars: rich.progress.Progress) -> None:
        self._console = console
        self._bars = bars
        self._task: rich.progress.TaskID | None = None
        self._live = Live()
        self._driven = Driving()
        self._drained = False
        self._once = _Once()
        self._names = _Names()

    def __call__(self, event: Event) -> None:
        match event:
            case RunBegun():
                self._driven = event.driving
                self._live.run(event)
                self._console.print(_line(self._names.line(event)))
            case StageBegun(name):
                self._stage(name)
            case FilesCopied(copied, total):
                self._show(copied, total, "bytes")
            case RowsSent(report, bytes_total, rows_total):
                detail = f"{report.table} {counted(report.rows, 'row')}"
                if rows_total:
                    self._show(report.rows, rows_total, detail)
                else:
                    self._show(report.bytes_read, bytes_total, detail)
            case ClientsAtWork(report):
                self._driving(report)
            case _ if (line := self._once.line(event)) is not None:
                self._console.print(_line(line))

    def _stage(self, name: str) -> None:
        """Starts a new bar, so that its time is that of this stage."""
        self._drained = False
        self._live.stage(name)
        if self._task is not None:
            self._bars.remove_task(self._task)
        self._task = self._bars.add_task(visible(name), total=None, detail="", left="")

    def _driving(self, report: DriveProgress) -> None:
        if not self._drained and (line := _still_open(report)):
            self._drained = True
            self._console.print(f"  {line}")
        numbers, left = self._live.numbers(report), self._live.left(report)
        planned_s = self._live.step_s
        if planned_s is None or report.scheduled:
            self._show(report.done, report.scheduled, numbers, left)
        else:
            phase = _phase(self._driven, report.elapsed_s)
            self._show(min(report.elapsed_s, planned_s), planned_s, f"{phase}: {numbers}", left)

    def _show(self, done: float, total: float | None, detail: str, left: str = "") -> None:
        if self._task is not None:
            self._bars.update(
                self._task, completed=done, total=total or None, detail=visible(detail), left=left
            )


def _line(text: str) -> str:
    """Escapes the control characters and line breaks of names and messages from outside, and hides
    their passwords."""
    return indented(without_secrets(text))


def _still_open(report: DriveProgress) -> str | None:
    """A line about transactions that are still open; None while there is nothing to report."""
    draining = report.draining
    if draining is None or not draining.open or draining.elapsed_s < _SAY_AFTER_S:
        return None
    return (
        f"{counted(draining.open, 'transaction')} still open {draining.elapsed_s:.0f} s "
        f"after the end of the measurement; waiting up to {draining.limit_s:g} s (--drain)"
    )


def _loaded(event: RowsSent | FilesCopied) -> str:
    """``1,234,567 rows, 34 %, in pgbench_accounts``; of a copy ``1.2 GB of 3 GB``."""
    if isinstance(event, FilesCopied):
        return f"{size(event.bytes_copied)} of {size(event.bytes_total)} copied"
    report = event.report
    done, total = report.rows, event.rows_total
    if not total:
        done, total = report.bytes_read, event.bytes_total
    of_all = f", {share(min(1.0, done / total))}" if total else ""
    return f"{counted(report.rows, 'row')}{of_all}, in {report.table}"


def _phase(driving: Driving, elapsed_s: float) -> str:
    """The phase of the clients, ``elapsed_s`` after the first of them began."""
    if elapsed_s < float(driving.ramp_up_s):
        return "ramp-up"
    if elapsed_s < float(driving.ramp_up_s) + float(driving.warm_up_s):
        return "warm-up"
    return "measuring"


def _name(run: RunBegun) -> str:
    again = run.in_place_of is not None
    repetition = f", repetition {run.repetition}" if run.repetition > 1 and not again else ""
    rate_per_s = run.driving.offered_rate_per_s
    offered = f", {rates.shown(rate_per_s)} offered/s" if rate_per_s else ""
    storage = f", {run.storage_name}" if run.storage_name else ""
    levels = "".join(
        f", {factors.name_of(name, level)}"
        for name, level in run.levels.items()
        if not factors.is_ordinary(name, level)
    )
    place = f"run {run.position + 1} of {run.of}"
    if again:
        place = f"repetition {run.in_place_of} again"
    elif run.begun:
        place = f"run {run.begun} of at most {run.at_most} (kept as run {run.position + 1})"
    return (
        f"{place}: {run.test_name}, {run.system_label}{storage}, "
        f"{counted(run.clients, 'client')}{offered}{levels}{repetition}"
    )
