"""Takes settings by their names; returns the text of the server's configuration file, and compares
what the server reports with what was asked.

A name with dots is one of the configuration file (``storage.wiredTiger.engineConfig.cacheSizeGB``),
one without is a server parameter, as ``setParameter`` takes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from assay.contracts.systems.abilities import Spelled
from assay.errors import ArgumentError, SystemRefused
from assay.systems.options import buffer_bytes
from assay.text.mentions import phrase

CACHE = "storage.wiredTiger.engineConfig.cacheSizeGB"
_LEAST_CACHE_GB = 0.25
SET_BY_ASSAY = (
    "net.",
    "storage.dbPath",
    "systemLog.",
    "processManagement.",
    "security.",
    "replication.",
)
"""Beginnings of settings by which Assay reaches the server: not to be asked for."""

_DECISIVE = (
    "transactionLifetimeLimitSeconds",
    "wiredTigerConcurrentReadTransactions",
    "wiredTigerConcurrentWriteTransactions",
    "storageEngineConcurrentReadTransactions",
    "storageEngineConcurrentWriteTransactions",
    "ttlMonitorEnabled",
    "diagnosticDataCollectionEnabled",
)
"""Parameters that are recorded also where they are at their default, if a version has them."""


Section: TypeAlias = "dict[str, str | int | float | bool | list[object] | Section | None]"
"""Of the configuration: names of settings and of sections within."""


def check(settings: Mapping[str, str]) -> None:
    """Raises `ArgumentError` for a setting that Assay itself sets."""
    if set_here := [name for name in settings if name.startswith(SET_BY_ASSAY)]:
        raise ArgumentError(
            f"the setting {set_here[0]} of a private server is set by Assay",
            hint=phrase(
                "reach a server of your own by its URL: {--on mongodb://USER@HOST:PORT/DATABASE}"
            ),
        )


def of_buffer(options: Mapping[str, str], settings: Mapping[str, str]) -> dict[str, str]:
    """The setting of the option ``buffer``; none where it is not asked for."""
    size = buffer_bytes(options, settings, CACHE)
    if size is None:
        return {}
    return {CACHE: f"{max(_LEAST_CACHE_GB, size / (1 << 30)):.6g}"}


def text(data: Path, socket: Path, settings: Mapping[str, str]) -> str:
    """JSON, which is YAML too. The server listens at its socket alone."""
    document: Section = {
        "storage": {"dbPath": str(data)},
        "net": {"bindIp": str(socket), "unixDomainSocket": {"pathPrefix": str(socket.parent)}},
        "setParameter": {},
    }
    for name, value in settings.items():
        *path, last = name.split(".") if "." in name else ("setParameter", name)
        section = document
        for part in path:
            within = section.setdefault(part, {})
            assert isinstance(within, dict), "a section and a setting have one name"
            section = within
        section[last] = _scalar(value)
    return json.dumps(document, indent=2) + "\n"


def spelled(settings: Mapping[str, str]) -> Iterator[Spelled]:
    """Each setting as JSON has it, as far as it is a number or a truth value."""
    for name, value in settings.items():
        scalar = _scalar(value.strip().lower())
        if isinstance(scalar, float) and scalar.is_integer():
            scalar = int(scalar)
        text = value.strip() if isinstance(scalar, str) else json.dumps(scalar)
        yield Spelled(name.strip(), text, is_default=False)


def effective(
    options: Section, parameters: Mapping[str, str | None], asked: Mapping[str, str]
) -> dict[str, str]:
    """What the record keeps. ``options`` are those that the server was started with (``parsed`` of
    `getCmdLineOpts`), ``parameters`` all of `getParameter`.

    Raises `SystemRefused` for one that was asked and is not in effect.
    """
    found = {name: value for name, value in _flat(options) if not name.startswith(SET_BY_ASSAY)}
    found |= {name: parameters[name] or "" for name in _DECISIVE if name in parameters}
    for name, value in asked.items():
        here = found.get(name, parameters.get(name))
        if here is None:
            raise SystemRefused(f"the setting {name} was asked as {value!r}; the server has none")
        if not _are_equal(here, value):
            raise SystemRefused(f"the setting {name} was asked as {value!r} and is {here!r}")
        found[name] = here
    return found


def _flat(options: Section, prefix: str = "") -> list[tuple[str, str]]:
    flat = []
    for name, value in options.items():
        if isinstance(value, dict):
            within = "" if name == "setParameter" and not prefix else f"{prefix}{name}."
            flat += _flat(value, within)
        else:
            flat.append((f"{prefix}{name}", value if isinstance(value, str) else json.dumps(value)))
    return flat


def _scalar(value: str) -> Any:
    try:
        found = json.loads(value)
    except ValueError:
        return value
    return found if isinstance(found, int | float | bool) else value


def _are_equal(text: str, other: str) -> bool:
    return text == other or _scalar(text.lower()) == _scalar(other.lower())
