"""What happens during an experiment, as one closed set of frozen values, and how each of them
reaches all who show it or keep it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from msgspec import Struct

from assay.contracts.driving import Driving
from assay.contracts.engine import DriveProgress, LoadProgress
from assay.contracts.factors import Levels
from assay.contracts.observation.costs import Interval, MachineSecond


class TimeNeeded(Struct, frozen=True):
    """How long runs take."""

    seconds: float = 0.0
    is_known: bool = False
    """False: they take at least this long."""

    def __add__(self, other: TimeNeeded) -> TimeNeeded:
        return TimeNeeded(self.seconds + other.seconds, self.is_known and other.is_known)


NOT_KNOWN = TimeNeeded()


class ExperimentBegun(Struct, frozen=True):
    """It is in the record, and nothing has been started yet."""

    experiment_id: int
    runs: int
    """Planned, those included that have ended before."""


class RunBegun(Struct, frozen=True):
    """A run is under way."""

    position: int
    """0-based place in the order of execution."""
    of: int
    """The number of all runs."""
    test_name: str
    system_label: str
    storage_name: str
    """Empty: a server by URL."""
    clients: int
    driving: Driving
    levels: Levels
    """Of each factor of `assay.contracts.factors.OF_LEVELS`."""
    repetition: int
    """1-based."""
    drives_s: tuple[float | None, ...] = ()
    """How long each of its drive steps works by the clock; None: counts end the step."""
    own: TimeNeeded = NOT_KNOWN
    """How long the run is expected to take."""
    after: TimeNeeded = NOT_KNOWN
    """How long all take that are still to be done after it."""
    begun: int = 0
    """Of a goal search, how many runs have begun with this one. 0: nothing is searched."""
    at_most: int = 0
    """Of a goal search, the most runs that take place: most of those planned do not."""
    in_place_of: int | None = None
    """The repetition that it repeats, since other programs disturbed that one."""


class StageBegun(Struct, frozen=True):
    """A part of a run, or of what is before the first one: ``load``."""

    name: str


class StageEnded(Struct, frozen=True):
    """Another one begins, or the run has ended."""

    name: str


class RowsSent(Struct, frozen=True):
    """A load goes on."""

    report: LoadProgress
    bytes_total: int | None = None
    """Of the source's input; None: not known."""
    rows_total: int | None = None


class FilesCopied(Struct, frozen=True):
    """A copy of the files of data goes on."""

    bytes_copied: int
    bytes_total: int


class ClientsAtWork(Struct, frozen=True):
    """Clients are being driven, measured or not."""

    report: DriveProgress


class SecondMeasured(Struct, frozen=True):
    """A second of the measurement of the current step is complete."""

    second: int
    """Since its beginning, from 0."""
    groups: tuple[Interval, ...]
    """One of each group of clients."""
    machine: MachineSecond | None = None
    """None: not known."""


class Warned(Struct, frozen=True):
    """Something that the user should see now and not only in the report."""

    message: str


class RunRefused(Struct, frozen=True):
    """A run is not started: its system lacks what its test needs."""

    position: int
    reason: str


class RunEnded(Struct, frozen=True):
    position: int
    state: str
    """``done``, ``failed`` or ``exceeded``."""
    reason: str | None
    """Why it failed or was ended early."""


class ExperimentEnded(Struct, frozen=True):
    experiment_id: int


Event = (
    ExperimentBegun
    | RunBegun
    | StageBegun
    | StageEnded
    | RowsSent
    | FilesCopied
    | ClientsAtWork
    | SecondMeasured
    | Warned
    | RunRefused
    | RunEnded
    | ExperimentEnded
)
Sink = Callable[[Event], None]
"""Gets every event, in the thread in which it happens: it must not make that wait."""


def ignored(event: Event) -> None:
    """A sink that does nothing."""


class Events:
    """The way from where things happen to all sinks."""

    def __init__(self, sinks: Iterable[Sink] = ()) -> None:
        self._sinks = list(sinks)
        self._stage: str | None = None

    def emit(self, event: Event) -> None:
        """Gives the event to all sinks, and before it the end of the stage that it ends."""
        if self._stage is not None and isinstance(event, _ENDS_A_STAGE):
            ended, self._stage = self._stage, None
            self._tell(StageEnded(ended))
        if isinstance(event, StageBegun):
            self._stage = event.name
        self._tell(event)

    def stage(self, name: str) -> None:
        self.emit(StageBegun(name))

    def warning(self, message: str) -> None:
        self.emit(Warned(message))

    @contextmanager
    def to(self, sink: Sink) -> Iterator[None]:
        """A block in which this sink hears all events too."""
        self._sinks.append(sink)
        try:
            yield
        finally:
            self._sinks.remove(sink)

    def _tell(self, event: Event) -> None:
        for sink in self._sinks:
            sink(event)


_ENDS_A_STAGE = (StageBegun, RunBegun, RunRefused, RunEnded, ExperimentEnded)
