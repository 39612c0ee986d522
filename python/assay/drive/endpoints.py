"""Takes a drive document and a deployment of several endpoints; returns which clients use which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from assay.contracts.deployment import Deployment
from assay.contracts.driving import READ_ANY, READ_PRIMARY, READ_REPLICA
from assay.contracts.engine.drive import DriveDocument


def used(deployment: Deployment, read: str) -> list[int]:
    """The endpoints, by their place, that clients use which say ``read``."""
    replicas = [one.role.is_replica for one in deployment.members]
    wanted = {READ_PRIMARY: [False], READ_REPLICA: [True], READ_ANY: [False, True]}[read]
    if not replicas:
        return list(range(len(deployment.endpoints)))
    return [place for place, is_replica in enumerate(replicas) if is_replica in wanted]


def clients_at_each(
    deployment: Deployment, document: DriveDocument
) -> Iterator[tuple[Deployment, int]]:
    """Each endpoint as a deployment of its own, with the number of clients that use it: client c
    uses the one at c mod n of those that its group reads at."""
    counts = [0] * len(deployment.endpoints)
    first = 0
    for group in document.groups or (document,):
        clients, places = group.clients or 0, used(deployment, group.read or READ_PRIMARY)
        for number in range(first, first + clients):
            counts[places[number % len(places)]] += 1
        first += clients
    for endpoint, clients in zip(deployment.endpoints, counts, strict=True):
        yield replace(deployment, endpoints=(endpoint,), members=()), clients
