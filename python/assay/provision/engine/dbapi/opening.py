"""Takes the options of a deployment; imports a DB-API module and connects; returns what the engine
calls.

The engine's driver ``dbapi`` (``crates/bridge/src/dbapi``) calls the functions of this file by
name. All options are texts: ``module`` (its name), ``keywords`` and ``hidden_keywords`` (what
``connect`` is given, as JSON; the second are in no record and in no message),
``password_keyword``, ``begin`` (the statement that begins a transaction; empty: the connection
does), ``version_query``, ``module_settings`` (attributes of the module, as JSON), ``bound_as``, and
those of `assay.provision.engine.dbapi.describing`.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from types import ModuleType
from typing import Any

from msgspec import Struct

from assay.provision.engine.dbapi.describing import Describer, NotDbapi

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
        [
            password or "",
            *(str(value) for value in hidden.values() if not isinstance(value, bool)),
        ],
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
