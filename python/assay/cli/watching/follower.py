"""Looks at the record once a second while anyone reads; gives each reader what it has not had. One
look serves all, and no reader is waited for."""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_right
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from assay.contracts.engine import ClientsSoFar
from assay.contracts.observation import Interval, MachineSecond, Observation
from assay.errors import AssayError
from assay.experiment import Driving
from assay.judge import run_warnings
from assay.judge.evidence import SoFar
from assay.judge.run import CalibrationRecord, Run, RunSummary
from assay.provision.machine.process_table import ProcessIdentity
from assay.record import under_way
from assay.record.reader import Reader
from assay.record.runs import reading, typed
from assay.record.runs.records import END_STATES
from assay.record.under_way import (
    Connection,
    ExperimentUnderWay,
    GeneratorsOfStep,
    KeptWarning,
    ListedExperiment,
    Mark,
    Place,
)
from assay.report.figures import over_time
from assay.report.figures.over_time import ShownSecond
from assay.report.live.charts import Drawn, LiveChart, LiveCharts, charts_text
from assay.report.live.status import NOTHING, Stage, Status, status, warning_lines

# Takes the path of a record; looks at it again and again, and gives what is new. In one thread.

# Takes the record of an experiment, and the seconds of its run under way; gives their warnings as
# JSON. Those of the run that is under way are judged by what is known so far, by the rules by
# which it will be judged when it has ended.


class LiveWarnings:
    def __init__(self) -> None:
        self.text = "[]"
        self._kept: Sequence[KeptWarning] = ()
        self._arising: Sequence[KeptWarning] = ()
        self._calibrated: Sequence[CalibrationRecord] = ()
        self._run: Run | None = None
        """Of the run under way; None: there is none, or what it measured is being checked."""
        self._position = 0
        self._judged_at: tuple[Place | None, int] = (None, 0)

    def read(
        self, reader: Reader, experiment: int, is_under_way: bool, stage: Stage | None
    ) -> None:
        """When something has changed in the record besides seconds."""
        self._kept = reader.read(lambda connection: under_way.warnings(connection, experiment))
        self._run = None
        if not is_under_way or stage is None or stage.state in END_STATES:
            self._arising = ()
        elif stage.state != "checking":
            run, self._position = stage.run, stage.number - 1
            self._calibrated = reader.read(
                lambda connection: typed.calibrations_of_experiment(connection, experiment)
            )
            self._run = reader.read(lambda connection: _unobserved(connection, run))
            self._arising = self._judged(self._run)
        self._say()

    def judge(self, observation: Observation | None, place: Place | None) -> None:
        """Each second of the step under way. ``observation``: as far as it is known."""
        run = self._run
        if run is None or observation is None or place is None or place[0] != run.id:
            return
        if (place, observation.elapsed_ns) == self._judged_at:
            return
        self._judged_at = (place, observation.elapsed_ns)
        nearest = typed.nearest_calibration(self._calibrated, run.deployment, observation, None)
        self._arising = self._judged(replace(run, observation=observation, calibration=nearest))
        self._say()

    def _judged(self, run: Run) -> list[KeptWarning]:
        return [KeptWarning(self._position, *one) for one in run_warnings.of_run(run)]

    def _say(self) -> None:
        lines = warning_lines(self._kept, self._arising)
        self.text = msgspec.json.encode(lines).decode()


def _unobserved(connection: Connection, run: int) -> Run:
    """Without what an earlier step observed."""
    return replace(reading.run(connection, run), observation=None)


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
                self.clients = under_way.clients_so_far(connection, self.place)
            if fleet := under_way.generators_of_step(
                connection, self.place, has_ended=self.is_whole
            ):
                self.fleet = fleet
                self.generators = msgspec.json.encode(fleet).decode()

        reader.read(question)

    def _add_live(self, groups: tuple[Interval, ...], machine: MachineSecond | None) -> None:
        if self.so_far is not None:
            groups = self.so_far.add(groups, machine)
        one = over_time.shown_second(groups, self.driving, machine)
        if self.charts is not None:
            self.charts.add(one)
        self._add(one)

    def _observed(self, connection: Connection) -> None:
        """The step has ended: all of them, in place of what was known when each had passed."""
        every, _ = under_way.seconds(connection, self.place, -1)
        shown = [over_time.shown_second(groups, self.driving, machine) for groups, machine in every]
        self.numbers, self.texts = [], []
        for one in shown:
            self._add(one)
        if self.charts is not None:
            self.charts.observed(shown[: under_way.whole_seconds(connection, self.place)])

    def _add(self, second: ShownSecond) -> None:
        self.numbers.append(second.second)
        self.texts.append(msgspec.json.encode(second.document).decode())

    def read_on(self, reader: Reader) -> None:
        if not self.is_whole:
            self.read(reader, self.numbers[-1] if self.numbers else -1)


class Seen(Struct, frozen=True):
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


_EVERY_S = 1.0
_SIGN_OF_LIFE_S = 15.0
_AT_ONCE = 300
"""Seconds in one piece of the stream."""


