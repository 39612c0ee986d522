"""Takes the server's refusal of a login; returns the fix where its message says what it misses, and
what else may be the cause where it says no more than *access denied*."""

from __future__ import annotations

from assay.contracts.deployment import Address
from assay.errors import SystemRefused
from assay.systems.sourced import URL

_TLS_IS_REQUIRED = "3159"
_ACCESS_DENIED = "1045"


def fix_of(error: SystemRefused, _address: Address) -> str | None:
    """None: the message leaves the cause open."""
    if error.code == _TLS_IS_REQUIRED or "require_secure_transport" in error.message:
        return "require TLS with ssl-mode=REQUIRED in the URL"
    return None


def other_cause(error: SystemRefused, address: Address) -> str | None:
    """A server that requires TLS or a certificate of a user refuses as for a wrong password."""
    if address.unix is not None:
        return None
    found = []
    if error.code == _ACCESS_DENIED:
        if address.tls == "off":
            found.append("if the server requires TLS: ssl-mode=REQUIRED in the URL")
        elif address.cert_file is None:
            found.append("if this user needs a certificate: ssl-cert=FILE&ssl-key=FILE in the URL")
    origins = address.origins
    is_local = address.host == "localhost" and origins.get("host") == URL != origins.get("port")
    if is_local and error.error_class in ("authentication", "connection refused"):
        found.append("localhost in a URL means TCP; the Unix socket is ?socket=FILE")
    return "; ".join(found) or None
