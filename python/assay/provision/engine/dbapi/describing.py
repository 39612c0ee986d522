"""Takes an exception of a DB-API module; returns the engine's class of errors, the system's code,
the message, and whether the statement may have taken effect.

A code of the system decides, by the dialect's own table and then by its SQLSTATE (ISO/IEC 9075-2);
the classes of PEP 249 are coarse, and only say the rest.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

LOST = "lost connection"
_SHORTEST_SECRET = 3
"""A shorter one would hide parts of words, and be guessed from them."""
NOT_DBAPI = "PEP 249"
"""The code of a module whose connections are none."""

_OF_SQLSTATE: Mapping[str, str] = {
    "08": LOST,
    "21": "data",
    "22": "data",
    "23": "constraint",
    "25006": "permission",
    "28": "authentication",
    "3D": "authentication",
    "40001": "serialization",
    "40P01": "deadlock",
    "40": "serialization",
    "42501": "permission",
    "42703": "unknown object",
    "42704": "unknown object",
    "42883": "unknown object",
    "42P01": "unknown object",
    "42S02": "unknown object",
    "42S22": "unknown object",
    "42": "syntax",
    "53300": "too many connections",
    "53": "resources",
    "57014": "timeout",
    "57P": LOST,
    "HYT": "timeout",
    "S1T": "timeout",
}
"""By the whole code or its beginning; the longest wins. Some are of several systems' own."""

_OF_PEP_249: Mapping[str, str] = {
    "IntegrityError": "constraint",
    "DataError": "data",
    "ProgrammingError": "syntax",
    "NotSupportedError": "syntax",
}

_IN_A_SESSION: Mapping[str, str] = {
    "authentication": "permission",
    "too many connections": "resources",
}
"""What an error means that would otherwise end a session which goes on."""

_SQLSTATE = re.compile(r"[0-9A-Z]{5}")
_IN_MESSAGE = re.compile(
    r"SQLSTATE[=: ]*([0-9A-Z]{5})|\b(ORA-\d{5})\b|\b(DP[YI]-\d{4})\b|\b(SQL\d{4,5}[CNW])\b"
    r"|\((\d{3,5})\)"
)


class NotDbapi(TypeError):
    """A module does not follow DB-API 2.0."""

    sqlstate = NOT_DBAPI


class Describer:
    """Called with the exception and the connection, or None while connecting."""

    def __init__(
        self,
        module: str,
        classes: Mapping[str, str],
        phrases: Mapping[str, str],
        secrets: Iterable[str],
        code_attribute: str = "",
    ) -> None:
        self._module = module
        self._classes = classes
        self._phrases = phrases
        self._secrets = [one for one in secrets if len(one) >= _SHORTEST_SECRET]
        self._code_attribute = code_attribute

    def __call__(self, error: BaseException, connection: Any) -> tuple[str, str, str, bool]:
        codes = [code for code in _codes(error, self._code_attribute) if code]
        message = self._message(error)
        found = self._class_of(error, codes, message)
        if found not in (LOST, "authentication", "too many connections") and _is_closed(connection):
            found = LOST
        if connection is None and found in (LOST, "other", "timeout"):
            found = "connection refused"
        elif connection is not None:
            found = _IN_A_SESSION.get(found, found)
        return found, codes[0] if codes else "", message, found == LOST

    def _class_of(self, error: BaseException, codes: list[str], message: str) -> str:
        for code in codes:
            if code in self._classes:
                return self._classes[code]
        lower = message.lower()
        for phrase, found in self._phrases.items():
            if phrase in lower:
                return found
        for code in codes:
            if _SQLSTATE.fullmatch(code):
                for length in (5, 3, 2):
                    if code[:length] in _OF_SQLSTATE:
                        return _OF_SQLSTATE[code[:length]]
        if isinstance(error, OSError | EOFError) and not isinstance(error, ImportError):
            return LOST
        if isinstance(error, TypeError | ValueError | OverflowError):
            return "data"
        return self._by_pep_249(error)

    def _by_pep_249(self, error: BaseException) -> str:
        module = sys.modules.get(self._module)
        for name, found in _OF_PEP_249.items():
            kind = getattr(module, name, None)
            if isinstance(kind, type) and isinstance(error, kind):
                return found
        return "other"

    def _message(self, error: BaseException) -> str:
        """One line, without the secrets."""
        if isinstance(error, ImportError):
            return f"the Python module {self._module} cannot be imported: {error}"
        if isinstance(error, SystemExit):
            return f"the module {self._module} ended the program (exit status {error.code or 0})"
        found = " ".join(_words(error).split()) or type(error).__name__
        for secret in self._secrets:
            found = found.replace(secret, "***")
        return found


def _arguments(error: BaseException) -> tuple[Any, ...]:
    """Some modules put all of them into one tuple."""
    is_tuple = len(error.args) == 1 and isinstance(error.args[0], tuple)
    return tuple(error.args[0]) if is_tuple else error.args


def _words(error: BaseException) -> str:
    """What the exception says; of several arguments those that are texts."""
    arguments = _arguments(error)
    texts = [
        one.decode("utf-8", "replace") if isinstance(one, bytes) else one
        for one in arguments
        if isinstance(one, str | bytes)
    ]
    first = arguments[0] if arguments else ""
    if isinstance(first, Mapping):  # the fields of a server's message
        return str(first.get("M") or first)
    return ": ".join(texts) if len(arguments) > 1 and texts else str(error)


def _codes(error: BaseException, attribute: str) -> Iterator[str]:
    """All that may be the system's code, the likeliest first. PEP 249 has no place for it."""
    for name in (attribute, "sqlstate"):
        if name and (found := getattr(error, name, None)) is not None:
            yield str(found)
    first = next(iter(_arguments(error)), None)
    if (full := getattr(first, "full_code", None)) is not None:
        yield str(full)
    if isinstance(first, Mapping):
        yield str(first.get("C", ""))
    elif isinstance(first, int) and not isinstance(error, OSError):
        yield str(first)
    elif isinstance(first, str) and _SQLSTATE.fullmatch(first):
        yield first
    for name in ("code", "errno"):
        if isinstance(found := getattr(error, name, None), int) and not isinstance(error, OSError):
            yield str(found)
    for match in _IN_MESSAGE.finditer(str(error)):
        yield next(group for group in match.groups() if group)


def _is_closed(connection: Any) -> bool:
    """Whether the module says that the connection has ended; most have one of these."""
    if connection is None:
        return False
    try:
        closed, is_open = getattr(connection, "closed", None), getattr(connection, "open", None)
    except Exception:
        return True
    return (bool(closed) and not callable(closed)) or is_open is False
