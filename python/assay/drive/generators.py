"""The load generators of a drive: the part of each, the offset of its machine's clock, what is
known of it where it is lost, its report, and the parts that it kept in files."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from assay.contracts.documents import convert
from assay.contracts.driving import END, OnLost
from assay.contracts.engine import (
    ArrivalDocument,
    ClientsSoFar,
    ClockReading,
    DriveDocument,
    DriveProgress,
    EngineRequest,
    ThreadUse,
    thread_use,
)
from assay.contracts.observation import Arrival, GeneratorReport, Observation, decode_observation
from assay.contracts.observation.merging import empty_observation, merge
from assay.contracts.observation.transactions import OUTCOMES, merged_latency
from assay.errors import InputError
from assay.text import paths

READINGS = 30
"""Of which the best counts."""
READINGS_AT_WORK = 6
"""The same while clients work."""


class ClockRoundTrip(NamedTuple):
    sent_ns: int
    """On our monotonic clock, as the next."""
    received_ns: int
    theirs_ns: int
    """On their monotonic clock."""
    wall_ahead_ns: int
    """Their wall clock after ours, without the time that the reading took."""


class ClockOffset(Struct, frozen=True):
    at_ns: int
    """Of our monotonic clock, when it was read."""
    ahead_ns: int
    """Their monotonic clock after ours."""
    uncertainty_ns: int
    """The most by which that may be wrong."""
    wall_ahead_ns: int


SAME_CLOCK = ClockOffset(0, 0, 0, 0)
"""Of a process of this machine, which reads the same clock."""


def clock_offset(readings: Iterable[ClockRoundTrip]) -> ClockOffset:
    best = min(readings, key=lambda reading: reading.received_ns - reading.sent_ns)
    middle_ns = (best.sent_ns + best.received_ns) // 2
    return ClockOffset(
        at_ns=middle_ns,
        ahead_ns=best.theirs_ns - middle_ns,
        uncertainty_ns=(best.received_ns - best.sent_ns + 1) // 2,
        wall_ahead_ns=best.wall_ahead_ns,
    )


def drift_ns_per_s(before: ClockOffset, after: ClockOffset) -> float:
    """How much farther their clock went in each second, as far as that is more than the
    uncertainty of both offsets; negative: it fell behind."""
    passed_s = (after.at_ns - before.at_ns) / 1e9
    went_ns = after.ahead_ns - before.ahead_ns
    certain_ns = max(0, abs(went_ns) - before.uncertainty_ns - after.uncertainty_ns)
    if passed_s <= 0 or not certain_ns:
        return 0.0
    return certain_ns / passed_s * (1 if went_ns > 0 else -1)


class Clock:
    """Of one generator, as it is asked for and answered."""

    def __init__(self) -> None:
        self.at_work: ClockOffset | None = None
        """The last one of those while clients worked."""
        self._sent_ns = self._wall_ns = 0
        self._readings: list[ClockRoundTrip] = []
        self._is_asked = False

    def sent(self) -> None:
        """It is being asked now."""
        self._sent_ns, self._wall_ns = time.monotonic_ns(), time.time_ns()

    def read(self, answer: Any) -> ClockRoundTrip:
        """It has answered now."""
        received_ns = time.monotonic_ns()
        theirs = convert(answer, ClockReading, "answer")
        half_ns = (received_ns - self._sent_ns) // 2
        return ClockRoundTrip(
            self._sent_ns,
            received_ns,
            theirs["monotonic_ns"],
            theirs["unix_ns"] - self._wall_ns - half_ns,
        )

    def ask(self) -> EngineRequest:
        """The first question of several, while clients work; none as long as one is not answered:
        its answer would be taken for that of the next one."""
        return {} if self._is_asked else self._question()

    def answered(self, answer: Any) -> EngineRequest:
        """The next one; none: these were all."""
        if not self._is_asked:
            return {}
        self._readings.append(self.read(answer))
        self._is_asked = False
        if len(self._readings) < READINGS_AT_WORK:
            return self._question()
        self.at_work = clock_offset(self._readings)
        self._readings.clear()
        return {}

    def _question(self) -> EngineRequest:
        self.sent()
        self._is_asked = True
        return {"clock": READINGS_AT_WORK - len(self._readings)}


class Terms(Struct, frozen=True):
    """On which several machines drive."""

    lease_s: float = 5.0
    """Where a generator hears nothing for so long, its clients end."""
    silence_s: float = 3.0
    """A generator that says nothing for so long is lost."""
    on_lost: OnLost = END
    run: int = 0
    """Its number in the record."""
    kept_in: Path | None = None
    """The folder, on its own machine, in which a generator keeps what it measured where the process
    that coordinates is lost; None: it keeps nothing."""


class PartOfDrive(Struct, frozen=True):
    machine: int
    """Its place in the fleet's machines."""
    document: DriveDocument


class DrivenPart(Struct):
    """What is known of it."""

    account: GeneratorAccount
    observation: Observation | None = None
    """None: its machine was lost."""
    lost_after_s: float | None = None
    unknown: int = 0
    before: ClockOffset = SAME_CLOCK
    after: ClockOffset | None = None
    clock: Clock = field(default_factory=Clock)
    load_1min: float | None = None


