"""Takes a drive document and a deployment of several endpoints; returns which clients use which.

A client has a session for each kind of server that its scripts are sent to (`Driving.read`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from assay.contracts.deployment import Deployment
from assay.contracts.driving import READ_ANY, READ_PRIMARY, READ_REPLICA
from assay.contracts.engine.drive import DriveDocument, GroupDocument


def used(deployment: Deployment, read: str) -> list[int]:
    """The endpoints, by their place, that clients use which say ``read``."""
    replicas = [one.role.is_replica for one in deployment.members]
    wanted = {READ_PRIMARY: [False], READ_REPLICA: [True], READ_ANY: [False, True]}[read]
    if not replicas:
        return list(range(len(deployment.endpoints)))
    return [place for place, is_replica in enumerate(replicas) if is_replica in wanted]


def reads(document: DriveDocument) -> Iterator[tuple[DriveDocument | GroupDocument, set[str]]]:
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
    for group, words in reads(document):
        clients = group.clients or 0
        for places in {tuple(used(deployment, word)) for word in words}:
            for number in range(first, first + clients):
                counts[places[number % len(places)]] += 1
        first += clients
    for endpoint, sessions in zip(deployment.endpoints, counts, strict=True):
        yield replace(deployment, endpoints=(endpoint,), members=()), sessions
