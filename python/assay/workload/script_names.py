"""Takes a word by which a workload file names scripts, checks, a dialect or a language; returns
what it means, or raises an error with the file, the line and the nearest name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Protocol

from assay import registry
from assay.contracts.capabilities import LANGUAGES, SQL
from assay.text.phrases import did_you_mean
from assay.text.toml_file import TomlTable

CHECKS = "checks"
"""The folder whose files are checks, whatever their ending."""


class NamedScript(Protocol):
    """A script or a check, as far as it is named."""

    @property
    def path(self) -> str: ...

    @property
    def language(self) -> str: ...


def named_scripts(
    section: TomlTable,
    key: str,
    words: Iterable[str],
    known: Mapping[str, NamedScript],
    kind: str = "script",
) -> tuple[str, ...]:
    """The names that any of the words means, each once, in the order of the words. ``kind``: what
    those of ``known`` are called; ``key``: where the words stand in ``section``."""
    names: dict[str, None] = {}
    for number, word in enumerate(words):
        found = meant_scripts(word, known)
        if not found:
            hint = did_you_mean(word, _words(word, known))
            raise section.error(f"no {kind} is called {word!r}", key, number, hint=hint)
        names |= dict.fromkeys(found)
    return tuple(names)


def meant_scripts(word: str, known: Mapping[str, NamedScript]) -> tuple[str, ...]:
    """The names that the word means; empty: there is none."""
    near = _that_may_be_meant(word, known)
    return tuple(name for name, script in near if _is_meant(name, script, word))


def _that_may_be_meant(
    word: str, known: Mapping[str, NamedScript]
) -> Iterable[tuple[str, NamedScript]]:
    """Few, where the word is no glob: each word of a file is compared with each of its scripts."""
    last = word[word.rfind("/") + 1 :]
    if last in _ANYTHING or not _SIGNS_OF_A_GLOB.isdisjoint(last):
        return known.items()
    return [one for one in known.items() if one[0] == word or one[1].path.endswith(last)]


_ANYTHING = ("", ".")
"""``reads/*.sql/`` and ``reads/*.sql/.`` are ``reads/*.sql``."""
_SIGNS_OF_A_GLOB = frozenset("*?[")


def _is_meant(name: str, script: NamedScript, word: str) -> bool:
    """Files that are no SQL may be data, so they are scripts only by their ending."""
    path = _path(script.path)
    is_named = script.language == SQL or path.parts[0] == CHECKS or word.endswith(path.suffix)
    return bool(word) and is_named and (word == name or path.match(str(word)))


_path = cache(Path)


def _words(word: str, known: Mapping[str, NamedScript]) -> list[str]:
    """What is known, as the word is spelled: paths, or names."""
    is_path = "/" in word or "." in word
    return [script.path if is_path else name for name, script in known.items()]


_DECLARED = 'dialects = ["FILE.toml"]'


def hint_if_unknown_dialect(name: str) -> str | None:
    """None where a system speaks it; else the name that is meant: a system is named by its dialect,
    which several systems may share."""
    dialects = registry.dialects()
    known = [*dialects, *(language for language in LANGUAGES if language not in dialects)]
    if name in known:
        return None
    if name in registry.systems():
        return f"the dialect of {name} is called {registry.system(name).dialect.name}"
    return f"{did_you_mean(name, known)}; of a file: {registry.WORKLOAD_FILE}: {_DECLARED}"


def refuse_unknown_dialect(section: TomlTable, name: str) -> None:
    """Raises `ExperimentError` at the key ``name`` where no system speaks that dialect."""
    if hint := hint_if_unknown_dialect(name):
        raise section.error(f"no dialect is called {name!r}", name, hint=hint)
