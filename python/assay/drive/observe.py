"""Takes a loaded deployment and a drive document; runs the document in the engine, of this process
or of several programs; returns its observation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field, structs

from assay import _engine
from assay.contracts.deployment import Deployment
from assay.contracts.driving import CONTINUE
from assay.contracts.engine.drive import DriveDocument, DriveProgress, read_progress
from assay.contracts.observation import Observation, decode_observation
from assay.contracts.observation.parts.generators import GeneratorReport, with_lost
from assay.contracts.stop import NEVER, Stop
from assay.drive.fleet.values import DrivenPart, PartOfDrive, Terms
from assay.drive.parts import number_of, split
from assay.provision.engine import engine_calls
from assay.provision.engine.session import raise_as_ours

if TYPE_CHECKING:
    from assay.contracts.fleet import Fleet


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
    processes = number_of(document, deployment, machines)
    if processes is None and generators is None:
        try:
            text = engine_calls.drive(document, on_progress)
        except _engine.EngineError as error:
            raise_as_ours(error)
        return decode_observation(text)
    from assay.provision.engine.local_fleet import LocalFleet

    fleet = LocalFleet(module=_module(document)) if generators is None else generators.fleet
    each = processes or 1
    parts = [
        PartOfDrive(place // each, part)
        for place, part in enumerate(split(document, machines * each))
    ]
    terms = None if generators is None else generators.terms
    is_one = generators is None or generators.are_on_one_machine
    from assay.drive.fleet.at_once import drive_at_once

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
    from assay.drive.fleet.generator_reports import reports

    return _with_lost(whole, reports(driven, [names[one.machine] for one in parts]))


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
        from assay.drive.fleet.losses import nothing_observed

        return nothing_observed(document, driven)
    from assay.contracts.observation.merging.simultaneous import merge

    return merge(found, on_one_machine=on_one_machine)


def first_error(observation: Observation) -> str:
    """The first error of the observation, as the end of a sentence."""
    errors = observation.errors
    return f": {errors[0].class_}: {errors[0].message}" if errors else ""
