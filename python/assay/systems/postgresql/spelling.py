"""Takes settings as they were asked for; returns each as the server's own program reads it, in one
spelling (``16384kB`` is ``16MB``, ``OFF`` is ``off``), and whether it is its default.

``postgres -C NAME`` prints a value in the unit that the setting is kept in, and starts no server.
A setting with a unit is then written in the largest one of which it is a whole number, as SHOW
does.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from assay.contracts.systems.abilities import Spelled
from assay.systems.postgresql.installation import Installation
from assay.text.sizes import in_largest_unit

_NO_DEFAULTS = frozenset({
    "max_connections", "datestyle", "default_text_search_config", "timezone", "log_timezone",
    "lc_messages", "lc_monetary", "lc_numeric", "lc_time", "dynamic_shared_memory_type",
})  # fmt: skip
"""Assay chooses the first by the number of clients; initdb writes the others into its file."""
_MEMORY = (("B", 1), ("kB", 1 << 10), ("MB", 1 << 20), ("GB", 1 << 30), ("TB", 1 << 40))
_TIME = (
    ("us", 1),
    ("ms", 1000),
    ("s", 1_000_000),
    ("min", 60_000_000),
    ("h", 3_600_000_000),
    ("d", 86_400_000_000),
)
_KEPT_IN_MEMORY = ("kB", "MB", "B", "8kB", "4kB", "16kB", "32kB", "2kB")
_KEPT_IN_TIME = ("ms", "s", "min", "us")
_LONGEST_S = 60
"""Of one call of the program."""
_WHOLE = re.compile(r"[1-9][0-9]*")
_SIZE_OF_A_UNIT = re.compile(r"([0-9]*)(\w+)")


def spelled(installation: Installation, settings: Mapping[str, str]) -> Iterator[Spelled]:
    """Each setting, in their order; one that the program does not take as it was given."""
    program = installation.program("postgres")
    for name, value in settings.items():
        plain = name.strip().lower()
        kept = _read(program, plain, value.strip())
        if kept is None:
            yield Spelled(name, value, is_default=False)
            continue
        is_default = plain not in _NO_DEFAULTS and kept == _read(program, plain, None)
        yield Spelled(plain, _with_unit(program, plain, kept), is_default)


@functools.cache
def _read(program: Path, name: str, value: str | None) -> str | None:
    """The value as the program keeps it, of the default where none is given; None where it refuses
    it, or does not answer. Its files of settings are those of no server."""
    tried = _tried(program, name, value)
    return tried.stdout.removesuffix("\n") if tried.returncode == 0 else None


def _tried(program: Path, name: str, value: str | None) -> subprocess.CompletedProcess[str]:
    given: Sequence[str] = () if value is None else ("-c", f"{name}={value}")
    # As the first argument, -C is allowed to root as well.
    command = [str(program), "-C", name, "-c", "config_file=/dev/null", "-D", "/", *given]
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=_LONGEST_S,
            env={**os.environ, "LC_ALL": "C"},
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, returncode=1, stdout="", stderr="")


def _with_unit(program: Path, name: str, kept: str) -> str:
    """``4096`` of a setting that is kept in kB as ``4MB``; the text itself where it has no unit."""
    if not _WHOLE.fullmatch(kept):
        return kept
    units = _tried(program, name, f"{kept}x").stderr.partition("Valid units")[2]
    for chain, names in ((_MEMORY, _KEPT_IN_MEMORY), (_TIME, _KEPT_IN_TIME)):
        if f'"{names[0]}"' not in units:
            continue
        for unit in names:
            times, word = _parts(unit)
            if _read(program, name, f"{int(kept) * times}{word}") == kept:
                return in_largest_unit(int(kept) * times * dict(chain)[word], chain)
    return kept


def _parts(unit: str) -> tuple[int, str]:
    """``8kB`` as 8 and ``kB``."""
    found = _SIZE_OF_A_UNIT.fullmatch(unit)
    assert found is not None, unit
    return int(found[1] or 1), found[2]
