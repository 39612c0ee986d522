"""Takes the parts of a drive document and a fleet; has a program of the fleet drive each, all
beginning at one instant; returns what is known of each part.

There are two reasons for parts. A driver that calls Python needs processes: the interpreter runs
one thread at a time, and clients in one process would wait for each other instead of for the
system. And the load may come from several machines; these may be lost, and are driven on `Terms`.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from assay.contracts.documents import convert
from assay.contracts.driving import CONTINUE
from assay.contracts.engine import (
    ClientsSoFar,
    DrainProgress,
    DriveDocument,
    DriveProgress,
    EngineRequest,
    Message,
    read_progress,
)
from assay.contracts.observation import (
    GeneratorReport,
    Interval,
    Outage,
    decode_observation,
    merging,
)
from assay.contracts.observation.merging import client_cost
from assay.contracts.stop import NEVER, Stop
from assay.drive import generators
from assay.drive.generators import (
    ClockOffset,
    DrivenPart,
    PartOfDrive,
    Terms,
    drift_ns_per_s,
    generator_reports,
)
from assay.errors import SystemDied
from assay.provision.engine.engine_calls import raise_as_ours
from assay.provision.engine.python_calls import error_of

if TYPE_CHECKING:
    from assay.contracts.engine import Channel, Fleet, Receive


# Takes how far each part of a drive is; returns how far the whole is, its seconds, and what its
# clients have done so far.


class Seconds:
    """The seconds of all parts; each is complete when every part has reported it."""

    def __init__(self, parts: Collection[int]) -> None:
        self._parts = set(parts)
        self._reported: dict[int, dict[int, list[Interval]]] = {}
        """Second → part → its intervals."""

    def add(self, part: int, intervals: Sequence[Interval]) -> None:
        for interval in intervals:
            self._reported.setdefault(interval.second, {}).setdefault(part, []).append(interval)

    def leave_out(self, part: int) -> None:
        """It reports no more."""
        self._parts.discard(part)

    def take(self) -> tuple[Interval, ...]:
        """Those that were completed since the last call, one of each group."""
        complete = [
            at for at, parts in sorted(self._reported.items()) if parts.keys() >= self._parts
        ]
        return tuple(line for at in complete for line in _lines(at, self._reported.pop(at)))


class ClientsOfAll:
    """What the clients of all parts have done so far; anew when every part has said it again. Of
    one that was lost nothing is measured."""

    def __init__(self, parts: Collection[int], *, on_one_machine: bool) -> None:
        self._awaited = set(parts)
        self._on_one_machine = on_one_machine
        self._said: dict[int, ClientsSoFar] = {}
        self._new: set[int] = set()

    def add(self, part: int, so_far: ClientsSoFar | None) -> None:
        if so_far is not None:
            self._said[part] = so_far
            self._new.add(part)

    def end(self, part: int) -> None:
        """It has done all that it was to do."""
        self._awaited.discard(part)

    def leave_out(self, part: int) -> None:
        """It was lost."""
        self.end(part)
        self._said.pop(part, None)
        self._new.discard(part)

    def take(self) -> ClientsSoFar | None:
        if not self._new or not self._new >= self._awaited:
            return None
        self._new.clear()
        parts = list(self._said.values())
        loads = [part.load_1min for part in parts if part.load_1min is not None]
        transactions: dict[str, tuple[int, ...]] = {}
        for part in parts:
            for group, counts in part.transactions.items():
                transactions[group] = (*transactions.get(group, ()), *counts)
        return ClientsSoFar(
            elapsed_ns=max(part.elapsed_ns for part in parts),
            threads=sum(part.threads for part in parts),
            client_cost=client_cost([part.client_cost for part in parts], 0, self._on_one_machine),
            statements=sum(part.statements for part in parts),
            load_1min=max(loads, default=None),
            outages=merging.common_spans([part.outages for part in parts], Outage),
            transactions=transactions,
        )


def _lines(second: int, parts: Mapping[int, Sequence[Interval]]) -> Iterator[Interval]:
    by_group: dict[str, list[Interval]] = {}
    for intervals in parts.values():
        for interval in intervals:
            by_group.setdefault(interval.group, []).append(interval)
    from assay.contracts.observation.merging import merged_line

    for group, intervals in by_group.items():
        connected = sum(interval.clients_connected for interval in intervals)
        yield merged_line(second, group, intervals, connected, (), ())


def together(
    reports: Sequence[DriveProgress], seconds: tuple[Interval, ...], so_far: ClientsSoFar | None
) -> DriveProgress:
    """The progress of all parts as that of one."""
    scheduled = [report.scheduled for report in reports if report.scheduled is not None]
    drains = [report.draining for report in reports if report.draining is not None]
    return DriveProgress(
        elapsed_s=max(report.elapsed_s for report in reports),
        done=sum(report.done for report in reports),
        scheduled=sum(scheduled) if len(scheduled) == len(reports) else None,
        ok=sum(report.ok for report in reports),
        failed=sum(report.failed for report in reports),
        clients_running=sum(report.clients_running for report in reports),
        seconds=seconds,
        so_far=so_far,
        draining=DrainProgress(
            open=sum(drain.open for drain in drains),
            elapsed_s=max(drain.elapsed_s for drain in drains),
            limit_s=max(drain.limit_s for drain in drains),
        )
        if drains
        else None,
    )


# Keeps the generators of one drive apart from all others: what is said to them, and what they
# report, carries the run and an epoch, and what carries another one is refused.
#
# A channel is opened for one drive, so that another's report would have come through a mistake or
# through a network that delivers late. Its counts would be those of another load.


class Fence(Struct, frozen=True):
    run: int
    """Its number in the record."""
    epoch: int
    """Greater than that of every drive before."""

    def on(self, request: EngineRequest) -> EngineRequest:
        return {**request, "run": self.run, "epoch": self.epoch}

    def admits(self, message: Message) -> bool:
        return (message.get("run"), message.get("epoch")) == (self.run, self.epoch)


class FencedChannel:
    """A `Channel` of the fleet to a program that is started on a machine."""

    def __init__(self, fleet: Fleet, machine: int, receive: Receive, fence: Fence) -> None:
        self._fence = fence

        def admitted(message: Message | None) -> None:
            # That a program has ended is known of the channel, not of the program.
            if message is None or fence.admits(message):
                receive(message)

        self._channel: Channel = fleet.start(machine, admitted)

    def send(self, request: EngineRequest) -> None:
        self._channel.send(self._fence.on(request))

    def look_after(self) -> None:
        self._channel.look_after()

    def why_it_died(self, during: str, process: str = "") -> SystemDied:
        return self._channel.why_it_died(during, process)

    def kill(self) -> None:
        self._channel.kill()


# Takes what is known of the parts of a drive while they work; returns a report of each load
# generator, once a second and when one is lost.

_EVERY_S = 1.0


class GeneratorsAtWork:
    """Of one drive."""

    def __init__(self, machines: Sequence[str]) -> None:
        """``machines``: the name of that of each part."""
        self._machines = machines
        self._reported_s = -_EVERY_S
        self._lost = 0

    def take(self, parts: Sequence[DrivenPart], now_s: float) -> tuple[GeneratorReport, ...]:
        """Empty: they were reported less than a second ago, and none was lost since."""
        lost = sum(part.lost_after_s is not None for part in parts)
        if now_s - self._reported_s < _EVERY_S and lost == self._lost:
            return ()
        self._reported_s, self._lost = now_s, lost
        return tuple(
            _at_work(report, part)
            if part.observation is None and part.lost_after_s is None
            else report
            for part, report in zip(parts, generator_reports(parts, self._machines), strict=True)
        )


def _at_work(report: GeneratorReport, part: DrivenPart) -> GeneratorReport:
    """With what it did in the last second, and the drift of its clock so far."""
    account, clock = part.account, part.clock.at_work
    use, so_far = account.use, account.so_far
    return replace(
        report,
        lag_p99_ns=account.lag_p99_ns,
        cpu_share=None if use is None else use.busy,
        waited_share=None if use is None else use.waited,
        load_1min=None if so_far is None else so_far.load_1min,
        clock_drift_ns_per_s=None if clock is None else drift_ns_per_s(part.before, clock),
    )


OnProgress = Callable[[DriveProgress], bool | None]

_AHEAD_NS = 100_000_000
"""From the last program's readiness to the beginning, so that all have read it before."""
_REPORT_EVERY_S = 0.1
_LONGEST_CALL_S = 30.0
"""How long behind the drain a call may last that was to be cancelled."""
_LOOK_EVERY_S = 0.25
_ALIVE_EVERY_S = 1.0
_CLOCKS_EVERY_S = 2.0
"""How often they are read while clients work."""
_ANSWER_S = 30.0
"""How long a program may take to start, and to say what its clock is."""
_SUSPENDED_S = 1.0
"""Where this process looks later than that, it stood still itself, and heard no one."""

