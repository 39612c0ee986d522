"""Takes an option that a command does not have; returns what it is called here, where it is one of
pgbench, sysbench, HammerDB, YCSB or hyperfine (`other_tools.toml`)."""

from __future__ import annotations

from collections.abc import Collection
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import msgspec

_FILE = Path(__file__).with_name("other_tools.toml")


class OtherOption(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    tool: str
    names: tuple[str, ...]
    """As they are typed there; ``*`` stands for any characters."""
    here: str
    """What is meant by it here, after ``it is``."""
    beside: str = "--script"
    """The answer holds for commands that have this option."""


@cache
def other_options() -> tuple[OtherOption, ...]:
    import tomllib  # here: only a mistake is looked up

    content = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return msgspec.convert(content["option"], tuple[OtherOption, ...])


def meaning(name: str, options: Collection[str]) -> str | None:
    """``pgbench's --rate is --offered-rate``; ``options``: those of the command. None: no tool has
    it, or the answer is not for this command."""
    for one in other_options():
        if one.beside in options and any(fnmatchcase(name, other) for other in one.names):
            return f"{one.tool}'s {name} is {one.here}"
    return None
