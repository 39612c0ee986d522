"""Takes a server's URL; gives its parts decoded, for a system to say what they mean to it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

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


def form(scheme: str) -> str:
    """What a URL looks like, for hints."""
    return f"{scheme}://USER@HOST:PORT/DATABASE"


def read(url: str, *, scheme: str, parameters: Collection[str], password: EnvVar) -> ServerUrl:
    """The parts of ``url``; ``scheme`` is the one that hints show.

    Of ``parameters`` none is a password: the record drops the one before the ``@`` and no other.
    Raises `ArgumentError` that names the part which cannot be used, and never the password.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ArgumentError(
            "the URL's port is not a number from 0 to 65535",
            hint=f"{form(scheme)}; in a password write / as %2F, @ as %40",
        ) from error
    said = dict(parse_qsl(parts.query, keep_blank_values=True))
    if unknown := [name for name in said if name not in parameters]:
        raise ArgumentError(
            f"the URL's parameter {unknown[0]!r} is not one of {', '.join(parameters)}",
            hint=f"a password stands before the @, or in {password.name}"
            if unknown[0] == "password"
            else None,
        )
    return ServerUrl(
        user=unquote(parts.username or ""),
        password=unquote(parts.password or "") or password.get(),
        host=_host(parts.netloc),
        port=port,
        database=unquote(parts.path.removeprefix("/")),
        parameters=said,
    )


def _host(netloc: str) -> str:
    """The host as written: `urlsplit` gives it in lower case."""
    place = netloc.rpartition("@")[2]
    if place.startswith("["):
        return place[1:].partition("]")[0]
    return unquote(place.partition(":")[0])
