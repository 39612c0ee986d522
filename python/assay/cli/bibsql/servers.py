"""Takes a server's name as `bibtosql` and `bibsql` spell it; returns the system that it means."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

from assay import registry
from assay.contracts.dialects.protocol import SqlText
from assay.contracts.systems.protocol import System
from assay.errors import ArgumentError
from assay.text.files import paths

DEFAULT_DATABASE = "bibtex"
_LONGEST_DATABASE_NAME = 63
"""Some servers cut a longer one, and mean the database of the shorter name."""
_DATABASE_NAME = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9_-]{{0,{_LONGEST_DATABASE_NAME - 1}}}")
_DATABASE_LETTERS = re.compile(r"[A-Za-z0-9_-]")


class Server(Struct, frozen=True):
    """A system by the names these programs know it by."""

    name: str
    """The proper one, as a comment header prints it."""
    system: System
    dialect: SqlText

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.dialect.server_names, self.system.name)


def servers() -> list[Server]:
    """Every system whose dialect has a name for these programs."""
    found = [system for _, system in registry.usable_systems()]
    return [
        Server(server.dialect.server_names[0], server, server.dialect)
        for server in found
        if isinstance(server.dialect, SqlText) and server.dialect.server_names
    ]


def names() -> list[str]:
    """All names, for help and hints."""
    return list(dict.fromkeys(name for server in servers() for name in server.dialect.server_names))


def server(word: str) -> Server:
    """The server that ``word`` is, or begins, whatever its letter case."""
    wanted = word.lower()
    matching: dict[str, Server] = {}
    # A system of this name comes before one of the same dialect, which has it as an alias.
    for known in sorted(servers(), key=lambda known: known.system.name != wanted):
        lowered = [name.lower() for name in known.names]
        if wanted in lowered:
            return known
        if wanted and any(name.startswith(wanted) for name in lowered):
            # Systems of one dialect are the same server to these programs.
            matching.setdefault(known.dialect.name, known)
    if len(matching) > 1:
        raise ArgumentError(
            f"server {word!r} may mean {' or '.join(known.name for known in matching.values())}",
            hint="give one more letter",
        )
    if not matching:
        raise registry.unknown("server", word, names())
    return next(iter(matching.values()))


def alike(chosen: Server) -> list[Server]:
    """Those of the same dialect, which each other's clients reach as well; itself first."""
    others = [one for one in servers() if one.system.name != chosen.system.name]
    return [chosen, *(one for one in others if one.dialect.name == chosen.dialect.name)]


def database_name(word: str) -> str:
    """The word, where it is a name that every server takes letter by letter.

    The original drops other characters, and then the database that has the name which is left.
    """
    if _DATABASE_NAME.fullmatch(word):
        return word
    left = "".join(_DATABASE_LETTERS.findall(Path(word).stem))
    proposal = left.lstrip("-")[:_LONGEST_DATABASE_NAME] or "bibliography"
    raise ArgumentError(
        f"--database {word!r}: expected a name of letters (a to z), digits, _ and -, at most "
        f"{_LONGEST_DATABASE_NAME} of them",
        hint=f'of a file bibsql learns from a profile, file = "{word}"; bibtosql: --apply {word}'
        if paths.is_file(Path(word))
        else f"--database {proposal}",
    )
