"""Takes a session with a server and its settings; returns the role that it has among others, as it
says itself."""

from __future__ import annotations

import re
from collections.abc import Mapping

from assay import _engine
from assay.contracts.deployment import PRIMARY, READ_ONLY, REPLICA, Address, Role
from assay.provision.engine.engine_calls import LOST, Session, brief_session
from assay.systems.sessions import rows_of

SERVER_QUERY = (
    "SELECT CONCAT(@@hostname, ':', @@port), "
    f"IF(@@global.read_only, 'read-only', '{PRIMARY}'), CONNECTION_ID()"
)
"""`Address.server_query` of a server by URL."""
_OFF = {"", "OFF", "0"}
_READ_ONLY = (
    "super_read_only",
    "innodb_read_only",
    "transaction_read_only",
    "tx_read_only",
    "read_only",
)
_STATUS_QUERIES = ("SHOW REPLICA STATUS", "SHOW SLAVE STATUS")
"""The words of newer versions, and of older ones. A user needs a right to ask."""
_HOW_TO_FOLLOW = (
    f"ask it: {' or '.join(_STATUS_QUERIES)}: both threads must run, its last error and its delay "
    "say why it lags"
)
_SOURCE_COLUMNS = (("Source_Host", "Source_Port"), ("Master_Host", "Master_Port"))
_SOURCE_IDS = ("Source_UUID", "Master_UUID", "Master_Server_Id")
"""Columns of the status, the first that there is."""
_OWN_IDS = ("SELECT @@server_uuid", "SELECT @@server_id")
_GRANTS_QUERY = "SHOW GRANTS"
_WRITES_ALL_THE_SAME = re.compile(
    r"\bALL PRIVILEGES ON \*\.\*|\bSUPER\b|\bCONNECTION_ADMIN\b|\bREAD[_ ]ONLY ADMIN\b",
    re.IGNORECASE,
)
"""Rights of users whom ``read_only`` does not hold back."""


def role_of(opened: Session, settings: Mapping[str, str]) -> Role:
    """``settings``: all of the server's variables."""
    follows = _followed(opened)
    name = READ_ONLY if follows is None else REPLICA
    said = _why_read_only(opened, settings)
    if not said:
        if follows is None:
            return Role(PRIMARY)
        return Role(REPLICA, follows=follows, how_to_follow=_HOW_TO_FOLLOW)
    variable, _, _ = said.partition(" ")
    off = f"SET GLOBAL {variable} = OFF there"
    fix = off if follows is None else f"name its source in the URL, or {off}"
    how = "" if follows is None else _HOW_TO_FOLLOW
    return Role(name, follows=follows or "", why_read_only=said, fix=fix, how_to_follow=how)


def _why_read_only(opened: Session, settings: Mapping[str, str]) -> str:
    """``read_only = ON``; empty: this user may write."""
    for name in _READ_ONLY:
        value = settings.get(name, "").upper()
        if value in _OFF:
            continue
        if name == "read_only" and _WRITES_ALL_THE_SAME.search(_grants(opened)):
            continue
        return f"{name} = {value}"
    return ""


def _grants(opened: Session) -> str:
    try:
        return "\n".join(str(cell) for row in opened.execute(_GRANTS_QUERY).rows for cell in row)
    except _engine.EngineError as error:
        if error.error_class == LOST:
            raise
        return ""


def cluster_of(address: Address) -> str | None:
    """The source of a replica, else the server itself: by its UUID, or where it has none by the
    number that it must have among those that replicate from one another."""
    with brief_session(address) as opened:
        for source in _SOURCE_IDS:
            if (followed := _status(opened).get(source)) is not None:
                return f"source {followed}"
        for question in _OWN_IDS:
            found = rows_of(opened, question, columns=1)
            if found:
                return f"source {found[0][0]}"
    return None


def _followed(opened: Session) -> str | None:
    """``HOST:PORT`` of the server that it replicates from; None: there is none, or this user may
    not ask."""
    said = _status(opened)
    for host, port in _SOURCE_COLUMNS:
        if said.get(host):
            return f"{said[host]}:{said.get(port)}"
    return None


def _status(opened: Session) -> Mapping[str, str | None]:
    """What a replica says of its replication; empty: it is none, or this user may not ask."""
    for question in _STATUS_QUERIES:
        try:
            found = opened.execute(question)
        except _engine.EngineError as error:
            if error.error_class == LOST:
                raise
            continue
        for row in found.rows:
            return dict(zip(found.columns, row, strict=True))
        break
    return {}
