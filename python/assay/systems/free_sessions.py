"""Takes a server by URL and the number of clients; refuses more than its connection limit.

Otherwise the sessions would be opened one by one, and the server's own error names neither number.
"""

from __future__ import annotations

import time

from assay.contracts.deployment import Deployment
from assay.contracts.stop import look
from assay.errors import SystemRefused
from assay.provision.engine.session import brief_session
from assay.systems.answers import numbers_of
from assay.text.mentions import phrase

_TIMEOUT_S = 1.0
"""Sessions that have just been closed are still counted for a moment."""


def refuse_too_many(
    deployment: Deployment, clients: int, *, in_use_query: str, setting: str
) -> None:
    """Raises `SystemRefused` where the server has too few free sessions, `SystemDied` where it does
    not answer.

    ``in_use_query`` counts the sessions of the server, including its own; a server that does not
    answer it counts as having none. ``setting`` is the server's name of the limit.
    """
    limit = deployment.connection_limit
    if limit is None:
        return
    deadline_s = time.monotonic() + _TIMEOUT_S
    while clients + (in_use := _in_use(deployment, in_use_query)) > limit:
        if clients > limit or time.monotonic() > deadline_s:
            raise SystemRefused(
                f"{clients} clients, but the server takes {limit} sessions ({in_use} in use)",
                hint=phrase("fewer {--clients}, or a higher {}", setting),
            )
        look()
        time.sleep(0.05)


def _in_use(deployment: Deployment, query: str) -> int:
    with brief_session(deployment.address) as opened:
        found = numbers_of(opened, query, columns=1)
    return max(0, found[0] - 1) if found else 0
