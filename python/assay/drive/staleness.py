"""Takes a deployment with replicas; has a process of its own measure how stale these are while
clients work (`assay.drive.staleness_process`).

It writes to a table of Assay's own, so that it is used only where a run may write.
"""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from math import ceil
from typing import IO, Any

from msgspec import Struct, field, structs

from assay.contracts.deployment import ClusterMember, Deployment
from assay.contracts.dialects import AsksForGreatest, Column, Dialect, SingleRows, Table
from assay.contracts.driving import READ_PRIMARY
from assay.contracts.engine import DriveDocument
from assay.contracts.events import Sink, Warned
from assay.contracts.observation import Observation, StalenessReport
from assay.contracts.stop import look
from assay.drive.observe import reads_of_clients
from assay.drive.staleness_process import CATCH_UP_S, PLACE, Findings, Late, Order, Replica
from assay.errors import SystemRefused

_TABLE = Table(
    name="assay_staleness",
    columns=(Column("number", "int", not_null=True),),
    primary_key=("number",),
)
"""A left one, of a program that was killed together with its meter, is dropped before it is made
again."""
_ANSWER_TIMEOUT_S = 10.0
"""A replica that does not answer for so long is lost."""
_CHECK_EVERY_S = 0.1
_END_S = 30.0
"""How long the process may take to drop its table."""
_PROGRAM = "assay.drive.staleness_process"


class MeasuredStaleness(Struct):
    """What was found; filled when the block ends in which clients work."""

    names: tuple[str, ...] = ()
    """Of the replicas."""
    findings: Findings = field(default_factory=lambda: Findings(replicas=[]))
    why_not: str = ""
    """Why nothing was measured; empty: something was, or no client reads at a replica."""


def reads_at_replicas(deployment: Deployment, document: DriveDocument) -> bool:
    """Whether any of the clients does."""
    has_replicas = any(one.role.is_replica for one in deployment.members)
    return has_replicas and any(words - {READ_PRIMARY} for _, words in reads_of_clients(document))


def why_not(deployment: Deployment, dialect: Dialect, *, may_write: bool) -> str:
    """Why the staleness of its replicas cannot be measured; empty: it can."""
    if not may_write:
        return "the run only reads data that are not Assay's, and it is measured by writing"
    if not (isinstance(dialect, SingleRows) and isinstance(dialect, AsksForGreatest)):
        return "single numbers are not written to the system, or not asked for"
    role = deployment.members[0].role
    return role.why_read_only and f"the primary takes no writes: {role.why_read_only}"


@contextlib.contextmanager
def measured(
    deployment: Deployment,
    dialect: Dialect,
    document: DriveDocument,
    emit: Sink,
    *,
    may_write: bool,
    is_first: bool,
) -> Iterator[MeasuredStaleness]:
    """A block in which clients work; it begins once every replica has what was written to the
    primary before. ``is_first``: no clients have worked since the load. Raises `SystemRefused`
    where a replica has not got that in time."""
    found = MeasuredStaleness()
    if not reads_at_replicas(deployment, document):
        yield found
        return
    found.why_not = why_not(deployment, dialect, may_write=may_write)
    if found.why_not:
        yield found
        return
    places = [place for place, one in enumerate(deployment.members) if one.role.is_replica]
    found.names = tuple(deployment.members[place].name for place in places)
    with ExitStack() as stack:
        process = _Process(_order(deployment, dialect, places))
        stack.callback(process.kill)
        late: Late | None = process.answer()
        if late is not None and late["is_waiting"]:
            emit(Warned(_waiting([found.names[place] for place in late["late"]])))
            late = process.answer()
        if late is None:
            found.why_not = f"its meter ended: {process.last_words()}"
            emit(Warned(f"staleness is not measured: {found.why_not}"))
            yield found
            return
        for place in late["late"]:
            if is_first:
                raise _not_loaded(deployment.members[places[place]])
            emit(Warned(f"{found.names[place]} has not got what was written before the clients"))
        try:
            yield found
        finally:
            findings: Findings | None = process.end()
            if findings is None:
                found.why_not = f"its meter ended: {process.last_words()}"
            else:
                found.findings = findings