_MARGIN = 2.0
"""Between two reports a generator may have been faster than from one to the next."""
_LEAST_S = 0.05
"""Reports that follow each other faster say nothing of a rate."""
_REPORT_EVERY_S = 0.1
_RATE_KNOWN_AFTER_S = 0.5


class GeneratorAccount:
    """Of one generator."""

    def __init__(self, clients: int) -> None:
        self.clients = clients
        self.last: DriveProgress | None = None
        self.lag_p99_ns: int | None = None
        """Of the last second; None: none has passed, or its clients have no schedule."""
        self.so_far: ClientsSoFar | None = None
        self.use: ThreadUse | None = None
        """Of the last second, as far as it is known."""
        self._at_s = 0.0
        self._first: tuple[float, int] | None = None
        """When it first reported since its clients began, and how many had ended by then."""
        self._greatest_per_s = 0.0

    def reported(self, report: DriveProgress, now_s: float) -> None:
        before, before_s = self.last, self._at_s
        if before is not None and now_s - before_s >= _LEAST_S:
            rate_per_s = (report.done - before.done) / (now_s - before_s)
            self._greatest_per_s = max(self._greatest_per_s, rate_per_s)
        if self._first is None:
            self._first = now_s, report.done
        self.last, self._at_s = report, now_s
        if report.so_far is not None:
            self.use, self.so_far = report.so_far.use_since(self.so_far), report.so_far
        if report.seconds:
            last = report.seconds[-1].second
            lags = [one.schedule_lag_p99_ns for one in report.seconds if one.second == last]
            self.lag_p99_ns = max((lag for lag in lags if lag is not None), default=None)

    @property
    def greatest_per_client_s(self) -> float:
        return self._greatest_per_s / self.clients if self.clients else 0.0

    @property
    def is_bound_known(self) -> bool:
        """Whether its rate was seen for long enough to say what it can have done at most."""
        return self._first is not None and self._at_s - self._first[0] >= _RATE_KNOWN_AFTER_S

    def unknown(self, now_s: float, others_per_client_s: float) -> int:
        """What its last report said of transactions that failed or are unknown, which are one
        number in it, and the most that it may have done since then; where no bound is known, one
        for each client alone. ``others_per_client_s``: the greatest rate of each client of the
        other generators."""
        if self.last is None or self._first is None:
            return self.clients
        reported = self.last.failed
        if not self.is_bound_known:
            return reported + self.clients
        silent_s = now_s - self._at_s + _REPORT_EVERY_S
        first_s, first_done = self._first
        # Slow transactions: each client may have been about to end one.
        about_to_end = self.last.done - first_done + self.clients
        under_way_per_s = about_to_end / (self._at_s - first_s)
        per_client_s = max(self.greatest_per_client_s, others_per_client_s)
        per_s = max(per_client_s * self.clients, under_way_per_s)
        return reported + self.clients + math.ceil(_MARGIN * per_s * silent_s)


class Lost(Protocol):
    @property
    def account(self) -> GeneratorAccount: ...
    @property
    def unknown(self) -> int: ...
    @property
    def lost_after_s(self) -> float | None: ...


def known_of_lost(parts: Sequence[Lost]) -> str:
    """What is known where all were lost, as the end of a sentence."""
    reported = sum(one.account.last.ok for one in parts if one.account.last is not None)
    unknown = sum(one.unknown for one in parts)
    more = f"at most {unknown} more are unknown"
    if not all(one.account.is_bound_known for one in parts):
        more = "it is not known how many more they did"
    return f"; {reported} transactions were reported ok, and {more}"


def unknown_since(parts: Sequence[Lost]) -> int:
    """The most that those that were lost may have done since their last reports."""
    lost = [one for one in parts if one.lost_after_s is not None]
    said = sum(one.account.last.failed for one in lost if one.account.last is not None)
    return sum(one.unknown for one in lost) - said


def nothing_observed(document: DriveDocument, parts: Sequence[Lost]) -> Observation:
    """The observation of a drive that lost every generator, in which no transaction was timed."""
    elapsed_ns = int(max(part.lost_after_s or 0.0 for part in parts) * 1e9)
    arrival = document.arrival or ArrivalDocument(kind="closed")
    rate_per_s = arrival.offered_rate_per_s
    arrived = {
        "kind": arrival.kind,
        "offered_rate_per_s": rate_per_s if isinstance(rate_per_s, float) else None,
    }
    return replace(
        empty_observation(
            sum(part.account.clients for part in parts), convert(arrived, Arrival, "arrival")
        ),
        started_unix_ns=time.time_ns() - elapsed_ns,
        elapsed_ns=elapsed_ns,
    )


def generator_reports(
    parts: Sequence[DrivenPart], machines: Sequence[str]
) -> tuple[GeneratorReport, ...]:
    """``machines``: the name of that of each part."""
    return tuple(_report(part, name) for part, name in zip(parts, machines, strict=True))


