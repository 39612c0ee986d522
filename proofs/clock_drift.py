"""The drift that is found of a load generator's clock is never more than the true one, and less by
no more than what is uncertain; `clocks-apart` is warned of it above 1 ms a minute, as soon as that
is certain, and never below.

Each case plants a rate in a clock that is read by thirty round trips before and after a run. Most
are played through with a test clock, for runs of 10 s to 10 min and messages that take from 20 µs
to 5 ms each way, differently there and back. In every thirtieth a load generator of this machine
drives clients of the null system for a second, and what it says of its clock runs at that rate.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import cast

from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.documents import ScriptDocument
from assay.contracts.engine import (
    Channel,
    DriveDocument,
    EngineRequest,
    Message,
    Receive,
    StopDocument,
)
from assay.contracts.storage_facts import StorageFacts
from assay.drive import generators
from assay.drive.fleet import drive_at_once
from assay.drive.generators import (
    ClockOffset,
    ClockRoundTrip,
    DrivenPart,
    GeneratorAccount,
    PartOfDrive,
    Terms,
    generator_reports,
)
from assay.errors import SystemDied
from assay.judge import warning_kinds
from assay.judge.run_warnings import clocks_apart
from assay.provision.engine.engine_programs import LocalFleet
from proofs._proof import Found

CASES = 600
SHORT = 30

_DRIVEN_EVERY = 30
_LIMIT_PER_S = warning_kinds.CLOCKS_DRIFT_MS_PER_MIN * 1e6 / 60
"""In nanoseconds."""


def prove(cases: int, seed: int, timeout_s: float, first: int = 0) -> Found:
    """Plants so many rates."""
    del timeout_s  # each case ends by itself
    outcomes: Counter[str] = Counter()
    faults = []
    for number in range(first, first + cases):
        random = Random(f"{seed} {number}")
        is_driven = number % _DRIVEN_EVERY == _DRIVEN_EVERY - 1
        rate_per_s, part = _driven(random) if is_driven else _played(random)
        kind, wrong = _judged(rate_per_s, part)
        outcomes[f"{'driven' if is_driven else 'played'}, {kind}"] += 1
        if wrong:
            command = f"python -m proofs clock_drift --cases 1 --first {number} --seed {seed}"
            faults.append(f"{command}\n{wrong}")
    return Found(cases, outcomes, faults)


def _judged(rate_per_s: float, part: DrivenPart) -> tuple[str, str]:
    """``rate_per_s``: planted, in nanoseconds a second."""
    (report,) = generator_reports([part], ["the other"])
    found_per_s, before, after = report.clock_drift_ns_per_s, part.before, part.after
    if found_per_s is None or after is None:
        return "not read", "expected a drift, found none"
    passed_s = (after.at_ns - before.at_ns) / 1e9
    # Two ends of each of the two offsets, and a nanosecond of each reading for the rounding.
    uncertain_per_s = 2 * (before.uncertainty_ns + after.uncertainty_ns + 2) / passed_s
    rounded_per_s = 4 / passed_s
    least_per_s = max(0.0, abs(rate_per_s) - uncertain_per_s)
    warned = any("drifts" in words for _, words in clocks_apart("run 1", [report]))
    wrong = ""
    if found_per_s * rate_per_s < 0 or not (
        least_per_s <= abs(found_per_s) <= abs(rate_per_s) + rounded_per_s
    ):
        wrong = f"planted {rate_per_s:.1f} ns/s ± {uncertain_per_s:.1f}, found {found_per_s:.1f}"
    elif warned and abs(rate_per_s) + rounded_per_s <= _LIMIT_PER_S:
        wrong = f"warned of {rate_per_s:.1f} ns/s, which is below {_LIMIT_PER_S:.1f}"
    elif not warned and least_per_s > _LIMIT_PER_S:
        wrong = f"not warned of {rate_per_s:.1f} ns/s, which is above {_LIMIT_PER_S:.1f}"
    beyond = "above" if abs(rate_per_s) > _LIMIT_PER_S else "below"
    return f"{beyond} 1 ms a minute: {'warned' if warned else 'not warned'}", wrong


# With a test clock.


def _played(random: Random) -> tuple[float, DrivenPart]:
    rate_per_s = random.uniform(-4, 4) * _LIMIT_PER_S
    ahead_ns, begun_ns = random.randint(-(10**12), 10**12), random.randint(0, 10**15)

    def theirs(our_ns: int) -> int:
        return our_ns + ahead_ns + round(rate_per_s * (our_ns - begun_ns) / 1e9)

    longest_ns = random.choice([200_000, 1_000_000, 5_000_000])

    def read(from_ns: int) -> ClockOffset:
        trips, now_ns = [], from_ns
        for _ in range(generators.READINGS):
            there_ns, back_ns = (random.randint(20_000, longest_ns) for _ in range(2))
            read_ns = now_ns + there_ns
            trips.append(ClockRoundTrip(now_ns, read_ns + back_ns, theirs(read_ns), 0))
            now_ns = read_ns + back_ns
        return generators.clock_offset(trips)

    part = DrivenPart(GeneratorAccount(1))
    part.before = read(begun_ns)
    part.after = read(begun_ns + int(random.uniform(10, 600) * 1e9))
    return rate_per_s, part


# With a generator.


class _Drifting:
    """A fleet of one program, whose clock runs at another rate."""

    def __init__(self, rate_per_s: float) -> None:
        self._fleet = LocalFleet(1)
        self._rate_per_s, self._since_ns = rate_per_s, time.monotonic_ns()
        self.machines, self.stop = self._fleet.machines, self._fleet.stop

    def start(self, machine: int, receive: Receive) -> Channel:
        def received(message: Message | None) -> None:
            for key in ("value", "clock"):
                said = message.get(key) if message is not None else None
                if message is not None and isinstance(said, dict) and "monotonic_ns" in said:
                    theirs = {**said, "monotonic_ns": self._theirs(said["monotonic_ns"])}
                    message = cast(Message, {**message, key: theirs})
            receive(message)

        return _Channel(self._fleet.start(machine, received), self)

    def _theirs(self, our_ns: int) -> int:
        return our_ns + round(self._rate_per_s * (our_ns - self._since_ns) / 1e9)

    def ours(self, their_ns: int) -> int:
        passed_ns = (their_ns - self._since_ns) / (1 + self._rate_per_s / 1e9)
        return self._since_ns + round(passed_ns)


class _Channel:
    def __init__(self, channel: Channel, fleet: _Drifting) -> None:
        self._channel, self._fleet = channel, fleet
        self.look_after, self.kill = channel.look_after, channel.kill

    def send(self, request: EngineRequest) -> None:
        if "begin" in request:
            request = {**request, "begin": self._fleet.ours(request["begin"])}
        self._channel.send(request)

    def why_it_died(self, during: str, process: str = "") -> SystemDied:
        return self._channel.why_it_died(during, process)


def _driven(random: Random) -> tuple[float, DrivenPart]:
    rate_per_s = random.uniform(-1000, 1000) * _LIMIT_PER_S
    document = DriveDocument(
        deployment=_null().for_engine(),
        scripts=(ScriptDocument(name="read", path="read.sql", text="SELECT 1;"),),
        order="sequence",
        clients=1,
        stop=StopDocument(duration_s=1.0),
        seed=7,
    )
    parts: Sequence[PartOfDrive] = [PartOfDrive(0, document)]
    (part,) = drive_at_once(_Drifting(rate_per_s), parts, lambda _: None, terms=Terms())
    return rate_per_s, part


def _null() -> Deployment:
    folder = str(Path(tempfile.gettempdir()))
    address = Address(driver="null", options={"rows": "1", "delay": "constant:5ms"})
    return Deployment(
        system="null",
        label="null",
        nodes=(Node("null", StorageFacts("here", "here", folder)),),
        endpoints=(address,),
        version="",
        options={},
        settings_asked={},
        settings={},
    )
