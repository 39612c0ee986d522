"""Takes the path of a record; returns where its live page is: a port and a token, the same ones as
the last time, so that a page that is open finds the server again after it was started anew."""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import socket
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Struct

from assay.errors import ArgumentError
from assay.provision.undo import ledger

HOST = "127.0.0.1"
_TOKEN_BYTES = 32
_LEAST_TOKEN = 40
_MOST_BYTES = 1000


class PageAddress(Struct, frozen=True):
    socket: socket.socket
    """Bound, of this machine alone."""
    port: int
    token: str
    """Without it nothing is shown."""
    kept: _Kept
    """Locked as long as this process lives."""

    @property
    def url(self) -> str:
        return _url(self.port, self.token)


def _url(port: int, token: str) -> str:
    return f"http://{HOST}:{port}/?token={token}"


def address_of(records: Path, port: int | None) -> PageAddress:
    """``port``: as asked; None: the one of the last time where that is free, or else any. Raises
    `ArgumentError` where the asked one is taken, and where the record is watched already and none
    was asked for."""
    kept = _Kept(_file(records))
    kept_port, token = kept.read()
    if not kept.is_own:
        if port is None:
            kept.close()
            where = _url(kept_port, token) if kept_port else "at an address that is not known"
            raise ArgumentError(
                f"{records} is watched already: {where}",
                hint="open that page, or name another port for a second one: --port 0",
            )
        token = secrets.token_urlsafe(_TOKEN_BYTES)
    bound = _asked(port) if port is not None else _bound(kept_port) or _asked(0)
    found = PageAddress(bound, int(bound.getsockname()[1]), token, kept)
    if kept.is_own:
        kept.write(found.port, token)
    return found


def _file(records: Path) -> Path:
    """In a folder of this user that no other may write."""
    name = hashlib.sha256(os.fsencode(records.resolve())).hexdigest()[:16]
    return ledger.state_directory().parent / f"watch-{name}"


class _PortAndToken(msgspec.Struct, frozen=True):
    port: Annotated[int, msgspec.Meta(gt=0, lt=65_536)]
    token: str


class _Kept:
    """The address of the last time: a file, readable for this user alone, that is locked while its
    record is watched. Where it cannot be kept, the next address is another one."""

    def __init__(self, file: Path) -> None:
        self._descriptor: int | None = None
        self.is_own = True
        """Whether no other process watches the same record."""
        with suppress(OSError):
            how = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            self._descriptor = os.open(file, how, 0o600)
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self.is_own = False

    def read(self) -> tuple[int, str]:
        """Port and token; else any port and a new token."""
        with suppress(OSError, UnicodeDecodeError, msgspec.MsgspecError):
            if self._descriptor is not None and self._is_private(self._descriptor):
                text = os.pread(self._descriptor, _MOST_BYTES, 0)
                kept = msgspec.json.decode(text, type=_PortAndToken)
                if len(kept.token) >= _LEAST_TOKEN and kept.token.isascii():
                    return kept.port, kept.token
        return 0, secrets.token_urlsafe(_TOKEN_BYTES)

    @staticmethod
    def _is_private(descriptor: int) -> bool:
        found = os.fstat(descriptor)
        return found.st_uid == os.geteuid() and not found.st_mode & 0o077

    def write(self, port: int, token: str) -> None:
        text = msgspec.json.encode(_PortAndToken(port, token))
        with suppress(OSError):
            if self._descriptor is not None and self._is_private(self._descriptor):
                os.ftruncate(self._descriptor, 0)
                os.pwrite(self._descriptor, text, 0)

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


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