def _report(part: DrivenPart, machine: str) -> GeneratorReport:
    last, after = part.account.last, part.after
    report = GeneratorReport(
        machine=machine,
        clients=part.account.clients,
        ok=last.ok if last is not None else 0,
        failed=last.failed if last is not None and part.lost_after_s is None else 0,
        unknown=part.unknown,
        clock_ahead_ns=part.before.ahead_ns,
        clock_uncertainty_ns=max(
            part.before.uncertainty_ns, after.uncertainty_ns if after is not None else 0
        ),
        clock_drift_ns_per_s=None if after is None else drift_ns_per_s(part.before, after),
        load_1min=part.load_1min,
        lost_after_s=part.lost_after_s,
        is_bound_known=part.lost_after_s is None or part.account.is_bound_known,
    )
    return report if part.observation is None else _with(report, part.observation)


def _with(report: GeneratorReport, observation: Observation) -> GeneratorReport:
    cost = observation.client_cost
    use = thread_use(
        cost.cpu_ns, cost.waited_for_processor_ns, observation.elapsed_ns, observation.threads
    )
    lag = observation.all_ok.schedule_lag
    return replace(
        report,
        ok=observation.outcomes.ok,
        failed=observation.outcomes.failed,
        unknown=observation.outcomes.unknown,
        lag_p99_ns=lag.p99_ns if lag is not None else None,
        cpu_share=None if use is None else use.busy,
        waited_share=None if use is None else use.waited,
    )


_HINT = "give files that `assay merge --parts` lists on the load machines, as they are there"


class _Part(msgspec.Struct, frozen=True, kw_only=True):
    """Of one generator: what stands in its file before what it observed."""

    run: int
    """Its number in the record of the process that was lost."""
    epoch: int
    """Of the drive."""
    generator: int
    of: int
    """How many generators drove together."""
    machine: str

    @property
    def drive(self) -> tuple[int, int]:
        """The same for all parts of one drive."""
        return self.run, self.epoch

    @property
    def place(self) -> str:
        return f"{self.generator} of {self.of}"


class _Kept(_Part, frozen=True, kw_only=True):
    observation: msgspec.Raw


class KeptPart(_Part, frozen=True, kw_only=True):
    observation: Observation
    file: Path


class MergedParts(Struct, frozen=True):
    """Parts of one drive."""

    parts: Sequence[KeptPart]
    """By the number of the generator."""
    observation: Observation
    """Of these, as one."""

    @property
    def missing(self) -> list[int]:
        """The numbers of the generators of which there is no part."""
        there = {one.generator for one in self.parts}
        return [number for number in range(1, self.parts[0].of + 1) if number not in there]


def read_kept_part(file: Path) -> KeptPart:
    """Raises `InputError` where it cannot be read, or is none of these files."""
    try:
        text = paths.read_text(file, InputError)
    except InputError as error:
        error.hint = _HINT
        raise
    try:
        kept = msgspec.json.decode(text, type=_Kept)
        observation = decode_observation(bytes(kept.observation).decode("utf-8"))
        merged_latency([one.latency for one in observation.transactions])
    except (msgspec.MsgspecError, ValueError, RecursionError, InputError) as error:
        raise _not_kept(file, str(error)) from error
    if not 1 <= kept.generator <= kept.of:
        raise _not_kept(file, f"generator {kept.generator} of {kept.of}")
    for name in OUTCOMES:
        if (count := getattr(observation.outcomes, name)) < 0:
            raise _not_kept(file, f"{count} {name}")
    head = {name: getattr(kept, name) for name in _Part.__struct_fields__}
    return KeptPart(**head, observation=observation, file=file)


def merged_parts(parts: Sequence[KeptPart]) -> MergedParts:
    """Raises `InputError` where they are not of one drive, or one is given twice."""
    first = parts[0]
    for one in parts[1:]:
        if one.drive != first.drive:
            raise InputError(
                f"expected parts of one run, found one of {_named(one, first)}, and of "
                f"{_named(first, one)} in {first.file}",
                file=one.file,
                hint="give those of one run at a time; `assay merge --parts` says of which each is",
            )
    counts = Counter(one.generator for one in parts)
    for number, count in counts.items():
        if count > 1:
            files = [str(one.file) for one in parts if one.generator == number]
            raise InputError(
                f"expected one part of each generator, found generator {number} also in {files[0]}",
                file=files[1],
                hint="give each part once",
            )
    ordered = sorted(parts, key=attrgetter("generator"))
    try:
        return MergedParts(ordered, merge([one.observation for one in ordered]))
    except (ValueError, InputError) as error:
        raise _not_kept(first.file, f"in it and those given with it: {error}") from error


def _named(part: KeptPart, other: KeptPart) -> str:
    return f"run {part.run}" + (f", drive {part.epoch}" if part.run == other.run else "")


def _not_kept(file: Path, reason: str) -> InputError:
    return InputError(
        f"expected what a load generator kept where it lost Assay, found {reason}",
        file=file,
        hint=_HINT,
    )
