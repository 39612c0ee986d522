"""Takes the URL of a server as written; returns its parts.

``scheme://user:password@host:port/path?query``, where a character that would end a part is
percent-encoded. A URL that cannot be parsed still has a place and a form without its password, for
messages.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import quote, unquote

from assay.errors import ArgumentError
from assay.text import pattern
from assay.text.secrets import HIDDEN_PARAMETER, is_secret

_SCHEME = pattern(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_BLANK = pattern(r"[\s\x00-\x1f\x7f]")
_BAD_PERCENT = pattern(r"%(?![0-9A-Fa-f]{2})")
_HIDDEN = "***"
_FOLDERS = "../"
"""Once for each folder before the name of a file that is shown with it."""
_HOSTS_AND_PORTS = pattern(r"(?:(?:[^:,\[\]]*|\[[^\]]*\])(?::\d*)?(?:,|$))+")
_HIDDEN_VALUE = pattern(rf"([?&]{re.escape(HIDDEN_PARAMETER)}[^=&]*=)[^&]*")
ONE_SERVER = (
    "name the one server that is measured: of several hosts a client takes whichever answers first"
)
HINT = "in a user or password write / as %2F, ? as %3F, # as %23, % as %25, @ as %40"


@dataclass(frozen=True)
class Parts:
    """The parts of a URL, still percent-encoded."""

    scheme: str
    """In lower case."""
    user: str
    has_user: bool
    """Whether there is an ``@``."""
    password: str | None = field(repr=False)
    hosts: tuple[tuple[str, str], ...]
    """(host, port) of each server that it names, one at least. The host is without the brackets of
    an address with colons, in its own letter case; an empty port is not given."""
    path: str
    query: str

    @property
    def host(self) -> str:
        """Of several servers all, with commas."""
        return ",".join(host for host, _ in self.hosts)

    @property
    def port(self) -> str:
        """Empty: not given. Of several servers all, with commas, where one of them is given."""
        ports = [port for _, port in self.hosts]
        return ",".join(ports) if any(ports) else ""

    @property
    def authority(self) -> str:
        """Hosts and ports as a URL has them."""
        return ",".join(
            (f"[{host}]" if ":" in host else host) + (f":{port}" if port else "")
            for host, port in self.hosts
        )

    @property
    def parameters(self) -> Mapping[str, str]:
        """The last value of each name; a plus is not a space, as in the URLs of database
        clients."""
        pairs = (pair.partition("=") for pair in self.query.split("&") if pair)
        return {unquote(name): unquote(value) for name, _, value in pairs}

    @property
    def place(self) -> str:
        """What identifies this server, if no other is on the same host: its host, its socket, or
        its file."""
        return unquote(self._host) or unquote(self.path.rpartition("/")[2]) or "a local socket"

    @property
    def _host(self) -> str:
        given = self.parameters
        # Several servers of one host differ in their ports.
        hosts = ",".join(dict.fromkeys(self.host.lower().split(",")))
        return hosts or given.get("host") or given.get("socket") or ""

    @property
    def particulars(self) -> Mapping[str, str]:
        """What else distinguishes two servers of one place, each by the text that names it in
        `place_with`, in the order in which it is tried; without passwords."""
        words = unquote(self.path.removeprefix("/")).split("/")
        ports = [port for _, port in self.hosts if port]
        # Where it is no number it may be a password.
        port = self.port if all(map(str.isdigit, ports)) else ""
        found = {"port": port, "database": "/".join(words)} if self._host else {}
        if not self._host:
            found |= {_FOLDERS * k: "/".join(words[-k - 1 :]) for k in range(1, len(words))}
            found["port"] = port
        found["user"] = unquote(self.user)
        for name, value in sorted(self.parameters.items()):
            if not (is_secret(name) or name.startswith(HIDDEN_PARAMETER)):
                found[f"?{name}"] = value
        return {name: value for name, value in found.items() if value}

    def place_with(self, shown: Collection[str]) -> str:
        """The place with those of its `particulars`: ``me@10.0.0.7:5433/shop?sslmode=require``,
        ``d1/file.db``."""
        given = {name: value for name, value in self.particulars.items() if name in shown}
        folders = [value for name, value in given.items() if name.startswith(_FOLDERS)]
        place = max([self.place, *folders], key=len)
        if "port" in given and len(self.hosts) > 1:
            place = self.authority.lower()
        elif "port" in given:
            place = f"[{place}]" if ":" in place and self.host else place
            place = f"{place}:{given['port']}"
        user = f"{given['user']}@" if "user" in given else ""
        database = f"/{given['database']}" if "database" in given else ""
        named = [f"{name[1:]}={value}" for name, value in given.items() if name.startswith("?")]
        query = f"?{'&'.join(named)}" if named else ""
        return f"{user}{place}{database}{query}"


def is_url(word: str) -> bool:
    """Whether the word begins with a URL scheme."""
    return _SCHEME.match(word) is not None


def parts(url: str) -> Parts:
    """The parts of ``url``; the password may contain ``@`` and ``:``.

    Raises `ArgumentError` that names the invalid part, and shows no part of the password.
    """
    found = _SCHEME.match(url)
    if found is None:
        raise ArgumentError("expected a URL, scheme://host/…", hint=HINT)
    before, _, fragment = url[found.end() :].partition("#")
    before, _, query = before.partition("?")
    authority, slash, path = before.partition("/")
    user, at, place = authority.rpartition("@")
    if not at and ":" in authority and any("@" in part for part in (path, query, fragment)):
        # user:pass/word@host: the text before the first / is parsed as host and port.
        raise ArgumentError("the URL's password holds / or ? or # unencoded", hint=HINT)
    if ":" in user and any("@" in part for part in (path, query, fragment)):
        # user:pass@/word@host: what follows the first @ may be the rest of a password.
        raise ArgumentError(
            "the URL's password, path or parameters hold an @ unencoded",
            hint=f"write it as %40; {HINT}",
        )
    if fragment:
        raise ArgumentError("the URL contains a #, which ends it", hint=HINT)
    if _BLANK.search(authority):
        raise ArgumentError(
            "the URL's user, password or host holds a blank, a tab or another control character "
            "unencoded",
            hint=f"write a blank as %20, a tab as %09; {HINT}",
        )
    secret = (pair for pair in query.split("&") if is_secret(unquote(pair.partition("=")[0])))
    if any(map(_BLANK.search, secret)):
        raise ArgumentError(
            "a password in the URL's parameters holds a blank or a tab unencoded",
            hint="write a blank as %20, a tab as %09",
        )
    if _BAD_PERCENT.search(authority) or _BAD_PERCENT.search(path):
        raise ArgumentError(
            "the URL contains a % without two hexadecimal digits after it", hint=HINT
        )
    user, colon, password = user.partition(":")
    return Parts(
        scheme=found[1].lower(),
        user=user,
        has_user=bool(at),
        password=password if colon else None,
        hosts=tuple(map(_host_and_port, place.split(","))),
        path=slash + path,
        query=query,
    )


def _host_and_port(place: str) -> tuple[str, str]:
    found = re.fullmatch(r"\[([^][]*)\](?::(.*))?", place)
    if found is not None:
        return found[1], found[2] or ""
    host, _, port = place.partition(":")
    if "[" in place or "]" in place:
        raise ArgumentError(
            "the URL's host has a bracket that is not closed", hint="scheme://[::1]:PORT/DATABASE"
        )
    if ":" in port:
        raise ArgumentError(
            "the URL's port: expected a number from 0 to 65535",
            hint=f"write an IPv6 address in brackets, [::1]; {HINT}",
        )
    return host, port


def of_each_host(url: str) -> tuple[str, ...]:
    """The URL once for each server that it names, with that one alone."""
    given = parts(url)
    before, slashes, rest = url.partition("://")
    authority = re.split(r"[/?]", rest, maxsplit=1)[0]
    user, at, _ = authority.rpartition("@")
    places = (replace(given, hosts=(one,)).authority for one in given.hosts)
    return tuple(f"{before}{slashes}{user}{at}{place}{rest[len(authority) :]}" for place in places)


def insist_on_one_host(parts: Parts) -> None:
    """Raises `ArgumentError` where it names several servers."""
    if len(parts.hosts) > 1:
        raise ArgumentError(
            f"expected one host in the URL, found several: {parts.authority}", hint=ONE_SERVER
        )


def without_password(url: str) -> str:
    """The URL as it may be printed, recorded and fingerprinted. In a URL that cannot be parsed,
    every part that may hold a password is hidden."""
    found = _SCHEME.match(url)
    if found is None:
        return url
    try:
        parts(url)
    except ArgumentError:
        rest, mark, query = url[found.end() :].partition("?")
        if "@" in query:  # the ? may be one of the password
            return f"{found[0]}{_HIDDEN}"
        _, at, host = rest.rpartition("@")
        shown = f"{_HIDDEN}@{host}" if at else rest.partition(":")[0]
        return f"{found[0]}{shown}" + (f"{mark}{_HIDDEN}" if mark else "")
    end = re.search(r"[/?]", url[found.end() :])
    stop = len(url) if end is None else found.end() + end.start()
    user, at, host = url[found.end() : stop].rpartition("@")
    shown = host if at else _without_a_password_for_port(host)
    rest = _HIDDEN_VALUE.sub(rf"\1{_HIDDEN}", url[stop:])
    return f"{found[1].lower()}://{user.partition(':')[0]}{at}{shown}{rest}"


def with_hidden_password(url: str) -> str:
    """The URL with stars in place of its password, as a record keeps it: it shows that there was
    one."""
    try:
        password = parts(url).password
    except ArgumentError:
        return without_password(url)
    return url if password is None else url.replace(f":{password}@", f":{_HIDDEN}@", 1)


def _without_a_password_for_port(host: str) -> str:
    """``user:password`` where the ``@`` and the host behind it were left out."""
    name, colon, port = host.rpartition(":")
    is_port = not colon or port == "" or port.isdigit() or port.endswith("]")
    if "," in host:
        is_port = _HOSTS_AND_PORTS.fullmatch(host) is not None
        name = host.partition(":")[0]
    return host if is_port else f"{name}:{_HIDDEN}"


@dataclass(frozen=True)
class Resolved:
    """A URL completed with values found elsewhere, and the origin of each value."""

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
    """The URL with these values added."""
    given = parts(url)
    names = (quote(user, safe="") if user else given.user) + (
        "" if given.password is None else f":{given.password}"
    )
    at = "@" if given.has_user or user else ""
    hosts = ((host, given.port),) if host else given.hosts
    place = replace(
        given, hosts=tuple((name, found or port or "") for name, found in hosts)
    ).authority
    path = f"/{quote(database, safe='')}" if database else given.path
    added = [f"{key}={quote(value, safe='/')}" for key, value in (parameters or {}).items()]
    query = "&".join([*([given.query] if given.query else []), *added])
    if query and not path:
        path = "/"
    return f"{given.scheme}://{names}{at}{place}{path}" + (f"?{query}" if query else "")


def without_port(url: str, port: int) -> str:
    """The URL without this port, of each server that it names; unchanged where it cannot be
    read."""
    try:
        given = parts(url)
    except ArgumentError:
        return url
    hosts = tuple((host, "" if found == str(port) else found) for host, found in given.hosts)
    if hosts == given.hosts:
        return url
    before, slashes, rest = url.partition("://")
    authority = re.split(r"[/?]", rest, maxsplit=1)[0]
    user, at, _ = authority.rpartition("@")
    place = replace(given, hosts=hosts).authority
    return f"{before}{slashes}{user}{at}{place}{rest[len(authority) :]}"


def with_password(url: str, password: str) -> str:
    """The URL with this password; a URL without a user gets an empty one."""
    given = parts(url)
    _, _, rest = url.partition("://")
    if given.has_user:
        before = re.split(r"[/?]", rest, maxsplit=1)[0]
        rest = rest[before.rindex("@") + 1 :]
    rest = rest.replace("@", "%40")  # beside a password no other @ is allowed
    return f"{given.scheme}://{given.user}:{quote(password, safe='')}@{rest}"


def place(url: str, shown: Collection[str] = ()) -> str:
    """What identifies this server, with those of its `particulars`."""
    try:
        return parts(url).place_with(shown)
    except ArgumentError:
        return "a URL that cannot be read"


def particulars(url: str) -> Mapping[str, str]:
    """See `Parts.particulars`."""
    try:
        return parts(url).particulars
    except ArgumentError:
        return {}
