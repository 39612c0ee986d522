"""Takes the registry; returns rows for the kinds of storages: what they are, whether this machine
can have them, and their options."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import getdoc, getmodule

from assay import registry
from assay.cli.output.rows import Row
from assay.contracts.option_spec import OptionSpec
from assay.contracts.storages import abilities
from assay.contracts.storages.abilities import Inspectable
from assay.contracts.storages.protocol import Storage
from assay.contracts.storages.shared_options import SHARED_OPTIONS

_EVERY = "(any)"


def storage_rows() -> list[Row]:
    return [_row(name, registry.storage(name)) for name in registry.storages()]


def _row(name: str, storage: Storage) -> Row:
    reason = storage.why_unavailable() if isinstance(storage, Inspectable) else None
    return {
        "storage": name,
        "available": "yes" if reason is None else "no",
        "what": _what(storage),
        "why_not_available": reason or "",
        "options": [spec.name for spec in storage.option_specs],
        "abilities": [one.__name__ for one in abilities.ABILITIES if isinstance(storage, one)],
    }


def storage_option_rows() -> list[Row]:
    """A row for each option; of a kind without options, one without. At the end those that every
    storage has."""
    of_kinds = [
        row for name in registry.storages() for row in _options(name, registry.storage(name))
    ]
    shared: Row = {"storage": _EVERY, "what": "What every storage may be given besides"}
    return [*of_kinds, shared, *(_option(_EVERY, spec, "") for spec in SHARED_OPTIONS)]


def _options(name: str, storage: Storage) -> list[Row]:
    missing = storage.unavailable_levels() if isinstance(storage, Inspectable) else {}
    reason = storage.why_unavailable() if isinstance(storage, Inspectable) else None
    about = f"{_what(storage)}. Not available: {reason}" if reason else _what(storage)
    rows: list[Row] = [{"storage": name, "what": about}]
    rows += [_option(name, spec, _not_here(spec, missing)) for spec in storage.option_specs]
    return rows


def _option(storage: str, spec: OptionSpec, not_here: str) -> Row:
    return {
        "storage": storage,
        "option": spec.name,
        "default": spec.default,
        "values": ", ".join(level for level in spec.levels if level)
        or (spec.quantity.expected if spec.quantity else ""),
        "what": f"{spec.help} Not here: {not_here}" if not_here else _as_title(spec.help),
    }


def _not_here(spec: OptionSpec, missing: Mapping[str, str]) -> str:
    """``f2fs, jfs (not in this machine's kernel)``: the levels with the same reason together."""
    by_reason: dict[str, list[str]] = {}
    for level in spec.levels:
        if reason := missing.get(f"{spec.name}={level}"):
            by_reason.setdefault(reason, []).append(level)
    return "; ".join(f"{', '.join(levels)} ({reason})" for reason, levels in by_reason.items())


def _what(storage: object) -> str:
    """The first line of the docstring of its module, without the name."""
    text = getdoc(getmodule(type(storage))) or ""
    return _as_title(text.partition("\n")[0].rpartition("`: ")[2])


def _as_title(text: str) -> str:
    """As in the other lists: a capital first, no full stop at the end."""
    return (text[:1].upper() + text[1:]).removesuffix(".")
