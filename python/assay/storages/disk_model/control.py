"""Takes commands for a modelled disk; sends each to its process and returns the answer."""

from __future__ import annotations

import errno
import json
import os
import socket
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from assay.contracts.observation.parts.shape import convert
from assay.contracts.storages.abilities import RequestCounts
from assay.errors import Bug, SystemDied

_TIMEOUT_S = 60.0
"""A power cut waits until what is durable has been written to the image."""
_GLANCE_S = 1.0


class LostWrites(msgspec.Struct, frozen=True):
    """The numbers of the writes that a power cut has met."""

    dropped: tuple[int, ...] = ()
    torn: tuple[int, ...] = ()
    kept: tuple[int, ...] = ()
    dropped_bytes: int = 0


class ProcessAnswer(msgspec.Struct, frozen=True):
    """What the command asked for is set, the rest at its default."""

    ok: bool
    error: str | None = None
    counters: RequestCounts = RequestCounts()
    is_powered: bool = True
    has_been_full: bool = False
    lost: LostWrites = LostWrites()


class Control(Struct, frozen=True):
    """The socket of the process."""

    path: Path

    def ask(
        self, command: str, *, timeout_s: float = _TIMEOUT_S, **arguments: Any
    ) -> ProcessAnswer:
        """The answer. Raises `SystemDied` where there is none."""
        line = json.dumps({"command": command, **arguments})
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(timeout_s)
                connection.connect(str(self.path))
                connection.sendall(f"{line}\n".encode())
                with connection.makefile("rb") as answers:
                    text = answers.readline()
        except OSError as error:
            raise SystemDied(
                f"the process of the modelled disk does not answer: {error}"
            ) from error
        if not text.endswith(b"\n"):
            raise SystemDied("the process of the modelled disk ended before it answered")
        answer = convert(json.loads(text), ProcessAnswer, "answer of the modelled disk")
        if not answer.ok:
            raise Bug(f"the modelled disk refused {line}: {answer.error}")
        return answer

    def why_it_fails(self) -> str | None:
        """Why requests fail, where its power was cut or it was full; None also where it does not
        answer at once."""
        try:
            state = self.ask("counters", timeout_s=_GLANCE_S)
        except SystemDied:
            return None
        if not state.is_powered:
            return "the power of the modelled disk is off"
        if state.has_been_full:
            return f"the modelled disk is full: {os.strerror(errno.ENOSPC)}"
        return None

    def set_pace(self, is_paced: bool) -> None:
        """Whether requests take their modelled time. A file system is made and taken off without
        it."""
        self.ask("pace", is_paced=is_paced)
