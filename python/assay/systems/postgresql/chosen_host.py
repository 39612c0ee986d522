"""Takes the servers that a URL names and what is asked of a session; returns the deployment of the
first one that is as asked, as libpq would choose it.

A server that cannot be reached is passed over. One that refuses the login is not: with libpq the
others are not tried then either.
"""

from __future__ import annotations

from collections.abc import Callable

from assay.contracts.deployment import Address, Deployment
from assay.contracts.role import STANDBY, Role
from assay.errors import SystemDied, SystemRefused
from assay.systems.cluster import cause, described, is_not_reached
from assay.systems.postgresql.url import ServersAsked

_STARTS_UP = "57P03"
"""It takes no session yet, or no more."""


def attached(
    asked: ServersAsked, shown: str, attach: Callable[[Address], Deployment]
) -> Deployment:
    """``shown``: the URL without its password. Raises as ``attach`` where there is nothing to
    choose, else `SystemRefused` with what was found of each server."""
    if len(asked.addresses) == 1 and asked.session_attrs == "any":
        return attach(asked.addresses[0])
    rounds = ("standby", "any") if asked.session_attrs == "prefer-standby" else ()
    found: dict[str, str] = {}
    for attrs in rounds or (asked.session_attrs,):
        for address in asked.addresses:
            place = address.place
            try:
                deployment = attach(address)
            except (SystemDied, SystemRefused) as error:
                starts_up = isinstance(error, SystemRefused) and error.code == _STARTS_UP
                if not (is_not_reached(error) or starts_up):
                    raise
                found[place] = cause(error)
            else:
                if is_as_asked(deployment.role, attrs):
                    return deployment
                found[place] = described(deployment.role)
    raise SystemRefused(
        f"{shown}: expected a PostgreSQL server with target_session_attrs={asked.session_attrs}; "
        + "; ".join(f"{place}: {said}" for place, said in found.items()),
        error_class="connection refused",
        hint="start such a server, name its host and port too, or ask for less with "
        "target_session_attrs",
    )


def is_as_asked(role: Role | None, session_attrs: str) -> bool:
    """Whether a session is as ``target_session_attrs`` asks. Of a program that does not say what it
    is, only ``any`` is."""
    if session_attrs == "any":
        return True
    if role is None:
        return False
    is_standby = role.name == STANDBY
    return {
        "read-write": not role.why_read_only,
        "read-only": bool(role.why_read_only),
        "primary": not is_standby,
        "standby": is_standby,
    }[session_attrs]
