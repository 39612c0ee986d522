"""Takes the path of a record; looks at it again and again, and gives what is new. In one thread."""

from __future__ import annotations

import time
from bisect import bisect_right
from pathlib import Path

import msgspec
from msgspec import Struct, field

from assay.cli.watching.arising import LiveWarnings
from assay.contracts.engine.drive import ClientsSoFar
from assay.contracts.observation import Interval, MachineSecond
from assay.errors import AssayError
from assay.experiment import Driving
from assay.judge.evidence.so_far import SoFar
from assay.provision.machine.identity import ProcessIdentity
from assay.record.progress import generators, under_way
from assay.record.progress.generators import GeneratorsOfStep
from assay.record.progress.under_way import (
    Connection,
    ExperimentUnderWay,
    ListedExperiment,
    Mark,
    Place,
)
from assay.record.reader import Reader
from assay.record.runs.records import RunSummary
from assay.report.cells import shown_seconds
from assay.report.cells.shown_seconds import ShownSecond
from assay.report.live.charts import LiveChart, LiveCharts
from assay.report.live.status import NOTHING, Status, status

_SHARE = 100
"""What is costly is done no sooner than this many times the CPU time that it took: it takes at most
1 % of a processor, however many runs there are. Of many runs the plan may be
some seconds old; the seconds of the run under way are not."""
_LEAST_WAIT_S = 1.0
_GONE = -1
_MOST = 200
"""Experiments in the list; `assay list experiments` has all."""


class Passed(Struct):
    """The seconds of a step, each as JSON; more come at the end. When the step has ended, they are
    those that were observed: what was counted late is in none of those before."""

    place: Place
    record: int = 0
    """When its experiment was begun, in ms: another record has runs of the same numbers."""
    driving: Driving | None = None
    charts: LiveCharts | None = None
    so_far: SoFar | None = None
    numbers: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    is_whole: bool = False
    fleet: GeneratorsOfStep | None = None
    """None: there are no load generators, or it is not known yet."""
    generators: str = ""
    """The same as JSON; empty: None."""
    clients: ClientsSoFar | None = None

    def place_behind(self, second: int) -> int:
        """How many there are up to that one."""
        return bisect_right(self.numbers, second)

    def read(self, reader: Reader, after: int) -> None:
        def question(connection: Connection) -> None:
            found, self.is_whole = under_way.seconds(connection, self.place, after)
            if self.is_whole:
                self._observed(connection)
            else:
                for groups, machine in found:
                    self._add_live(groups, machine)
                self.clients = generators.clients_so_far(connection, self.place)
            if fleet := generators.of_step(connection, self.place, has_ended=self.is_whole):
                self.fleet = fleet
                self.generators = msgspec.json.encode(fleet).decode()

        reader.read(question)

    def _add_live(self, groups: tuple[Interval, ...], machine: MachineSecond | None) -> None:
        if self.so_far is not None:
            groups = self.so_far.add(groups, machine)
        one = shown_seconds.shown(groups, self.driving, machine)
        if self.charts is not None:
            self.charts.add(one)
        self._add(one)

    def _observed(self, connection: Connection) -> None:
        """The step has ended: all of them, in place of what was known when each had passed."""
        every, _ = under_way.seconds(connection, self.place, -1)
        shown = [shown_seconds.shown(groups, self.driving, machine) for groups, machine in every]
        self.numbers, self.texts = [], []
        for one in shown:
            self._add(one)
        if self.charts is not None:
            self.charts.observed(shown[: under_way.whole_seconds(connection, self.place)])

    def _add(self, second: ShownSecond) -> None:
        self.numbers.append(second.second)
        self.texts.append(msgspec.json.encode(second).decode())

    def read_on(self, reader: Reader) -> None:
        if not self.is_whole:
            self.read(reader, self.numbers[-1] if self.numbers else -1)


class Seen(Struct, frozen=True):
    """What a look has seen."""

    status: Status
    text: str
    """The same as JSON."""
    passed: Passed | None
    """Of the step that is shown."""
    process: ProcessIdentity | None
    """That works on the experiment; None: it does not any more."""
    charts: tuple[LiveChart, ...] = ()
    warnings: str = "[]"
    """Those of ended runs and of the one under way, as JSON."""


