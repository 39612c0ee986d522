"""Takes the servers that a URL names; returns one deployment of which each is an endpoint: the
primary first, then those that repeat what it does.

Each server is asked what it is and of which cluster. One that cannot be reached is not passed over:
the numbers of the others would be taken for those of all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.role import ClusterMember, Role
from assay.contracts.storage_facts import StorageFacts
from assay.errors import SystemDied, SystemRefused

_NOT_REACHED = ("connection refused", "timeout")
"""The engine's error classes of a server that is not there, or does not answer."""


def attached(
    addresses: Sequence[Address],
    shown: str,
    attach: Callable[[Address], Deployment],
    cluster_of: Callable[[Address], str | None],
) -> Deployment:
    """``shown``: the URL without its password; ``cluster_of``: what all servers of a cluster say
    of it, and no other does, None where one does not say it.

    Raises as ``attach`` for a login that is refused, else `SystemRefused` with what was found of
    each server.
    """
    places = [address.place for address in addresses]
    if twice := next((place for place in places if places.count(place) > 1), None):
        raise SystemRefused(
            f"{shown}: expected each server once, found {twice} twice",
            hint="leave one of them out, or name the port of the other",
        )
    found: list[Deployment] = []
    missing: dict[str, str] = {}
    for address in addresses:
        try:
            found.append(attach(address))
        except (SystemDied, SystemRefused) as error:
            if not is_not_reached(error):
                raise
            missing[address.place] = cause(error)
    if missing:
        reached = {one.address.place: described(one.role) for one in found}
        raise SystemRefused(
            f"{shown}: expected every server that it names; {_listed(missing | reached)}",
            error_class="connection refused",
            hint="start them, or leave their hosts out of the URL",
        )
    members = [_member(one, shown) for one in found]
    _insist_on_one_primary(members, shown)
    _insist_on_one_cluster(addresses, shown, cluster_of)
    order = sorted(range(len(found)), key=lambda place: members[place].role.is_replica)
    primary = found[order[0]]
    limits = [limit for one in found if (limit := one.connection_limit) is not None]
    return replace(
        primary,
        nodes=tuple(Node(members[place].name, StorageFacts.of_url()) for place in order),
        endpoints=tuple(found[place].address for place in order),
        members=tuple(members[place] for place in order),
        connection_limit=min(limits, default=None),
    )


def is_not_reached(error: SystemDied | SystemRefused) -> bool:
    """Whether the server is not there, or does not answer, as far as its error says."""
    return isinstance(error, SystemDied) or error.error_class in _NOT_REACHED


def cause(error: SystemRefused | SystemDied) -> str:
    """Without the URL and the place, which stand before it."""
    said = error.__cause__ if isinstance(error.__cause__, (SystemRefused, SystemDied)) else error
    return said.message


def described(role: Role | None) -> str:
    return "it does not say what it is" if role is None else role.described


def _member(deployment: Deployment, shown: str) -> ClusterMember:
    place = deployment.address.place
    if deployment.role is None or deployment.pooler:
        found = deployment.pooler or described(None)
        raise SystemRefused(
            f"{shown}: expected servers that say whether they are a primary or a replica; "
            f"{place}: {found}",
            hint="name each server itself, not what stands before it, or one host alone",
        )
    return ClusterMember(place, deployment.role)


def _insist_on_one_primary(members: Sequence[ClusterMember], shown: str) -> None:
    primaries = [one for one in members if not one.role.is_replica]
    if len(primaries) != 1:
        roles = {one.name: one.role.described for one in members}
        raise SystemRefused(
            f"{shown}: expected one primary and its replicas, found "
            f"{len(primaries) or 'no'} {'primaries' if primaries else 'primary'}; {_listed(roles)}",
            hint="name the primary as well; of servers of several clusters name those of one"
            if not primaries
            else "name one of these, and the servers that follow it",
        )


def _insist_on_one_cluster(
    addresses: Sequence[Address], shown: str, cluster_of: Callable[[Address], str | None]
) -> None:
    clusters = {address.place: cluster_of(address) for address in addresses}
    if None in clusters.values():
        silent = next(place for place, cluster in clusters.items() if cluster is None)
        raise SystemRefused(
            f"{shown}: {silent} does not tell this user of which cluster it is",
            hint="name a user in the URL who may ask for it",
        )
    if len(set(clusters.values())) > 1:
        raise SystemRefused(
            f"{shown}: expected the servers of one cluster, found those of "
            f"{len(set(clusters.values()))}; "
            + _listed({place: str(cluster) for place, cluster in clusters.items()}),
            hint="name a primary and the servers that follow it",
        )


def _listed(servers: dict[str, str]) -> str:
    return "; ".join(f"{place}: {said}" for place, said in servers.items())
