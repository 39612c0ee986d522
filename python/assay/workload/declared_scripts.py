"""Takes ``scripts``, ``mix`` and ``order`` of a test, a step or a group; returns the scripts that
its clients run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from assay.files.toml_file import Section
from assay.text import quantities
from assay.text.nearest import did_you_mean
from assay.workload.values import Script

ORDERS = ("sequence", "mix")


@dataclass(frozen=True)
class Scripts:
    """The scripts that clients run, and their order."""

    names: tuple[str, ...] = ()
    order: str = "sequence"
    mix: Mapping[str, int] = field(default_factory=dict)
    """Name → weight."""


def read(section: Section, known: Mapping[str, Script]) -> Scripts:
    """The scripts, none where the section names none; raises `ExperimentError` with the line."""
    mix = _mix(section, known)
    listed = named(section, "scripts", section.texts("scripts", ()), known, "script")
    order = section.choice("order", ORDERS, "mix" if mix else "sequence")
    if mix and order != "mix":
        raise section.error("weights have no effect in a sequence", "mix", hint='order = "mix"')
    return Scripts(tuple(dict.fromkeys([*listed, *mix])), order, mix)


def _mix(section: Section, known: Mapping[str, Script]) -> dict[str, int]:
    """``[tests.NAME.mix]``: script → its weight."""
    weights = section.section("mix")
    mix = {
        name: weights.whole(word, quantities.WEIGHT_IN_A_MIX)
        for word in weights.names()
        for name in named(weights, word, (word,), known, "script")
    }
    if mix and not any(mix.values()):
        raise section.error("at least one weight of a mix must be above 0", "mix")
    return mix


def named(
    section: Section, key: str, words: Iterable[str], known: Mapping[str, Script], kind: str
) -> tuple[str, ...]:
    """The names of the scripts or checks (``kind``, for messages) that the words mean: each by its
    name, by its path, or with others by a pattern of paths."""
    names: dict[str, None] = {}
    for word in words:
        meant = [script.name for script in known.values() if _means(word, script)]
        if not meant:
            raise section.error(
                f"no {kind} is called {word!r}", key, hint=did_you_mean(word, _words(word, known))
            )
        names |= dict.fromkeys(meant)
    return tuple(names)


def _means(word: str, script: Script) -> bool:
    """Files that are no SQL may be data, so they are scripts only by their ending."""
    is_script = script.language == "sql" or word.endswith(Path(script.path).suffix)
    return bool(word) and is_script and (word == script.name or Path(script.path).match(str(word)))


def _words(word: str, known: Mapping[str, Script]) -> list[str]:
    """The known ones, in the form in which the word is."""
    is_path = "/" in word or "." in word
    return [script.path if is_path else script.name for script in known.values()]