class Look:
    """Every method is called in the same thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reader: Reader | None = None
        self._inode: int | None = None
        self._begun_ms = 0
        self._copied_until_s: float | None = None
        """When it is to be copied anew; None: the file itself is read."""
        self._mark: tuple[ExperimentUnderWay, Mark, bool] | None = None
        self._not_before_s = 0.0
        self._status = NOTHING
        self._place: Place | None = None
        self._text = msgspec.json.encode(NOTHING).decode()
        self._passed: Passed | None = None
        self._runs: list[RunSummary] = []
        self._process: ProcessIdentity | None = None
        self._warnings = LiveWarnings()
        self.before: Passed | None = None
        """Of the step that was shown before."""

    def again(self) -> Seen:
        """Raises nothing: what is wrong is part of the status."""
        try:
            reader = self._opened()
            if reader is not None:
                self._look(reader)
                self._say_problem("")
            elif self._inode is not None:
                self._say_problem(f"{self._path}: the record file is not there any more")
        except AssayError as error:
            self.close()
            self._say_problem(error.message)
        return Seen(
            self._status,
            self._text,
            self._passed,
            self._process,
            self._charts(),
            self._warnings.text,
        )

    def _charts(self) -> tuple[LiveChart, ...]:
        passed = self._passed
        if passed is None or passed.charts is None:
            return ()
        return passed.charts.draw()

    def seconds_of(self, place: Place, after: int) -> Passed:
        """Those of a step that is not shown any more; none where there is no such step."""
        passed = Passed(place, self._begun_ms)
        reader = self._opened()
        if reader is not None:
            passed.driving = self._driving(place)
            passed.read(reader, after)
        return passed

    def experiments(self) -> list[ListedExperiment]:
        """The newest first."""
        reader = self._opened()
        return (
            []
            if reader is None
            else reader.read(lambda connection: under_way.listed(connection, _MOST))
        )

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _opened(self) -> Reader | None:
        """None while there is no record. Another file of that name is opened anew, and so is what
        can be read as a copy only."""
        try:
            inode = self._path.stat().st_ino
        except OSError:
            self.close()
            self._inode = self._inode and _GONE  # another file may get its number
            return None
        if inode != self._inode:
            self._forget()
        is_old = self._copied_until_s is not None and time.monotonic() >= self._copied_until_s
        if self._reader is None or inode != self._inode or is_old:
            self.close()
            began_s = time.thread_time()
            self._reader, self._inode = Reader(self._path), inode
            wait_s = _SHARE * (time.thread_time() - began_s)
            self._copied_until_s = time.monotonic() + wait_s if self._reader.is_copy else None
        return self._reader

    def _forget(self) -> None:
        """What another file of that name had: its runs and seconds have the same numbers."""
        self._mark = self._place = self._passed = self.before = None
        self._process = None
        self._warnings = LiveWarnings()
        self._not_before_s = 0.0
        self._set(NOTHING)

    def _look(self, reader: Reader) -> None:
        experiment = reader.read(under_way.latest)
        if experiment is None:
            return
        self._process = experiment.process if experiment.is_under_way else None
        self._begun_ms = experiment.begun_unix_ns // 1_000_000
        mark = (experiment, reader.read(under_way.mark), experiment.is_under_way)
        now_s = time.monotonic()
        if mark != self._mark and (now_s >= self._not_before_s or not experiment.is_under_way):
            began_s = time.thread_time()
            now_ns = time.time_ns()
            runs = reader.read(
                lambda connection: under_way.runs(connection, experiment, self._runs)
            )
            made, place = reader.read(
                lambda connection: status(connection, experiment, runs, now_ns)
            )
            self._runs = runs
            self._set(made)
            self._mark = mark
            self._show(reader, place)
            self._warnings.read(reader, experiment.id, self._process is not None, made.stage)
            took_s = time.thread_time() - began_s
            self._not_before_s = now_s + max(_LEAST_WAIT_S, _SHARE * took_s) - _LEAST_WAIT_S / 2
        if self._passed is not None:
            self._passed.read_on(reader)
        passed = self._passed
        if passed is not None and not passed.is_whole:
            reports = () if passed.fleet is None else passed.fleet.reports
            if passed.so_far is not None:
                observation = passed.so_far.observation(reports, passed.clients)
                self._warnings.judge(observation, self._place)

    def _show(self, reader: Reader, place: Place | None) -> None:
        is_same = self._passed is None or self._passed.record == self._begun_ms
        if place == self._place and is_same:
            return
        if self._passed is not None:
            self._passed.read_on(reader)
            self.before = self._passed
        self._place = place
        self._passed = None
        if place is not None:
            run, _ = place
            pace = reader.read(lambda connection: under_way.last_drive(connection, run))
            charts = LiveCharts(None if pace is None else pace.duration_s)
            driving = self._driving(place)
            clients = next((one.clients for one in self._runs if one.id == run), 0)
            so_far = SoFar(driving or Driving(), clients)
            self._passed = Passed(place, self._begun_ms, driving, charts, so_far)

    def _driving(self, place: Place) -> Driving | None:
        return next((run.driving for run in self._runs if run.id == place[0]), None)

    def _say_problem(self, message: str) -> None:
        if message != self._status.problem:
            self._set(msgspec.structs.replace(self._status, problem=message))

    def _set(self, made: Status) -> None:
        self._status = made
        self._text = msgspec.json.encode(made).decode()
