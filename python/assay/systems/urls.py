"""Takes a server's URL; gives its parts decoded, for a system to say what they mean to it."""

from __future__ import annotations

import getpass
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from assay import server_url
from assay.env_vars import EnvVar
from assay.errors import ArgumentError


@dataclass(frozen=True)
class ServerUrl:
    """``scheme://user:password@host:port/database?parameter=value&…``; an empty word where the URL
    says nothing."""

    user: str
    password: str | None = field(repr=False)
    """Without one in the URL, that of the environment."""
    host: str
    """In its own letter case: a system may take the path of a socket's folder for it."""
    port: int | None
    database: str
    parameters: Mapping[str, str]


def meaning(parameter: str, word: str, meanings: Mapping[str, str]) -> str:
    """What the parameter's word means; raises `ArgumentError` for one without a meaning."""
    if word not in meanings:
        raise ArgumentError(f"{parameter}={word} in the URL is not one of {', '.join(meanings)}")
    return meanings[word]


def own_name(scheme: str) -> str:
    """The name of the user we are, for a URL that holds none. Raises `ArgumentError`."""
    try:
        return getpass.getuser()
    except (KeyError, OSError) as error:
        raise ArgumentError(
            f"the URL names no user, and user {os.geteuid()} of this machine has no name",
            hint=form(scheme),
        ) from error


def form(scheme: str) -> str:
    """What a URL looks like, for hints."""
    return f"{scheme}://USER@HOST:PORT/DATABASE"


def read(url: str, *, scheme: str, parameters: Collection[str], password: EnvVar) -> ServerUrl:
    """The parts of ``url``; ``scheme`` is the one that hints show.

    Of ``parameters`` none is a password: the record drops the one before the ``@`` and no other.
    Raises `ArgumentError` that names the part which cannot be used, and never the password.
    """
    parts = server_url.parts(url)
    if parts.port and not (
        parts.port.isdecimal() and parts.port.isascii() and int(parts.port) < 65536
    ):
        raise ArgumentError(
            "the URL's port is not a number from 0 to 65535",
            hint=f"{form(scheme)}; {server_url.HINT}",
        )
    said = parts.parameters
    if unknown := [name for name in said if name not in parameters]:
        name = unknown[0] if unknown[0].replace("-", "").replace("_", "").isalnum() else "…"
        raise ArgumentError(
            f"the URL's parameter {name!r} is not one of {', '.join(parameters)}",
            hint=f"a password stands before the @, or in {password.name}"
            if unknown[0] == "password"
            else None,
        )
    return ServerUrl(
        user=unquote(parts.user),
        password=unquote(parts.password or "") or password.get(),
        host=unquote(parts.host),
        port=int(parts.port) if parts.port else None,
        database=unquote(parts.path.removeprefix("/")),
        parameters=said,
    )
