"""Takes a loaded deployment and a drive document; runs the document in the engine; returns its
observation."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import structs

from assay import _engine
from assay.contracts.deployment import Deployment
from assay.contracts.engine.drive import DriveDocument, DriveProgress, read_progress
from assay.contracts.observation import Observation, decode_observation
from assay.contracts.observation.merging.simultaneous import merge
from assay.contracts.stop import NEVER, Stop
from assay.drive.parts import number_of, of_processes
from assay.drive.processes import drive_in_processes
from assay.provision.engine.session import raise_as_ours


def observe(
    deployment: Deployment,
    document: DriveDocument,
    progress: Callable[[DriveProgress], bool | None] = lambda _: None,
    session_statements: Iterable[str] = (),
    stop: Stop = NEVER,
) -> Observation:
    """Drives the document against ``deployment``. Errors of transactions are in the observation;
    raises only where no client could work at all. Where ``progress`` returns False, clients end,
    and the observation is ``interrupted``; raises `KeyboardInterrupt` where none has begun. The
    same where a ``stop`` is requested; the driver that calls Python is then cut short, and raises
    `Stopped`.

    ``session_statements``: run first in each client's session, after those of the deployment.
    """

    def on_progress(text: str) -> bool | None:
        return False if stop.is_asked else progress(read_progress(text))

    document = structs.replace(document, deployment=deployment.for_engine(session_statements))
    if (processes := number_of(document, deployment)) is not None:
        parts = of_processes(document, processes)
        found = drive_in_processes(parts, progress, stop)
        merged = merge(found, on_one_machine=True)
        return structs.replace(merged, client_processes=processes)
    try:
        text = _engine.drive(document.json, on_progress)
    except _engine.EngineError as error:
        raise_as_ours(error)
    return decode_observation(text)


def first_error(observation: Observation) -> str:
    """The first error of the observation, as the end of a sentence."""
    errors = observation.errors
    return f": {errors[0].class_}: {errors[0].message}" if errors else ""
