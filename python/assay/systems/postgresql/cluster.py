"""Takes the servers that a URL names and a session with one; returns the role that it has among
others, as it says itself, and the deployment of the first that is as asked."""

from __future__ import annotations

from collections.abc import Callable

from assay.contracts.deployment import PRIMARY, READ_ONLY, STANDBY, Address, Deployment, Role
from assay.errors import SystemDied, SystemRefused
from assay.provision.engine.engine_calls import Session, brief_session
from assay.systems.postgresql.url import ServersAsked
from assay.systems.sessions import cause_of_refusal, described_role, is_not_reached, rows_of

SERVER_QUERY = (
    "SELECT coalesce(host(inet_server_addr()), 'socket') || ':' || current_setting('port'), "
    f"CASE WHEN pg_is_in_recovery() THEN '{STANDBY}' ELSE '{PRIMARY}' END, pg_backend_pid()"
)
"""`Address.server_query` of a server by URL."""

_QUERY = "SELECT pg_is_in_recovery(), current_setting('default_transaction_read_only')"
_POOLER_QUERY = "SHOW pool_version"
"""Answered by Pgpool-II, which gives clients the ids of the server's sessions; the server itself
refuses it."""
_FOLLOWED_QUERY = "SELECT sender_host, sender_port FROM pg_stat_wal_receiver"
"""Of a standby, where it receives from; hidden from users without the right to read statistics."""

_HOW_TO_FOLLOW = (
    "ask it: SELECT pg_is_wal_replay_paused(), pg_last_wal_receive_lsn(), "
    "pg_last_wal_replay_lsn(); SELECT pg_wal_replay_resume() ends a pause, and "
    "recovery_min_apply_delay is a delay on purpose"
)

_CLUSTER_QUERY = "SELECT system_identifier FROM pg_control_system()"


def role_of(opened: Session) -> Role | None:
    """None where it does not say: another program that speaks the protocol."""
    found = rows_of(opened, _QUERY, columns=2)
    if not found:
        return None
    is_standby, is_read_only = (value in ("t", "on") for value in found[0])
    if is_standby:
        follows = _followed(opened)
        return Role(
            STANDBY,
            follows=follows,
            why_read_only="pg_is_in_recovery() is true",
            fix="name its primary in the URL, or all hosts and target_session_attrs=read-write",
            how_to_follow=_HOW_TO_FOLLOW,
        )
    if is_read_only:
        return Role(
            READ_ONLY,
            why_read_only="default_transaction_read_only is on",
            fix="name a server that takes writes in the URL, or set default_transaction_read_only "
            "to off for this user, database or server",
        )
    return Role(PRIMARY)


def cluster_of(address: Address) -> str | None:
    """The identifier that its data directory was made with, and which standbys have copied."""
    with brief_session(address) as opened:
        found = rows_of(opened, _CLUSTER_QUERY, columns=1)
    return f"cluster {found[0][0]}" if found and found[0][0] else None


def is_behind_pooler(opened: Session) -> bool:
    """Whether the server knows the session by another id than the one of the login: a pooler or
    proxy has given its own."""
    found = rows_of(opened, "SELECT pg_backend_pid()", columns=1)
    at_login = str(opened.session_id)
    return opened.session_id > 0 and any(row[0] != at_login for row in found or ())


def pooler(opened: Session) -> str:
    """The one that answers by its own name: ``Pgpool-II 4.3.5``; empty: none does."""
    for (version,) in rows_of(opened, _POOLER_QUERY, columns=1) or ():
        return f"Pgpool-II {(version or '').partition(' ')[0]}".rstrip()
    return ""


def _followed(opened: Session) -> str:
    """``HOST:PORT`` of the server that it receives from; empty: it does not say."""
    for host, port in rows_of(opened, _FOLLOWED_QUERY, columns=2) or ():
        if host:
            return f"{host}:{port}"
    return ""


_STARTS_UP = "57P03"
"""It takes no session yet, or no more."""


def attached_as_asked(
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
                found[place] = cause_of_refusal(error)
            else:
                if is_as_asked(deployment.role, attrs):
                    return deployment
                found[place] = described_role(deployment.role)
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
