"""Turns the signals that ask this process to end into the token `STOP`, and notifies the user at
once, since it may take a moment until all has ended in order.

Ctrl-C is SIGINT. A terminal that closes sends SIGHUP, a service manager or a batch system SIGTERM,
and Ctrl-\\ is SIGQUIT; by default these end Python at once, without stopping the servers.

In an experiment (`Stop.guides`) the handler only sets the token. Where clients work, and in waits
of a step, it is looked at every moment (`Stop.looked_at`), and what was measured so far is kept;
all other waits look at it as well (`assay.contracts.stop.look`): sessions, loads and queries of the
engine, processes that call Python modules, programs that are run to their end, a server that is to
become ready, copies of files, a record that is locked.

The handler raises `Stopped` itself in three cases:

- No experiment is under way: a report, an installation. Nothing of it looks at the token, and what
  it has begun is undone by the blocks that the exception leaves.
- Nothing has looked at the token for `PATIENCE_S`: code that is not ours blocks (a system or a
  storage of another package, rows that a package makes in Python). A call that does not return to
  Python (a reader of input files, ``fsync``, ``mount``) is over before any handler runs.
- Ctrl-C was pressed again.

A run can be stopped alone, by a signal that is its own (`run_signal`): the experiment goes on.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

from assay.contracts.stop import Stop, Stopped, StopReason, teardowns
from assay.provision.machine.process_table import process_file

TERMINATIONS = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""Besides Ctrl-C, what asks a program to end."""

STOP = Stop()
"""Of this process: signals are of a process, too."""

_RUN_SIGNALS = 16
"""A signal names its run by this remainder, so that one that comes late does not stop the next."""

Handler = Callable[[int, FrameType | None], object] | int | signal.Handlers | None

_asked: list[signal.Signals] = []
"""Every termination signal received inside `stopped_by_signals`."""
PATIENCE_S = 5.0
"""How long an experiment may take to look at the token."""

_late: list[Stopped] = []
"""What a signal would have raised inside a teardown."""


def reason_of(number: signal.Signals) -> StopReason:
    """The exit status is what a shell reports for a program that this signal ended."""
    return StopReason("" if number is signal.SIGINT else number.name, 128 + number)


def run_signal(run: int) -> int:
    """Stops the run of that number in the record, if it is the one under way. A process that does
    not expect it (`expects`) ends by it."""
    return signal.SIGRTMIN + run % _RUN_SIGNALS


def expects(pid: int, number: int) -> bool:
    """Whether that process has a handler for the signal."""
    try:
        text = process_file(pid, "status")
    except OSError:
        return False
    caught = next((line for line in text.splitlines() if line.startswith("SigCgt:")), "SigCgt: 0")
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


def is_ending() -> bool:
    """Whether a termination signal was received: teardown has little time."""
    return bool(_asked)


def is_ending_at_once() -> bool:
    """Whether Ctrl-C was pressed a second time: nothing is waited for any longer."""
    return _asked.count(signal.SIGINT) > 1


@contextlib.contextmanager
def after_teardown() -> Iterator[None]:
    """Defers what signals raise until the end of the block, so that a teardown, or a note of what
    it needs, is never interrupted. Only for work of bounded time."""
    teardowns.append(None)
    try:
        yield
    finally:
        teardowns.pop()
        if not teardowns and _late:
            first = _late[0]
            _late.clear()
            raise first


def _raise(error: Stopped) -> None:
    if teardowns:
        _late.append(error)
    else:
        raise error


@contextlib.contextmanager
def stopped_by_signals(notify: Callable[[str], None] | None = None) -> Iterator[None]:
    """Inside, the first signal sets `STOP`, and raises `Stopped` in the main thread where no
    work looks at it. Of `TERMINATIONS` no other one counts: the teardown has its own limits of time
    and must not be cut short by the SIGHUP that often follows. Each further Ctrl-C raises `Stopped`
    wherever the main thread is, and so cuts it short. A signal that is ignored (``nohup``) stays
    ignored. Does nothing outside the main thread, where Python allows no handlers.

    ``notify`` is called at the first signal, within its handler: it must not write into a buffered
    stream.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _frame: FrameType | None) -> None:
        by = signal.Signals(number)
        _asked.append(by)
        is_first = len(_asked) == 1
        STOP.ask(reason_of(by))
        if is_first and notify is not None:
            again = "; press Ctrl-C again to stop at once" if by is signal.SIGINT else ""
            notify(f"{by.name}: stopping{again}")
        if is_first and (STOP.is_looked_at or STOP.is_guiding):
            be_patient()
            return
        terminations = sum(received is not signal.SIGINT for received in _asked)
        if by is signal.SIGINT or terminations == 1:
            _raise(STOP.stopped(reason_of(by)))

    def end_run(number: int, _frame: FrameType | None) -> None:
        run = STOP.run
        if not run or number != run_signal(run) or STOP.is_asked:
            return
        STOP.ask(StopReason("a request for this run", run=run))
        if notify is not None:
            notify(f"run {run}: stopping, the experiment goes on")
        be_patient()

    def be_patient() -> None:
        before.setdefault(signal.SIGALRM, signal.signal(signal.SIGALRM, insist))
        signal.setitimer(signal.ITIMER_REAL, PATIENCE_S, PATIENCE_S)

    def insist(_number: int, _frame: FrameType | None) -> None:
        if STOP.has_ended_work or not STOP.is_guiding or not STOP.is_asked:
            signal.setitimer(signal.ITIMER_REAL, 0)
        elif STOP.reason is not None and not STOP.is_looked_at:
            signal.setitimer(signal.ITIMER_REAL, 0)
            _raise(STOP.stopped(STOP.reason))

    before: dict[int, Handler] = {}
    for number in (signal.SIGINT, *TERMINATIONS):
        if signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, end)
    for of_run in map(run_signal, range(_RUN_SIGNALS)):
        before[of_run] = signal.signal(of_run, end_run)
    try:
        yield
    finally:
        if signal.SIGALRM in before:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for any_number, handler in before.items():
            signal.signal(any_number, handler if handler is not None else signal.SIG_DFL)
        _asked.clear()
        STOP.forget()
