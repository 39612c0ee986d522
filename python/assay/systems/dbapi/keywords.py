"""Takes what stands in the brackets of ``dbapi:MODULE[…]``; returns the keyword arguments of the
module's ``connect()``, as a URL in between.

The URL is what a record keeps. It holds no password: that comes from the environment or is typed.
Of keywords that are not known to be harmless the record has the names alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote, unquote

from assay.contracts import server_url
from assay.env_vars import DBAPI_PASSWORD
from assay.errors import ArgumentError
from assay.text.secrets import HIDDEN_PARAMETER, without_secrets

SCHEME = "dbapi"
DEFAULT_PLACE = "the default of the module"
"""Where no keyword says where the server is."""

Keyword = str | int | bool

_SECRET_NAME = re.compile(
    r"passw|passphrase|pwd|secret|token|credential|(^|_)pass$|^auth$|(api|access)_?key",
    re.IGNORECASE,
)
_ORACLE_LOGIN = re.compile(r"[^/@\s]+/[^@]+@")
"""``USER/PASSWORD@PLACE``."""
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_USERS = ("user", "username", "uid")
_PLACES = ("host", "server", "hostname", "socket", "unix_socket", "dsn", "database", "dbname")
"""Keywords that say where the server is, the likeliest first."""
_TEXTS = frozenset(
    (*_USERS, *_PLACES, "db", "service_name", "sid"),
)
"""Names and addresses are texts, also where they look like numbers."""
_SHOWN = re.compile(
    "user|username|uid|host|hostname|server|port|(unix_)?socket|database|dbname|db|schema|path|file"
    "|service_name|sid|dsn|driver|protocol|charset|encoding|client_encoding|application_name|ssl"
    "|sslmode|ssl_disabled|autocommit|isolation_level|threaded|use_pure|check_same_thread"
    r"|\w*time_?out\w*",
    re.IGNORECASE,
)
"""Keywords that are harmless: their values are in labels and records."""
_SHOWN_DSN = re.compile(r"[\w.-]+|(//)?[\w.-]+:\d+(/[\w.-]+)?|//[\w.-]+/[\w.-]+")
_WORDS: Mapping[str, bool] = {"true": True, "false": False}


def url(given: Mapping[str, str]) -> str:
    """Raises `ArgumentError` for a password."""
    for name, value in given.items():
        if _is_password(name) or _has_password(name, value):
            raise ArgumentError(
                f"the keyword {name} holds a password, which everybody could read in the list of "
                "processes",
                hint=f"leave it out: it is taken from {DBAPI_PASSWORD.name}, or asked for",
            )
        if not name.isidentifier():
            raise ArgumentError(f"expected the name of a keyword argument, found {name!r}")
    shown = {name: value for name, value in given.items() if _is_shown(name, value)}
    query = "&".join(
        f"{'' if name in shown else HIDDEN_PARAMETER}{name}={quote(value, safe='/:')}"
        for name, value in given.items()
    )
    user = next((shown[name] for name in _USERS if name in shown), "")
    place = next((shown[name] for name in _PLACES if name in shown), DEFAULT_PLACE)
    at = f"{quote(user, safe='')}@" if user else ""
    return f"{SCHEME}://{at}/{quote(place, safe='')}?{query}"


def of_url(text: str) -> dict[str, Keyword]:
    """The keyword arguments: whole numbers, ``true`` and ``false`` are no texts."""
    return {**shown_of_url(text), **hidden_of_url(text)}


def shown_of_url(text: str) -> dict[str, Keyword]:
    return {
        name: _typed(name, value)
        for name, value in server_url.parts(text).parameters.items()
        if not name.startswith(HIDDEN_PARAMETER)
    }


def hidden_of_url(text: str) -> dict[str, Keyword]:
    """Those whose values are in no record."""
    given = server_url.parts(text).parameters
    hidden = {
        name.removeprefix(HIDDEN_PARAMETER): value
        for name, value in given.items()
        if name.startswith(HIDDEN_PARAMETER)
    }
    return {name: _typed(name, value) for name, value in hidden.items()}


def password(text: str) -> str | None:
    """The one that was typed, or that of the environment."""
    typed = server_url.parts(text).password
    return DBAPI_PASSWORD.get() if typed is None else unquote(typed)


def _is_password(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None


def _has_password(name: str, value: str) -> bool:
    """In a URL, in a connection string, or as Oracle writes a login."""
    is_login = name.lower() == "dsn" and _ORACLE_LOGIN.match(value) is not None
    return is_login or without_secrets(value) != value


def _is_shown(name: str, value: str) -> bool:
    if not _SHOWN.fullmatch(name):
        return False
    if name.lower() == "dsn":
        return _SHOWN_DSN.fullmatch(value) is not None
    return name.lower() not in _USERS or "/" not in value  # Oracle's USER/PASSWORD


def _typed(name: str, value: str) -> Keyword:
    if name in _TEXTS:
        return value
    if _WHOLE.fullmatch(value):
        return int(value)
    return _WORDS.get(value.lower(), value)