class Cursor:
    """The last second that a reader has had: ``17:1:42:1795835222000`` is second 42 of step 1 of
    run 17, of the experiment that was begun at that millisecond."""

    def __init__(self, place: Place | None = None, second: int = -1, record: int = 0) -> None:
        self.place, self.second, self.record = place, second, record

    @classmethod
    def of(cls, text: str | None) -> Cursor:
        """From the beginning where it is no such id."""
        parts = (text or "").split(":")
        if len(parts) == 4 and all(part.isdecimal() and len(part) < 16 for part in parts):
            run, step, second, record = map(int, parts)
            return cls((run, step), second, record)
        return cls()


class Follower:
    """Of one record. Belongs to one event loop."""

    def __init__(self, path: Path) -> None:
        self._look = Look(path)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="record")
        self._readers = 0
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._seen: Seen | None = None
        self._is_closed = False

    async def messages(self, cursor: Cursor) -> AsyncGenerator[str]:
        """Server-sent events, until the experiment is over or the server ends. What is ready is
        given in pieces, each when the one before it was taken. When a step has ended, all its
        seconds are given again, as they were observed."""
        shown: Seen | None = None
        drawn: Drawn = {}
        generators = ""
        observed: Place | None = None
        async with self._reading():
            yield "retry: 1000\n\n"
            while not self._is_closed:
                changed, seen = self._changed, self._seen
                if seen is not None:
                    if seen.passed is not None and seen.passed.record != cursor.record:
                        cursor.place, cursor.second = None, -1
                        cursor.record = seen.passed.record
                    async for piece in self._rest(seen, cursor):
                        yield piece
                    if shown is None or seen.text != shown.text:
                        yield _message("status", seen.text)
                    if shown is None or seen.warnings != shown.warnings:
                        yield _message("warnings", seen.warnings)
                    shown = seen
                    if seen.passed is not None:
                        if seen.passed.is_whole and observed != seen.passed.place:
                            observed, cursor.second = seen.passed.place, -1
                        async for piece in _behind(seen.passed, cursor):
                            yield piece
                    if seen.passed is not None and seen.passed.generators != generators:
                        generators = seen.passed.generators
                        yield _message("generators", generators or "null")
                    if text := charts_text(seen.charts, drawn):
                        yield _message("charts", text)
                    if seen.status.is_over:
                        yield _message("end", f'{{"experiment":{seen.status.experiment}}}')
                        return
                try:
                    await asyncio.wait_for(changed.wait(), _SIGN_OF_LIFE_S)
                except TimeoutError:
                    yield ": still here\n\n"

    async def _rest(self, seen: Seen, cursor: Cursor) -> AsyncIterator[str]:
        """What the reader has not had of the step before the one that is shown: it belongs to the
        status before."""
        place = None if seen.passed is None else seen.passed.place
        if place is None or cursor.place == place:
            return
        if cursor.place is not None:
            async for piece in _behind(await self._before(cursor.place, cursor.second), cursor):
                yield piece
        cursor.place, cursor.second = place, -1

    async def _before(self, place: Place, second: int) -> Passed:
        """A step that is not shown any more."""
        before = self._look.before
        if before is not None and before.place == place:
            return before
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, self._look.seconds_of, place, second)
        except AssayError:
            return Passed(place)

    @asynccontextmanager
    async def _reading(self) -> AsyncIterator[None]:
        self._readers += 1
        if self._task is None:
            self._seen = None  # what was seen when there was a reader may have passed
            self._task = asyncio.create_task(self._work())
        try:
            yield
        finally:
            self._readers -= 1
            if not self._readers and self._task is not None:
                self._task.cancel()
                self._task = None

    async def look(self) -> Seen:
        """At the record, now."""
        loop = asyncio.get_running_loop()
        self._seen = await loop.run_in_executor(self._thread, self._look.again)
        self._wake()
        return self._seen

    async def experiments(self) -> list[ListedExperiment]:
        """The newest of the record; none while it cannot be read."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, self._look.experiments)
        except AssayError:
            return []

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        due_s = loop.time()
        while True:
            await self.look()
            due_s = max(due_s + _EVERY_S, loop.time())
            await asyncio.sleep(due_s - loop.time())

    def end(self) -> None:
        """All streams end now; browsers come back when the server is there again."""
        self._is_closed = True
        self._wake()

    async def over(self) -> None:
        """Returns when the server is asked to end."""
        while not self._is_closed:
            await self._changed.wait()

    def close(self) -> None:
        self._thread.submit(self._look.close)
        self._thread.shutdown()

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


async def _behind(passed: Passed, cursor: Cursor) -> AsyncIterator[str]:
    """The seconds behind the cursor, which goes on with them."""
    run, step = passed.place
    at = passed.place_behind(cursor.second)
    while at < len(passed.texts):
        numbers = passed.numbers[at : at + _AT_ONCE]
        texts = passed.texts[at : at + _AT_ONCE]
        yield "".join(
            _message("second", text, f"{run}:{step}:{number}:{passed.record}")
            for number, text in zip(numbers, texts, strict=True)
        )
        cursor.second = numbers[-1]
        at += len(numbers)


def _message(event: str, text: str, number: str | None = None) -> str:
    id_line = "" if number is None else f"id: {number}\n"
    return f"{id_line}event: {event}\ndata: {text}\n\n"
