"""Takes what stands in the brackets of ``dbapi:MODULE[…]``; returns the keyword arguments of the
module's ``connect()``, as a URL in between.

The URL is what a record keeps. It holds no password: that comes from the environment or is typed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote, unquote

from assay import server_url
from assay.env_vars import DBAPI_PASSWORD
from assay.errors import ArgumentError
from assay.text.secrets import without_secrets

SCHEME = "dbapi"

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
    query = "&".join(f"{name}={quote(value, safe='/:')}" for name, value in given.items())
    user = next((given[name] for name in _USERS if name in given), "")
    place = next((given[name] for name in _PLACES if name in given), "")
    at = f"{quote(user, safe='')}@" if user else ""
    return f"{SCHEME}://{at}/{quote(place, safe='')}?{query}"


def of_url(text: str) -> dict[str, Keyword]:
    """The keyword arguments: whole numbers, ``true`` and ``false`` are no texts."""
    return {name: _typed(name, value) for name, value in server_url.parts(text).parameters.items()}


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


def _typed(name: str, value: str) -> Keyword:
    if name in _TEXTS:
        return value
    if _WHOLE.fullmatch(value):
        return int(value)
    return _WORDS.get(value.lower(), value)
