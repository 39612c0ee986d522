"""Takes a drive document and a number of processes; returns a document for each, with its part of
the clients. All parts together are the whole: clients keep their numbers and random values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.contracts.deployment import Deployment
from assay.provision.engine.engine_calls import calls_python


def number_of(document: Mapping[str, Any], deployment: Deployment) -> int | None:
    """How many processes: one for each client as far as that goes, and with clients of every group.
    None where the driver does not call Python: threads of one process serve it."""
    if not calls_python(deployment.address.driver):
        return None
    return max(1, min(deployment.client_processes, *_counts(document)))


def of_processes(document: Mapping[str, Any], number: int) -> list[dict[str, Any]]:
    """So many parts."""
    return [_part(document, place, number) for place in range(number)]


def _counts(document: Mapping[str, Any]) -> list[int]:
    return [int(one["clients"]) for one in document.get("groups") or [document]]


def _part(document: Mapping[str, Any], place: int, number: int) -> dict[str, Any]:
    if groups := document.get("groups"):
        return {**document, "groups": [_slice(group, place, number) for group in groups]}
    return _slice(document, place, number)


def _slice(clients_of: Mapping[str, Any], place: int, number: int) -> dict[str, Any]:
    """Clients in a row, and in each part as many as in the others or one more."""
    clients = int(clients_of["clients"])
    first, end = clients * place // number, clients * (place + 1) // number
    return {
        **clients_of,
        "clients": end - first,
        "first_client": first,
        "of_clients": clients,
    }
