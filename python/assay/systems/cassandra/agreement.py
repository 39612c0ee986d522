"""Makes the keyspace of a cluster, and waits until its nodes know the same schema: each learns of a
new table by itself, and refuses what concerns one that it does not know yet."""

from __future__ import annotations

import time
from collections.abc import Sequence

from assay.contracts.deployment import Address, Deployment
from assay.contracts.stop import look
from assay.errors import SystemDied
from assay.provision.engine.session import session
from assay.systems.answers import rows_of

KEYSPACE = "assay"
"""Of the clients of a private cluster."""

_TIMEOUT_S = 60.0
_PAUSE_S = 0.05


def make_keyspace(addresses: Sequence[Address], replication: int) -> None:
    """Makes the keyspace of the clients where there is none, on all nodes."""
    strategy = f"{{'class': 'SimpleStrategy', 'replication_factor': {replication}}}"
    with session(addresses[0]) as opened:
        opened.execute(f"CREATE KEYSPACE IF NOT EXISTS {KEYSPACE} WITH replication = {strategy}")
    wait_for_all(addresses)


def wait(deployment: Deployment) -> None:
    """Until all nodes agree; of a cluster by URL those that its one node knows, which may be down:
    they are waited for and not insisted on."""
    if deployment.is_private:
        wait_for_all(deployment.endpoints)
        return
    deadline = time.monotonic() + _TIMEOUT_S / 10
    while len(set(_schema_versions(deployment.address))) > 1 and time.monotonic() < deadline:
        look()
        time.sleep(_PAUSE_S)


def wait_for_all(addresses: Sequence[Address]) -> None:
    """Until every node knows all others, and all know the same schema. Raises `SystemDied` where
    that takes too long."""
    deadline = time.monotonic() + _TIMEOUT_S
    while True:
        views = [_schema_versions(address) for address in addresses]
        are_complete = all(len(view) == len(addresses) for view in views)
        versions = {version for view in views for version in view}
        if are_complete and len(versions) == 1:
            return
        if time.monotonic() > deadline:
            known = ", ".join(str(len(view)) for view in views)
            raise SystemDied(
                f"the {len(addresses)} nodes did not agree within {_TIMEOUT_S:g} s: they know "
                f"{known} nodes, and {len(versions)} versions of the schema"
            )
        look()
        time.sleep(_PAUSE_S)


def _schema_versions(address: Address) -> list[str]:
    """Of each node that this one knows, itself included."""
    found: list[str] = []
    with session(address) as opened:
        for table in ("local", "peers"):
            rows = rows_of(opened, f"SELECT schema_version FROM system.{table}", columns=1)
            found += [str(row[0]) for row in rows or ()]
    return found
