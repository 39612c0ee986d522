"""Takes the servers that a URL names and what is asked of a session; returns the deployment of the
first one that is as asked, as libpq would choose it.

A server that cannot be reached is passed over. One that refuses the login is not: with libpq the
others are not tried then either.
"""

from __future__ import annotations

from collections.abc import Callable

from assay.contracts.deployment import STANDBY, Address, Deployment, Role
from assay.errors import SystemDied, SystemRefused
from assay.systems.postgresql.url import ServersAsked

_NOT_REACHED = ("connection refused", "timeout")
"""The engine's error classes of a server that is not there, or does not answer."""
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
            place = address.unix or f"{address.host}:{address.port}"
            try:
                deployment = attach(address)
            except SystemDied as error:
                found[place] = _cause(error)
            except SystemRefused as error:
                if error.error_class not in _NOT_REACHED and error.code != _STARTS_UP:
                    raise
                found[place] = _cause(error)
            else:
                if is_as_asked(deployment.role, attrs):
                    return deployment
                found[place] = _said(deployment.role)
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


def _said(role: Role | None) -> str:
    return "it does not say what it is" if role is None else role.described


def _cause(error: SystemRefused | SystemDied) -> str:
    """Without the URL and the place, which stand before it."""
    said = error.__cause__ if isinstance(error.__cause__, (SystemRefused, SystemDied)) else error
    return said.message
