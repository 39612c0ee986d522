"""Takes settings as asked for; says how each reaches the library, and reads back what is in effect.

DuckDB refuses a setting that it does not know, and a value that does not fit: what it accepts is in
effect, in its own spelling (``1GB`` is ``953.6 MiB``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from assay.contracts import durability
from assay.contracts.durability import Safeguard
from assay.contracts.systems.abilities import Spelled
from assay.errors import ArgumentError, SystemRefused
from assay.provision.engine.engine_calls import Session
from assay.text.phrases import nearest
from assay.text.units import in_largest_unit

MEMORY = "memory_limit"
OF_THE_FILE = ("default_block_size", "storage_compatibility_version")
"""They decide in which form a new file is written."""

OF_THE_SESSION = frozenset(
    {
        "active_grammar_extensions",
        "current_dialect",
        "enable_profiling",
        "enable_progress_bar",
        "enable_progress_bar_print",
        "max_streaming_buffer_size",
        "operator_memory_limit",
        "profile_output",
        "profiling_coverage",
        "profiling_output",
        "profiling_renderer_settings",
        "progress_bar_time",
        "schema",
        "search_path",
        "streaming_buffer_size",
        "tracked_metrics",
    }
)
"""Each session has its own; the others belong to the whole database."""

_SET_BY_ASSAY = {"autoinstall_known_extensions": "false"}
"""A run downloads nothing unless that is asked for."""
CONFINED = {"enable_external_access": "false", "lock_configuration": "true"}
"""With which statements reach no file but that of the database, and change no setting."""
_REACHING = re.compile(
    r".*(director|path|file|output|extension|external|http|proxy|secret|cert|repository|attach|log"
    r"|url|lock_configuration)"
)
"""By a part of their names: settings that are paths, or let statements reach files, libraries and
other servers."""
_OF_THE_MACHINE = ("threads", MEMORY)
_SECRET = frozenset({"password", "http_proxy_password"})
_ALIASES = {"max_memory": MEMORY, "worker_threads": "threads"}
_LISTED = "https://duckdb.org/docs/stable/configuration/overview.html lists them"
_UNKNOWN = "not recognized"
_NOT_ACCEPTED = "does not accept the setting"
_AFTER_OPENING = re.compile(r"while the database is running|cannot be (?:set|changed)")
"""It says so of any value of a setting that a database can only be opened with."""
_OF_THE_DATA = "Catalog Error"
"""Of what a session names and only the file has: a schema."""
_OWN_WORDS = re.compile(r"[A-Z]\w+(?: \w+)* Error: .*", re.DOTALL)
_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(bytes|b|[kmgt]i?b)")
_UNITS = {"b": 1, "bytes": 1} | {
    letter + ending: unit**power
    for ending, unit in (("b", 1000), ("ib", 1024))
    for power, letter in enumerate("kmgt", 1)
}
_SIZES = tuple(
    (("B", 1), *((f"{letter}{ending}", unit**power) for power, letter in enumerate("KMGT", 1)))
    for ending, unit in (("iB", 1024), ("B", 1000))
)


def named(asked: Mapping[str, str]) -> dict[str, str]:
    """The settings by the names that DuckDB shows them by.

    Raises `ArgumentError` for a name that cannot be one, and for one that is asked for twice.
    """
    found: dict[str, str] = {}
    for name, value in asked.items():
        proper = _ALIASES.get(name.lower(), name.lower())
        if not _NAME.fullmatch(proper) or proper in _SECRET:
            raise ArgumentError(
                f"DuckDB has no setting {name!r} that a run could need", hint=_LISTED
            )
        if proper in found:
            raise ArgumentError(f"the setting {proper} is asked for twice, once as {name}")
        found[proper] = value.strip()
    return found


def refuse_those_of_the_file(asked: Mapping[str, str]) -> None:
    """Raises `ArgumentError` for a setting that only a new file can have."""
    for name in asked:
        if name.lower() in OF_THE_FILE:
            raise ArgumentError(
                f"the setting {name} is of new files, and this one is there already"
            )


def refuse_reaching(asked: Mapping[str, str]) -> None:
    """Raises `ArgumentError` for a setting that is a path, or by which statements reach one; and
    for one of the session, as sessions of a capsule can set none."""
    for name, value in named(asked).items():
        if _REACHING.match(name) or name in OF_THE_SESSION or "/" in value:
            raise ArgumentError(
                f"a capsule sets {name} = {value!r} of DuckDB, which can reach files outside its "
                "own, or which only an open session can set"
            )


def of_the_database(asked: Mapping[str, str]) -> dict[str, str]:
    """What the library opens the database with."""
    return _SET_BY_ASSAY | {
        name: value for name, value in asked.items() if name not in OF_THE_SESSION
    }


def statements(asked: Mapping[str, str]) -> tuple[str, ...]:
    """What each session says."""
    return tuple(
        f"SET SESSION {name} = {_literal(value)}"
        for name, value in asked.items()
        if name in OF_THE_SESSION
    )


def set_globally(name: str, value: str) -> str:
    """The statement with which a session sets what belongs to the database."""
    return f"SET GLOBAL {name} = {_literal(value)}"


def reason(refusal: SystemRefused) -> str:
    """In DuckDB's own words, without the statement that it refused."""
    found = _OWN_WORDS.search(refusal.message)
    return refusal.message if found is None else found[0]


