"""Takes the server's refusal of a login; returns the fix where its message says what it misses."""

from __future__ import annotations

from assay.contracts.deployment import Address
from assay.errors import SystemRefused


def fix_of(error: SystemRefused, address: Address) -> str | None:
    """None: the message leaves the cause open."""
    if error.error_class != "authentication":
        return None
    if "client certificate" in error.message:
        return "name the client's certificate: sslcert=FILE&sslkey=FILE in the URL"
    # The server translates its messages, but not this name.
    if "pg_hba.conf" not in error.message:
        return None
    line = "add a line for this user, database and address to the server's pg_hba.conf"
    if address.unix is None and address.tls == "off":
        return f"require TLS with sslmode=require in the URL, or {line}"
    return line


def other_cause(_error: SystemRefused, _address: Address) -> str | None:
    """None: the server's messages are exact."""
    return None
