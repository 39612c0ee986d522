"""Takes the URL of a server as written; returns its parts, of which only the password is secret.

``scheme://user:password@host:port/path?query``, where a sign that would end a part is written as
``%`` and two hexadecimal digits. A URL that cannot be read still has a place and a form without its
password, so that a message can name it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from assay.errors import ArgumentError

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_BAD_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_HIDDEN = "***"
ONE_SERVER = (
    "name the one server that is measured: of several hosts a client takes whichever answers first"
)
HINT = "in a user or password write / as %2F, ? as %3F, # as %23, % as %25, @ as %40"


@dataclass(frozen=True)
class Parts:
    """Nothing is decoded yet."""

    scheme: str
    """In lower case."""
    user: str
    has_user: bool
    """Whether there is an ``@``."""
    password: str | None = field(repr=False)
    host: str
    """Without the brackets of an address with colons; in its own letter case."""
    port: str
    """Empty: none is said."""
    path: str
    query: str

    @property
    def parameters(self) -> Mapping[str, str]:
        """The last of each name; a plus is a plus, as in the URLs of database clients."""
        pairs = (one.partition("=") for one in self.query.split("&") if one)
        return {unquote(name): unquote(value) for name, _, value in pairs}

    @property
    def place(self) -> str:
        """What identifies this server: its host, its socket, or its file."""
        said = self.parameters
        local = said.get("host") or said.get("socket") or self.path.rpartition("/")[2]
        return self.host.lower() or local or "a local socket"


def is_url(word: str) -> bool:
    """Whether the word begins as a URL does."""
    return _SCHEME.match(word) is not None


def parts(url: str) -> Parts:
    """The parts of ``url``, in which ``@`` and ``:`` may stand in the password.

    Raises `ArgumentError` that names the part which cannot be read, and shows no part of the
    password.
    """
    found = _SCHEME.match(url)
    if found is None:
        raise ArgumentError("expected a URL, scheme://host/…", hint=HINT)
    before, _, fragment = url[found.end() :].partition("#")
    before, _, query = before.partition("?")
    authority, slash, path = before.partition("/")
    user, at, place = authority.rpartition("@")
    if not at and ":" in authority and any("@" in one for one in (path, query, fragment)):
        # user:pass/word@host: what stands before the first / is taken for host and port.
        raise ArgumentError("the URL's password holds / or ? or # as it stands", hint=HINT)
    if fragment:
        raise ArgumentError("the URL holds a #, which ends it", hint=HINT)
    if _BAD_PERCENT.search(authority) or _BAD_PERCENT.search(path):
        raise ArgumentError("the URL holds a % without two hexadecimal digits behind it", hint=HINT)
    user, colon, password = user.partition(":")
    host, port = _host_and_port(place)
    return Parts(
        scheme=found[1].lower(),
        user=user,
        has_user=bool(at),
        password=password if colon else None,
        host=host,
        port=port,
        path=slash + path,
        query=query,
    )


def _host_and_port(place: str) -> tuple[str, str]:
    found = re.fullmatch(r"\[([^][]*)\](?::(.*))?", place)
    if found is not None:
        return found[1], found[2] or ""
    if "," in place:
        raise ArgumentError(
            f"expected one host in the URL, found several: {place}", hint=ONE_SERVER
        )
    host, _, port = place.partition(":")
    if "[" in place or "]" in place:
        raise ArgumentError(
            "the URL's host has a bracket that is not closed", hint="scheme://[::1]:PORT/DATABASE"
        )
    if ":" in port:
        raise ArgumentError(
            "the URL's port is not a number from 0 to 65535",
            hint=f"an address with colons stands in brackets, [::1]; {HINT}",
        )
    return host, port


def without_password(url: str) -> str:
    """The URL as it may be printed, recorded and fingerprinted. Of one that cannot be read, all
    that a password could be in is hidden."""
    found = _SCHEME.match(url)
    if found is None:
        return url
    try:
        parts(url)
    except ArgumentError:
        rest = url[found.end() :]
        user, at, host = rest.rpartition("@")
        return f"{found[0]}{_HIDDEN}@{host}" if at else f"{found[0]}{rest.partition(':')[0]}"
    end = re.search(r"[/?]", url[found.end() :])
    stop = len(url) if end is None else found.end() + end.start()
    user, at, host = url[found.end() : stop].rpartition("@")
    return f"{found[1].lower()}://{user.partition(':')[0]}{at}{host}{url[stop:]}"


@dataclass(frozen=True)
class Resolved:
    """A URL in which also stands what was found elsewhere, and the origin of each value."""

    url: str = field(repr=False)
    origins: Mapping[str, str] = field(default_factory=dict)


def completed(
    url: str,
    *,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    database: str | None = None,
    parameters: Mapping[str, str] | None = None,
) -> str:
    """The URL with these values, which it did not hold before."""
    said = parts(url)
    names = (quote(user, safe="") if user else said.user) + (
        "" if said.password is None else f":{said.password}"
    )
    at = "@" if said.has_user or user else ""
    name = host or said.host
    place = (f"[{name}]" if ":" in name else name) + (
        f":{port or said.port}" if port or said.port else ""
    )
    path = f"/{quote(database, safe='')}" if database else said.path
    added = [f"{key}={quote(value, safe='/')}" for key, value in (parameters or {}).items()]
    query = "&".join([*([said.query] if said.query else []), *added])
    if query and not path:
        path = "/"
    return f"{said.scheme}://{names}{at}{place}{path}" + (f"?{query}" if query else "")


def with_password(url: str, password: str) -> str:
    """The URL with this password; it names a user, or gets an empty one."""
    said = parts(url)
    bare = without_password(url)
    rest = bare[len(said.scheme) + 3 :]
    rest = rest[len(said.user) + 1 :] if said.has_user else rest
    return f"{said.scheme}://{said.user}:{quote(password, safe='')}@{rest}"


def place(url: str) -> str:
    """What identifies this server."""
    try:
        return parts(url).place
    except ArgumentError:
        return "a URL that cannot be read"