def _waiting(names: Sequence[str]) -> str:
    return (
        f"the clients wait until {' and '.join(names)} has applied what was written to the "
        f"primary, at most {CATCH_UP_S:.0f} s"
    )


def _not_loaded(replica: ClusterMember) -> SystemRefused:
    return SystemRefused(
        f"the {replica.role.name} at {replica.name} has not applied within {CATCH_UP_S:.0f} s "
        "what was loaded at the primary: its clients would find no tables there, or older data",
        hint=replica.role.how_to_follow or None,
    )


def _order(deployment: Deployment, dialect: Dialect, places: list[int]) -> Order:
    assert isinstance(dialect, SingleRows)
    assert isinstance(dialect, AsksForGreatest)

    def document(place: int) -> Any:
        endpoint = structs.replace(deployment.endpoints[place], answer_timeout_s=_ANSWER_TIMEOUT_S)
        return endpoint.for_engine().plain

    drop = dialect.drop_table(_TABLE)
    return Order(
        primary=document(0),
        replicas=[document(place) for place in places],
        prepare=[*drop, *dialect.create_table(_TABLE, deployment.options)],
        write=dialect.insert_row(_TABLE, [PLACE]),
        read=dialect.greatest(_TABLE, "number"),
        clean_up=drop,
    )


def reports(
    names: Sequence[str], findings: Findings, observation: Observation
) -> tuple[StalenessReport, ...]:
    """How stale each replica was, by the numbers that were written in the measurement."""
    from_ns = observation.started_unix_ns
    until_ns = from_ns + observation.elapsed_ns
    return tuple(
        _report(name, replica, from_ns, until_ns)
        for name, replica in zip(names, findings["replicas"], strict=False)
    )


def _report(name: str, replica: Replica, from_ns: int, until_ns: int) -> StalenessReport:
    measured = [one for one in replica["numbers"] if from_ns <= one["written_unix_ns"] < until_ns]
    ages_ns = sorted(one["age_ns"] for one in measured)
    uncertain_ns = sorted(one["uncertainty_ns"] for one in measured if one["is_found"])
    lost_ns = replica["lost_unix_ns"]
    return StalenessReport(
        name=name,
        numbers=len(measured),
        not_read=sum(not one["is_found"] for one in measured),
        p50_ns=_percentile(ages_ns, 50),
        p99_ns=_percentile(ages_ns, 99),
        max_ns=_percentile(ages_ns, 100),
        resolution_ns=_percentile(uncertain_ns, 99),
        lost_after_s=None if lost_ns is None else max(0.0, (lost_ns - from_ns) / 1e9),
    )


def _percentile(sorted_ns: Sequence[int], percent: int) -> int | None:
    """The nearest rank; None: there are none."""
    return sorted_ns[ceil(len(sorted_ns) * percent / 100) - 1] if sorted_ns else None


class _Process:
    def __init__(self, order: Order) -> None:
        from assay.provision.engine.engine_programs import started_python

        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (closed by `kill`)
        # Ctrl-C must not keep it from dropping its table.
        self._process = started_python([sys.executable, "-P", "-m", _PROGRAM], self._errors)
        self._answers: queue.Queue[Any] = queue.Queue()
        threading.Thread(target=self._receive, name="staleness", daemon=True).start()
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            print(json.dumps(order), file=self._process.stdin, flush=True)

    def answer(self) -> Any:
        """The next one; None: it has ended. Raises `Stopped` where the work is to end."""
        while True:
            with suppress(queue.Empty):
                return self._answers.get(timeout=_CHECK_EVERY_S)
            look()

    def end(self) -> Any:
        """Its last answer, after it has dropped its table; None: it has none."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        with suppress(queue.Empty, subprocess.TimeoutExpired):
            last = self._answers.get(timeout=_END_S)
            self._process.wait(_END_S)
            return last
        return None

    def last_words(self) -> str:
        """The end of what it wrote to standard error."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_CHECK_EVERY_S)
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "without a word"

    def kill(self) -> None:
        """Ends it, after it had time to drop its table."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_S)
        self._process.kill()
        self._process.wait()
        self._errors.close()

    def _receive(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines, suppress(ValueError):  # half a line: it was killed
            for line in lines:
                self._answers.put(json.loads(line))
        self._answers.put(None)
