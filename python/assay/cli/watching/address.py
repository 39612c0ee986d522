"""Takes the path of a record; returns where its live page is: a port and a token, the same ones as
the last time, so that a page that is open finds the server again after it was started anew."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from assay.errors import ArgumentError
from assay.provision.undo import ledger

HOST = "127.0.0.1"
_TOKEN_BYTES = 32
_LEAST_TOKEN = 40


@dataclass(frozen=True)
class PageAddress:
    socket: socket.socket
    """Bound, of this machine alone."""
    port: int
    token: str
    """Without it nothing is shown."""

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}/?token={self.token}"


def address_of(records: Path, port: int | None) -> PageAddress:
    """``port``: as asked; None: the one of the last time where that is free, or else any. Raises
    `ArgumentError` where the asked one is taken."""
    file = _file(records)
    kept_port, token = _kept(file)
    bound = _asked(port) if port is not None else _bound(kept_port) or _asked(0)
    found = PageAddress(bound, int(bound.getsockname()[1]), token)
    _keep(file, found)
    return found


def _file(records: Path) -> Path:
    """In a folder of this user that no other may write."""
    name = hashlib.sha256(os.fsencode(records.resolve())).hexdigest()[:16]
    return ledger.state_directory().parent / f"watch-{name}"


def _kept(file: Path) -> tuple[int, str]:
    """Port and token of the last time; else any port and a new token."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        found = file.lstat()
        if found.st_uid == os.geteuid() and not found.st_mode & 0o077:
            kept = json.loads(file.read_text(encoding="ascii"))
            port, token = int(kept["port"]), str(kept["token"])
            if 0 < port < 65_536 and len(token) >= _LEAST_TOKEN and token.isascii():
                return port, token
    return 0, secrets.token_urlsafe(_TOKEN_BYTES)


def _keep(file: Path, address: PageAddress) -> None:
    """Readable for this user alone. Where it cannot be kept, the next address is another one."""
    text = json.dumps({"port": address.port, "token": address.token})
    new = file.with_name(f".{file.name}.{os.getpid()}")
    with suppress(OSError):
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as stream:
            stream.write(text)
        new.replace(file)


def _bound(port: int) -> socket.socket | None:
    """None where another program has it."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((HOST, port))
        made.listen(128)
    except OSError:
        made.close()
        return None
    return made


def _asked(port: int) -> socket.socket:
    made = _bound(port)
    if made is None:
        raise ArgumentError(
            f"port {port} of {HOST} cannot be listened on: another program has it, or it is not "
            "for this user",
            hint="leave --port out, or name another one",
        )
    return made
