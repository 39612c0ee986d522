"""Takes a drive document and a number of programs; returns a document for each, with its part of
the clients. All parts together are the whole: clients keep their numbers and random values."""

from __future__ import annotations

from typing import TypeVar

from msgspec import structs

from assay.contracts.deployment import Deployment
from assay.contracts.driving import DEFERRED
from assay.contracts.engine.drive import DriveDocument, GroupDocument
from assay.provision.engine.engine_calls import calls_python

Clients = TypeVar("Clients", DriveDocument, GroupDocument)


def number_of(document: DriveDocument, deployment: Deployment, machines: int = 1) -> int | None:
    """How many processes on each machine: one for each client as far as that goes, and with clients
    of every group. None where the driver does not call Python: threads of one process serve it."""
    if not calls_python(deployment.address.driver):
        return None
    if why_whole(document) is not None:
        return 1
    return max(1, min(deployment.client_processes, *(n // machines for n in counts(document))))


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


def split(document: DriveDocument, number: int) -> list[DriveDocument]:
    """So many parts."""
    return [_part(document, place, number) for place in range(number)]


def counts(document: DriveDocument) -> list[int]:
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
