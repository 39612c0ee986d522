"""Takes a server's name as `bibtosql` and `bibsql` spell it; gives the system that it means."""

from __future__ import annotations

from dataclasses import dataclass

from assay import registry
from assay.errors import ArgumentError
from assay.systems.protocol import System


@dataclass(frozen=True)
class Server:
    """A system by the names these programs know it by."""

    name: str
    """The proper one, as a comment header prints it."""
    system: System

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.system.dialect.server_names, self.system.name)


def servers() -> list[Server]:
    """Every system whose dialect has a name for these programs."""
    found = [registry.system(name) for name in registry.systems()]
    return [Server(one.dialect.server_names[0], one) for one in found if one.dialect.server_names]


def names() -> list[str]:
    """All names, for help and hints."""
    return list(
        dict.fromkeys(name for server in servers() for name in server.system.dialect.server_names)
    )


def server(word: str) -> Server:
    """The server that ``word`` is, or begins, whatever its letter case.

    Characters other than letters, digits, ``_`` and ``-`` are dropped first, as bibtosql does.
    """
    wanted = plain(word).lower()
    matching: dict[str, Server] = {}
    for one in servers():
        lowered = [name.lower() for name in one.names]
        if wanted in lowered:
            return one
        if wanted and any(name.startswith(wanted) for name in lowered):
            # Systems of one dialect are the same server to these programs.
            matching.setdefault(one.system.dialect.name, one)
    if len(matching) > 1:
        raise ArgumentError(
            f"server {word!r} may mean {' or '.join(one.name for one in matching.values())}",
            hint="give one more letter",
        )
    if not matching:
        raise registry.unknown("server", word, names())
    return next(iter(matching.values()))


def plain(word: str) -> str:
    """The word without characters that have no place in a name."""
    return "".join(letter for letter in word if letter.isalnum() or letter in "_-")
