"""Takes a loaded deployment and a drive document; runs it in the engine, of this process or of
several programs, each with its part of the clients and endpoints; returns its observation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct, field, structs

from assay import _engine
from assay.contracts.deployment import Deployment
from assay.contracts.driving import CONTINUE, DEFERRED, READ_ANY, READ_PRIMARY, READ_REPLICA
from assay.contracts.engine import DriveDocument, DriveProgress, GroupDocument, read_progress
from assay.contracts.observation import Observation, decode_observation
from assay.contracts.observation.clients import GeneratorReport, with_lost
from assay.contracts.stop import NEVER, Stop
from assay.drive.generators import DrivenPart, PartOfDrive, Terms
from assay.provision.engine import engine_calls
from assay.provision.engine.engine_calls import calls_python, raise_as_ours

if TYPE_CHECKING:
    from assay.contracts.engine import Fleet


class Generators(Struct, frozen=True):
    """The machines that drive the clients, where it is not this process alone."""

    fleet: Fleet
    terms: Terms = field(default_factory=Terms)
    are_on_one_machine: bool = True
    """Whether the machines are processes of one, which they share."""


def observe(
    deployment: Deployment,
    document: DriveDocument,
    progress: Callable[[DriveProgress], bool | None] = lambda _: None,
    session_statements: Iterable[str] = (),
    stop: Stop = NEVER,
    generators: Generators | None = None,
) -> Observation:
    """Drives the document against ``deployment``. Errors of transactions are in the observation;
    raises only where no client could work at all. Where ``progress`` returns False, clients end,
    and the observation is ``interrupted``; raises `KeyboardInterrupt` where none has begun. The
    same where a ``stop`` is requested; the driver that calls Python is then cut short, and raises
    `Stopped`, where it has no ``generators``.

    ``session_statements``: run first in each client's session, after those of the deployment.
    """

    def on_progress(text: str) -> bool | None:
        return False if stop.is_asked else progress(read_progress(text))

    document = structs.replace(document, deployment=deployment.for_engine(session_statements))
    machines = 1 if generators is None else len(generators.fleet.machines())
    processes = number_of_parts(document, deployment, machines)
    if processes is None and generators is None:
        try:
            text = engine_calls.drive(document, on_progress)
        except _engine.EngineError as error:
            raise_as_ours(error)
        return decode_observation(text)
    from assay.provision.engine.engine_programs import LocalFleet

    fleet = LocalFleet(module=_module(document)) if generators is None else generators.fleet
    each = processes or 1
    parts = [
        PartOfDrive(place // each, part)
        for place, part in enumerate(split_document(document, machines * each))
    ]
    terms = None if generators is None else generators.terms
    is_one = generators is None or generators.are_on_one_machine
    from assay.drive.fleet import drive_at_once

    driven = drive_at_once(fleet, parts, progress, stop, terms, on_one_machine=is_one)
    merged = _merged(document, driven, on_one_machine=is_one)
    whole = structs.replace(merged, client_processes=processes and processes * machines)
    if generators is None:
        return whole
    is_lost = any(part.lost_after_s is not None for part in driven)
    if is_lost and generators.terms.on_lost != CONTINUE:
        # Also where the others had done their whole work before it was noticed.
        whole = structs.replace(whole, ended_by="interrupted")
    names = fleet.machines()
    from assay.drive.generators import generator_reports

    return _with_lost(whole, generator_reports(driven, [names[one.machine] for one in parts]))


def _with_lost(whole: Observation, generators: tuple[GeneratorReport, ...]) -> Observation:
    """What the lost ones did is in the outcomes of the run, and of its only group and type."""
    groups, types = whole.groups, whole.outcomes_by_transaction
    outcomes = with_lost(whole.outcomes, generators)
    if len(groups) == 1:
        per_s = outcomes.ok / (whole.elapsed_ns / 1e9) if whole.elapsed_ns else 0.0
        groups = (structs.replace(groups[0], outcomes=outcomes, throughput_per_s=per_s),)
    if len(types) == 1:
        types = (with_lost(types[0], generators),)
    return structs.replace(
        whole,
        outcomes=outcomes,
        groups=groups,
        outcomes_by_transaction=types,
        generators=generators,
    )


def _module(document: DriveDocument) -> str:
    return "" if document.deployment is None else document.deployment.options.get("module", "")


def _merged(
    document: DriveDocument, driven: Sequence[DrivenPart], *, on_one_machine: bool
) -> Observation:
    """Of the parts that were observed, on the clock of this machine."""
    found = [
        structs.replace(
            part.observation,
            started_unix_ns=part.observation.started_unix_ns - part.before.wall_ahead_ns,
        )
        for part in driven
        if part.observation is not None
    ]
    if not found:
        from assay.drive.generators import nothing_observed

        return nothing_observed(document, driven)
    from assay.contracts.observation.merging import merge

    return merge(found, on_one_machine=on_one_machine)


def first_error(observation: Observation) -> str:
    """The first error of the observation, as the end of a sentence."""
    errors = observation.errors
    return f": {errors[0].class_}: {errors[0].message}" if errors else ""


Clients = TypeVar("Clients", DriveDocument, GroupDocument)


def number_of_parts(
    document: DriveDocument, deployment: Deployment, machines: int = 1
) -> int | None:
    """How many processes on each machine: one for each client as far as that goes, and with clients
    of every group. None where the driver does not call Python: threads of one process serve it."""
    if not calls_python(deployment.address.driver):
        return None
    if why_whole(document) is not None:
        return 1
    return max(
        1, min(deployment.client_processes, *(n // machines for n in clients_of_groups(document)))
    )


def why_whole(document: DriveDocument) -> str | None:
    """Why its clients must be in one process; None: they need not. They see what they share in
    their own process alone."""
    if any(group.ends_with for group in document.groups or ()):
        return "a group of clients ends with another one"
    if any(group.arrival and group.arrival.kind == DEFERRED for group in document.groups or ()):
        return "clients run what others queue (\\defer)"
    if any("\\next" in script.text and script.weight for script in document.scripts):
        return "clients share numbers (\\next)"
    return None


def split_document(document: DriveDocument, number: int) -> list[DriveDocument]:
    """So many parts."""
    return [_part(document, place, number) for place in range(number)]


def clients_of_groups(document: DriveDocument) -> list[int]:
    """The clients of each group."""
    return [clients_of.clients or 0 for clients_of in document.groups or [document]]


def _part(document: DriveDocument, place: int, number: int) -> DriveDocument:
    if groups := document.groups:
        parts = (_slice(group, place, number) for group in groups)
        return structs.replace(document, groups=tuple(parts))
    return _slice(document, place, number)


def _slice(clients_of: Clients, place: int, number: int) -> Clients:
    """Clients in a row, and in each part as many as in the others or one more."""
    clients = clients_of.clients or 0
    first, end = clients * place // number, clients * (place + 1) // number
    return structs.replace(clients_of, clients=end - first, first_client=first, of_clients=clients)


def used_endpoints(deployment: Deployment, read: str) -> list[int]:
    """The endpoints, by their place, that clients use which say ``read``."""
    replicas = [one.role.is_replica for one in deployment.members]
    wanted = {READ_PRIMARY: [False], READ_REPLICA: [True], READ_ANY: [False, True]}[read]
    if not replicas:
        return list(range(len(deployment.endpoints)))
    return [place for place, is_replica in enumerate(replicas) if is_replica in wanted]


def reads_of_clients(
    document: DriveDocument,
) -> Iterator[tuple[DriveDocument | GroupDocument, set[str]]]:
    """Each group of clients, or all that are in none, with the words of `READS` of its scripts."""
    names = [script.name for script in document.scripts]
    for group in document.groups or (document,):
        read = group.read or READ_PRIMARY
        scripts = group.scripts if isinstance(group, GroupDocument) else names
        yield (
            group,
            {read}
            if isinstance(read, str)
            else {read.get(script, READ_PRIMARY) for script in scripts},
        )


def sessions_at_each(
    deployment: Deployment, document: DriveDocument
) -> Iterator[tuple[Deployment, int]]:
    """Each endpoint as a deployment of its own, with the number of sessions that clients have
    there: client c uses the one at c mod n of those that a script of its group is sent to."""
    counts = [0] * len(deployment.endpoints)
    first = 0
    for group, words in reads_of_clients(document):
        clients = group.clients or 0
        for places in {tuple(used_endpoints(deployment, word)) for word in words}:
            for number in range(first, first + clients):
                counts[places[number % len(places)]] += 1
        first += clients
    for endpoint, sessions in zip(deployment.endpoints, counts, strict=True):
        yield replace(deployment, endpoints=(endpoint,), members=()), sessions


TRIED_TRANSACTIONS = 100
"""Enough to estimate how long a client takes for all of its transactions."""
MOST_ATTEMPTS = 4
"""Each with half the interval of the one before."""
_LEAST_STAGGER_S = 0.3
_LONGEST_TRANSACTIONS = 6
"""The least interval, in longest transactions of the single client: with a shorter one, a short
stall of the machine could make clients overtake one another."""


class Pace(Struct, frozen=True):
    stagger_s: float = 0.0
    """Between two clients' starts."""
    pause_s: float = 0.0
    """Of a client after each transaction."""


