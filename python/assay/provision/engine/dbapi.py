"""Python's DB-API 2.0 (PEP 249) for the engine: connects to a module, and says what its exceptions
mean. It imports nothing else of Assay, so that a worker process is small."""

from __future__ import annotations

import contextlib
import importlib
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from types import ModuleType
from typing import Any

from msgspec import Struct

Keywords = dict[str, str | int | float | bool | None]
"""Of ``connect()``, by name."""


class OpenSession(Struct, frozen=True):
    """A connection, and how it is used beside PEP 249."""

    connection: Any
    paramstyle: str
    autocommit: Callable[[bool], object] | None
    """Switches whether each statement is committed; it is on. None: the module cannot."""
    version: str
    cancel: Callable[[], object] | None
    """Makes the current call end early, from another thread; None: the module cannot."""


def open_session(options: Mapping[str, str], password: str | None) -> OpenSession:
    """Raises whatever the module raises, `ImportError` where there is none."""
    module = importlib.import_module(options["module"])
    for path, value in json.loads(options.get("module_settings") or "{}").items():
        _set(module, path, value)
    keywords: Keywords = {**_json(options, "keywords"), **_json(options, "hidden_keywords")}
    if password is not None:
        keywords[options.get("password_keyword") or "password"] = password
    connection = module.connect(**keywords)
    if not callable(getattr(connection, "cursor", None)):
        raise NotDbapi(
            f"the module {module.__name__} does not follow DB-API 2.0: its connect() returned "
            f"{type(connection).__name__}, which has no cursor()"
        )
    try:
        autocommit = _autocommit(connection)
        if autocommit is not None:
            autocommit(True)
        if options.get("regexp_function"):
            _define_regexp(connection, options["regexp_function"])
        version = _version(module, connection, options.get("version_query", ""))
    except BaseException:
        with contextlib.suppress(Exception):
            connection.close()
        raise
    return OpenSession(
        connection=connection,
        paramstyle=options.get("paramstyle") or module.paramstyle,
        autocommit=autocommit,
        version=version,
        cancel=_cancel(connection),
    )


def describer(options: Mapping[str, str], password: str | None) -> Describer:
    """What says what an exception of the module means."""
    hidden = _json(options, "hidden_keywords")
    return Describer(
        options["module"],
        json.loads(options.get("error_classes") or "{}"),
        json.loads(options.get("error_phrases") or "{}"),
        [password or "", *(str(value) for value in hidden.values() if not isinstance(value, bool))],
        options.get("code_attribute", ""),
    )


def _json(options: Mapping[str, str], name: str) -> Keywords:
    keywords: Keywords = json.loads(options.get(name) or "{}")
    return keywords


def text_of(value: Any) -> str | bytes:
    """The text or the bytes of a value that is no number, text or moment."""
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if isinstance(value, timedelta):
        return _time(value)
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, default=str, ensure_ascii=False)
    if callable(read := getattr(value, "read", None)):  # a large object
        found = read()
        return found if isinstance(found, bytes) else str(found)
    return str(value)


def _time(value: timedelta) -> str:
    """A time of day, which some modules give as a length: ``-101:02:03.5``."""
    seconds, microseconds = divmod(abs(value) // timedelta(microseconds=1), 1_000_000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    fraction = f".{microseconds:06}".rstrip("0") if microseconds else ""
    sign = "-" if value < timedelta() else ""
    return f"{sign}{hour:02}:{minute:02}:{second:02}{fraction}"


def _set(module: ModuleType, path: str, value: object) -> None:
    """Sets an attribute by its path (``defaults.fetch_lobs``); one that this version lacks is left
    out."""
    *folders, name = path.split(".")
    target: Any = module
    for folder in folders:
        target = getattr(target, folder, None)
    if hasattr(target, name):
        setattr(target, name, value)


def _autocommit(connection: Any) -> Callable[[bool], object] | None:
    """PEP 249 has an optional attribute for it; many modules have a method instead."""
    for name in ("set_autocommit", "autocommit"):
        found = getattr(connection, name, None)
        if callable(found):
            method: Callable[[bool], object] = found
            return method
    if hasattr(connection, "autocommit"):
        return lambda on: setattr(connection, "autocommit", on)
    if getattr(connection, "isolation_level", None) == "":
        # Such a module begins transactions by itself, unless it has no level.
        return lambda on: setattr(connection, "isolation_level", None if on else "")
    return None


def _define_regexp(connection: Any, name: str) -> None:
    """The operator REGEXP, for a library that has its syntax alone."""

    def regexp(pattern: str | None, text: str | None) -> bool | None:
        if pattern is None or text is None:
            return None
        return re.search(pattern, str(text), re.DOTALL) is not None

    connection.create_function(name, 2, regexp, deterministic=True)


def _version(module: ModuleType, connection: Any, query: str) -> str:
    """What the server says of itself, and the module that asked it."""
    own = getattr(module, "__version__", None) or getattr(module, "version", "")
    through = f"{module.__name__} {own}".strip()
    if not query:
        return through
    cursor = connection.cursor()
    try:
        cursor.execute(query)
        row = cursor.fetchone()
        cursor.fetchall()
    finally:
        cursor.close()
    said = str(row[0]).strip().partition("\n")[0] if row else ""
    return f"{said} through {through}" if said else through


def _cancel(connection: Any) -> Callable[[], object] | None:
    for name in ("cancel", "interrupt"):
        found = getattr(connection, name, None)
        if callable(found):
            method: Callable[[], object] = found
            return method
    return None


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
