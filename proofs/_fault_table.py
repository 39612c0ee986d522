"""Takes the table of faults, `faults.toml`; returns them, and puts one into a copy."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).with_name("faults.toml")


@dataclass(frozen=True)
class Fault:
    """Text of one file that is replaced, so that the program is wrong."""

    file: str
    line: int
    """Of the first line of `before` when the fault was drawn."""
    before: str
    after: str
    origin: str
    """What was changed, or the commit that mended it, with its subject."""
    caught_by: str = ""
    """The test that failed with it last time, which is tried first; empty: none is known."""
    harmless: str = ""
    """Why it changes nothing that a user could see, so that no test need catch it."""

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line} ({self.origin})"

    @property
    def is_rust(self) -> bool:
        return self.file.endswith(".rs")

    def put_into(self, text: str) -> str | None:
        """The file with the fault: where its text is, nearest to its line; None: it has changed."""
        lines = text.split("\n")
        wanted = self.before.split("\n")
        places = [
            start
            for start in range(len(lines) - len(wanted) + 1)
            if lines[start : start + len(wanted)] == wanted
        ]
        if not places:
            return None
        start = min(places, key=lambda place: abs(place + 1 - self.line))
        after = self.after.split("\n") if self.after else []
        return "\n".join([*lines[:start], *after, *lines[start + len(wanted) :]])


def faults() -> list[Fault]:
    """All of them, in their order."""
    return [Fault(**entry) for entry in tomllib.loads(TABLE.read_text("utf-8"))["fault"]]


def passed_over() -> dict[str, str]:
    """Commits that the drawing passes over → why they are no mends."""
    if not TABLE.exists():
        return {}
    kept: dict[str, str] = tomllib.loads(TABLE.read_text("utf-8")).get("passed_over", {})
    return kept


def as_toml(found: Sequence[Fault], seed: int, no_mends: dict[str, str]) -> str:
    """The text of the table."""
    parts = [f"# Drawn by: python -m proofs._draw_faults --seed {seed}\n"]
    if no_mends:
        parts.append("# Commits that were drawn and mend nothing, with the reason.\n[passed_over]")
        parts += [f"{commit} = {_string(why)}" for commit, why in no_mends.items()]
        parts.append("")
    for fault in found:
        parts += [
            "[[fault]]",
            f"file = {_string(fault.file)}",
            f"line = {fault.line}",
            f"origin = {_string(fault.origin)}",
            f"before = {_string(fault.before)}",
            f"after = {_string(fault.after)}",
            *(f"{key} = {_string(text)}" for key, text in _known(fault).items() if text),
            "",
        ]
    return "\n".join(parts)


def _known(fault: Fault) -> dict[str, str]:
    return {"caught_by": fault.caught_by, "harmless": fault.harmless}


def _string(value: str) -> str:
    if "\n" in value and "'''" not in value and not value.endswith("'"):
        return f"'''\n{value}'''"
    return json.dumps(value, ensure_ascii=False)


@contextmanager
def in_place(fault: Fault, tree: Path) -> Iterator[bool]:
    """The fault is in that copy of the program until the block ends; False: its text is gone."""
    path = tree / fault.file
    text = path.read_text("utf-8") if path.exists() else ""
    changed = fault.put_into(text)
    if changed is None:
        yield False
        return
    path.write_text(changed, "utf-8")
    try:
        yield True
    finally:
        path.write_text(text, "utf-8")