def least_stagger_s(longest_s: float) -> float:
    """The least interval between starts, given a single client's longest transaction."""
    return max(_LEAST_STAGGER_S, _LONGEST_TRANSACTIONS * longest_s)


def found_pace(given: Pace, one_s: float, transactions: int, at_once: int, apart_s: float) -> Pace:
    """With the starts a client's own time ÷ ``at_once`` apart, and ``apart_s`` at least. ``one_s``:
    the time of one client alone, without pauses. Given values are kept.

    The pauses are so long that all clients together load the system no more than one without
    pauses: under contention for processors or a lock, chance would decide their order.
    """
    busy_s = one_s + given.pause_s * transactions
    own_s = busy_s if given.pause_s else (at_once + 1) * one_s
    stagger_s = given.stagger_s or max(own_s / at_once, apart_s)
    missing_s = max(0.0, stagger_s * at_once - one_s)
    return Pace(stagger_s, given.pause_s or missing_s / transactions)


def at_work(ends_ns: Sequence[int], stagger_ns: int, at_once: int) -> list[int]:
    """How many clients are at work whenever one starts, from the first instant at which ``at_once``
    can be. Client *k* starts at *k* ``stagger_ns`` and ends at ``ends_ns[k]``."""
    starts_ns = [client * stagger_ns for client in range(len(ends_ns))]
    return [
        sum(end > now for end in ends_ns[: number + 1])
        for number, now in enumerate(starts_ns)
        if number >= at_once - 1
    ]
