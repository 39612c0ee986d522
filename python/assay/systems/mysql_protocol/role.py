"""Takes a session with a server and its settings; returns the role that it has among others, as it
says itself."""

from __future__ import annotations

import re
from collections.abc import Mapping

from assay import _engine
from assay.contracts.deployment import PRIMARY, READ_ONLY, REPLICA, Role
from assay.provision.engine.engine_calls import Session
from assay.provision.engine.session import LOST

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
_SOURCE_COLUMNS = (("Source_Host", "Source_Port"), ("Master_Host", "Master_Port"))
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
        return Role(PRIMARY) if follows is None else Role(REPLICA, follows=follows)
    variable, _, _ = said.partition(" ")
    off = f"SET GLOBAL {variable} = OFF there"
    fix = off if follows is None else f"name its source in the URL, or {off}"
    return Role(name, follows=follows or "", why_read_only=said, fix=fix)


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


def _followed(opened: Session) -> str | None:
    """``HOST:PORT`` of the server that it replicates from; None: there is none, or this user may
    not ask."""
    for question in _STATUS_QUERIES:
        try:
            found = opened.execute(question)
        except _engine.EngineError as error:
            if error.error_class == LOST:
                raise
            continue
        for row in found.rows:
            said = dict(zip(found.columns, row, strict=True))
            for host, port in _SOURCE_COLUMNS:
                if said.get(host):
                    return f"{said[host]}:{said.get(port)}"
        return None
    return None