def refuse(
    name: str, value: str, refusal: SystemRefused, known: Iterable[str], why_not_set: str
) -> None:
    """Raises `ArgumentError` for a setting with which no database could be opened; not for one that
    only one in memory cannot have. ``why_not_set``: the reason that a session is given."""
    given = f"it was given {name}={value}"
    if _UNKNOWN in refusal.message:
        near = nearest(name, {*known, *_ALIASES})
        raise ArgumentError(
            f"DuckDB has no setting {name!r}", hint=f"did you mean {near}?" if near else _LISTED
        )
    if name not in OF_THE_SESSION and _NOT_ACCEPTED in refusal.message:
        why = why_not_set if why_not_set and not _AFTER_OPENING.search(why_not_set) else ""
        why = why or f"it does not accept {name} = {value!r}"
        raise ArgumentError(f"DuckDB refuses the setting {name}: {why}", hint=given)
    if name in OF_THE_SESSION and _OF_THE_DATA not in refusal.message:
        raise ArgumentError(f"DuckDB refuses the setting {name}: {reason(refusal)}", hint=given)


def read(session: Session) -> dict[str, str]:
    """Every setting as this session has it."""
    rows = session.execute("SELECT name, value FROM duckdb_settings() ORDER BY name").rows
    return {
        name: value
        for name, value in rows
        if name is not None and value is not None and name not in _SECRET
    }


def spelled(
    asked: Mapping[str, str], defaults: Mapping[str, str], in_effect: Mapping[str, str]
) -> Iterator[Spelled]:
    """Each setting as it is read back, but sizes, which DuckDB rounds. What depends on the machine
    is no default."""
    for name, value in asked.items():
        if (size := size_bytes(value)) is not None:
            durability = (in_largest_unit(size, units) for units in _SIZES)
            yield Spelled(name, min(durability, key=len), is_default=False)
            continue
        read_back = in_effect.get(name, value)
        is_default = name not in _OF_THE_MACHINE and read_back == defaults.get(name)
        yield Spelled(name, read_back, is_default)


def size_bytes(text: str) -> int | None:
    """The bytes of a size, in a spelling of DuckDB (``953.6 MiB``) or as asked (``1GB``)."""
    found = _SIZE.fullmatch(text.strip().lower())
    return None if found is None else round(float(found[1]) * _UNITS[found[2]])


def durability_lowered_by(effective: Mapping[str, str]) -> tuple[str, ...]:
    """The effective settings with which an acknowledged commit, or more, can be lost when the power
    fails."""
    name = "fsync_mode"
    return (f"{name} = {effective[name]}",) if effective.get(name, "").upper() == "NONE" else ()


def _literal(value: str) -> str:
    doubled = value.replace("'", "''")
    return f"'{doubled}'"


SAFEGUARDS: Final = (
    Safeguard(durability.BINARY_LOG, durability.NO_BINARY_LOG),
    Safeguard(durability.LOG_FOR_REPLICAS, durability.NOTHING_FOR_REPLICAS),
    Safeguard(durability.ARCHIVE, durability.NO_ARCHIVE),
    Safeguard(durability.REPLICAS, durability.NO_REPLICAS),
    Safeguard(durability.TORN_PAGES, durability.MOVES_PAGES),
    Safeguard(durability.CHECKSUMS, durability.CHECKS_PAGES),
)
"""A checkpoint writes changed blocks beside the old ones, then a header that has them; each block
is read with its checksum."""