_Messages = queue.Queue[tuple[int, Message | None]]
"""Place of the part and what its program sent; None: it has ended."""


def drive_at_once(
    fleet: Fleet,
    parts: Sequence[PartOfDrive],
    on_progress: OnProgress,
    stop: Stop = NEVER,
    terms: Terms | None = None,
    *,
    on_one_machine: bool = True,
) -> list[DrivenPart]:
    """``on_one_machine``: whether the machines of the fleet are processes of one.

    Where some parts end before the beginning (the system refused their sessions), only theirs
    have an observation, and no other begins.

    Raises as `assay.drive.observe.observe`, and `KeyboardInterrupt` where ``on_progress`` returns
    False before clients work. Without ``terms`` also while they work, and `Stopped` where a
    ``stop`` is requested: a module cannot be relied on to return. Nothing is left of the fleet,
    whatever is raised.
    """
    so_far = ClientsOfAll(range(len(parts)), on_one_machine=on_one_machine)
    drive = _Drive(fleet, parts, on_progress, stop, terms, so_far)
    try:
        return drive.followed()
    finally:
        fleet.stop()


class _Drive:
    def __init__(
        self,
        fleet: Fleet,
        parts: Sequence[PartOfDrive],
        on_progress: OnProgress,
        stop: Stop,
        terms: Terms | None,
        so_far: ClientsOfAll,
    ) -> None:
        self._fleet, self._parts, self._terms = fleet, parts, terms
        # By the time of day, so that one that begins later has the greater epoch, also where the
        # process that coordinates is another one.
        self._fence = None if terms is None else Fence(terms.run, time.time_ns())
        self._on_progress, self._stop = on_progress, stop
        self._messages: _Messages = queue.Queue()
        self._channels: list[Channel] = []
        from assay.drive.generators import GeneratorAccount

        self._driven = [DrivenPart(GeneratorAccount(_clients(part.document))) for part in parts]
        self._ended: set[int] = set()
        """Those that were observed or lost."""
        self._progress: dict[int, DriveProgress] = {}
        self._seconds, self._so_far = Seconds(range(len(parts))), so_far
        names = fleet.machines() if terms is not None else ()
        self._at_work = GeneratorsAtWork([names[part.machine] for part in parts if names])
        self._heard_s = [0.0] * len(parts)
        self._begun_s: float | None = None
        self._is_stopping = False
        self._reported_s = self._alive_s = self._clocks_s = 0.0
        self._stood_still_s = 0.0
        """The longest time that this process did nothing."""

    def followed(self) -> list[DrivenPart]:
        for place, part in enumerate(self._parts):
            self._channels.append(self._started(part.machine, self._received_from(place)))
        if self._terms is not None:
            for place, driven in enumerate(self._driven):
                driven.before = self._clock_of(place)
        for place, (channel, part) in enumerate(zip(self._channels, self._parts, strict=True)):
            request = EngineRequest(call="drive", document=part.document.json)
            channel.send({**request, **self._lease(place)})
        self._follow()
        self._check_own_silence()
        if self._terms is not None and self._begun_s is not None:
            for place, driven in enumerate(self._driven):
                if driven.observation is not None:
                    # What is lost now has been observed; only its clock remains unknown.
                    with suppress(SystemDied):
                        driven.load_1min = convert(self._ask(place, "load_average"), float, "it")
                        driven.after = self._clock_of(place)
        return self._driven

    def _started(self, machine: int, receive: Receive) -> Channel:
        if self._fence is None:
            return self._fleet.start(machine, receive)
        return FencedChannel(self._fleet, machine, receive, self._fence)

    def _lease(self, place: int) -> EngineRequest:
        if self._terms is None or self._fence is None:
            return {}
        request = EngineRequest(lease_s=self._terms.lease_s)
        if self._terms.kept_in is not None:
            name = f"run-{self._fence.run}-{self._fence.epoch}-generator-{place + 1}.json"
            request["part_file"] = str(self._terms.kept_in / name)
            request["part"] = {"generator": place + 1, "of": len(self._parts)}
        return request

    def _received_from(self, place: int) -> Callable[[Message | None], None]:
        return lambda message: self._messages.put((place, message))

    # Questions, while no clients work.

    def _ask(self, place: int, call: str) -> Any:
        self._channels[place].send(EngineRequest(call=call))
        until_s = time.monotonic() + _ANSWER_S
        while time.monotonic() < until_s:
            if self._begun_s is None:  # afterwards it is what was measured that counts
                self._stop.check()
            try:
                of, message = self._messages.get(timeout=_LOOK_EVERY_S)
            except queue.Empty:
                self._channels[place].look_after()
                continue
            if of in self._ended and of != place:
                continue
            if message is None:
                raise self._why_died(of, "before clients connected")
            return message.get("value")
        raise SystemDied(
            f"{self._name(place)} does not answer", hint="see its processors and memory"
        )

    def _clock_of(self, place: int) -> ClockOffset:
        clock, readings = self._driven[place].clock, []
        for _ in range(generators.READINGS):
            clock.sent()
            readings.append(clock.read(self._ask(place, "clock")))
        return generators.clock_offset(readings)

    def _check_own_silence(self) -> None:
        """Where the generators did what they are to do without a word of this process, none of
        their machines is to blame."""
        if self._terms is None or any(driven.observation for driven in self._driven):
            return
        if self._stood_still_s > self._terms.lease_s:
            from assay.drive.generators import known_of_lost

            raise SystemDied(
                f"assay itself stood still for {self._stood_still_s:.0f} s: its load generators "
                f"end after {self._terms.lease_s:g} s without it{known_of_lost(self._driven)}",
                hint="do not suspend it, and see what else kept this machine busy",
            )

    # The drive.

    def _follow(self) -> None:
        ready: set[int] = set()
        looked_s = time.monotonic()
        while len(self._ended) < len(self._parts):
            self._check_stop()
            try:
                place, message = self._messages.get(timeout=_LOOK_EVERY_S)
            except queue.Empty:
                place, message = -1, None
            now_s = time.monotonic()
            if now_s - looked_s > _SUSPENDED_S:
                self._heard_s = [now_s] * len(self._parts)
                self._stood_still_s = max(self._stood_still_s, now_s - looked_s)
            looked_s = now_s
            self._say_alive(now_s)
            self._lose_silent(now_s)
            if place < 0:
                self._look_after()
                continue
            if place in self._ended:
                continue  # what one that was given up says later
            self._heard_s[place] = now_s
            if message is None:
                self._died(place, now_s)
                continue
            if "error" in message:
                raise_as_ours(error_of(message["error"]))
            if "value" in message:
                self._driven[place].observation = decode_observation(message["value"])
                self._ended.add(place)
                self._seconds.leave_out(place)
                self._so_far.end(place)
            if "clock" in message and (
                asked := self._driven[place].clock.answered(message["clock"])
            ):
                self._channels[place].send(asked)
            if "ready" in message:
                ready.add(place)
            if self._begun_s is None and len(ready | self._ended) == len(self._parts):
                if self._ended:
                    return
                self._begin()
            if "progress" in message:
                self._progressed(place, read_progress(message["progress"]), now_s)

    def _begin(self) -> None:
        begin_ns = time.monotonic_ns() + _AHEAD_NS
        for channel, driven in zip(self._channels, self._driven, strict=True):
            channel.send({"begin": begin_ns + driven.before.ahead_ns})
        self._begun_s = begin_ns / 1e9
        self._heard_s = [self._begun_s] * len(self._parts)

    def _progressed(self, place: int, report: DriveProgress, now_s: float) -> None:
        self._progress[place] = report
        if self._begun_s is not None and now_s >= self._begun_s:
            self._driven[place].account.reported(report, now_s)
        self._seconds.add(place, report.seconds)
        self._so_far.add(place, report.so_far)
        self._insist_on_an_end(report, place)
        if self._begun_s is None or now_s - self._reported_s < _REPORT_EVERY_S:
            return
        self._reported_s = now_s
        seconds, so_far = self._seconds.take(), self._so_far.take()
        whole = together(list(self._progress.values()), seconds, so_far)
        from assay.drive.generators import unknown_since

        whole = replace(whole, failed=whole.failed + unknown_since(self._driven))
        if self._terms is not None:
            whole = replace(whole, generators=self._at_work.take(self._driven, now_s))
        if self._on_progress(whole) is False and not self._is_stopping:
            if self._terms is None:
                raise KeyboardInterrupt
            self._stop_all()

    def _check_stop(self) -> None:
        if self._terms is None or self._begun_s is None:
            self._stop.check()
        elif self._stop.is_asked and not self._is_stopping:
            self._stop_all()

    def _stop_all(self) -> None:
        """Has the clients of every program end, in order."""
        self._is_stopping = True
        for place, channel in enumerate(self._channels):
            if place not in self._ended:
                channel.send({"stop": True})

    def _say_alive(self, now_s: float) -> None:
        """Also while clients connect, which may take longer than the lease. Now and then, while
        they work, with a question for the clock."""
        if self._terms is None or now_s - self._alive_s < _ALIVE_EVERY_S:
            return
        self._alive_s = now_s
        begun_s = self._begun_s
        is_read = begun_s is not None and now_s - max(begun_s, self._clocks_s) >= _CLOCKS_EVERY_S
        if is_read:
            self._clocks_s = now_s
        for place, channel in enumerate(self._channels):
            if place not in self._ended:
                asked = self._driven[place].clock.ask() if is_read else {}
                channel.send({"alive": True, **asked})

    def _look_after(self) -> None:
        for place, channel in enumerate(self._channels):
            if place not in self._ended:
                channel.look_after()

    # What is lost.

    def _lose_silent(self, now_s: float) -> None:
        if self._terms is None or self._begun_s is None:
            return
        for place, heard_s in enumerate(self._heard_s):
            if place not in self._ended and now_s - heard_s > self._terms.silence_s:
                self._lose(place, now_s)

    def _died(self, place: int, now_s: float) -> None:
        if self._begun_s is None:
            raise self._why_died(place, "while clients connected")
        if self._terms is None:
            raise self._why_died(place, "during the measurement")
        self._lose(place, now_s)

    def _lose(self, place: int, now_s: float) -> None:
        """It is neither started again nor replaced: that would send load twice, or another one."""
        assert self._terms is not None and self._begun_s is not None
        self._channels[place].kill()
        now_s = max(now_s, time.monotonic())
        driven, others = self._driven[place], (one.account for one in self._driven)
        fastest = max(one.greatest_per_client_s for one in others)
        driven.lost_after_s = max(0.0, now_s - self._begun_s)
        driven.unknown = driven.account.unknown(now_s, fastest)
        self._ended.add(place)
        self._seconds.leave_out(place)
        self._so_far.leave_out(place)
        if self._terms.on_lost != CONTINUE and not self._is_stopping:
            self._stop_all()

    def _why_died(self, place: int, during: str) -> SystemDied:
        return self._channels[place].why_it_died(during, self._name(place))

    def _name(self, place: int) -> str:
        if self._terms is None:
            return f"client process {place + 1} of {len(self._parts)}"
        return f"load machine {self._parts[place].machine + 1} of {len(self._fleet.machines())}"

    def _insist_on_an_end(self, report: DriveProgress, place: int) -> None:
        """Not every module can be called off: one that does not return is not waited for."""
        draining = report.draining
        if draining is None or draining.elapsed_s <= draining.limit_s + _LONGEST_CALL_S:
            return
        deployment = self._parts[place].document.deployment
        module = deployment.options.get("module", "") if deployment is not None else ""
        raise SystemDied(
            f"{draining.elapsed_s:.0f} s after the end of the measurement a client is still "
            f"waiting: {f'the module {module}' if module else 'its driver'} does not return from a "
            "call, which cannot be cancelled",
            hint="check that the server still answers, or shorten its lock timeout",
        )


def _clients(document: DriveDocument) -> int:
    return sum(one.clients or 0 for one in document.groups or [document])
