"""Takes versions of programs as these spell them (``15.18``, ``19devel``, ``1.4.1-12-gabc1234``);
returns them without what a package adds, and their order."""

from __future__ import annotations

from assay.text import pattern

_BEFORE_RELEASE = {"devel": 0, "dev": 0, "snapshot": 0, "alpha": 1, "beta": 2, "pre": 3, "rc": 4}
"""Words behind the numbers of a version that comes before the release, in their order."""
_WORDS = "|".join(_BEFORE_RELEASE)
_SAID = pattern(rf"(?i)\d+(?:\.\d+)+(?:[-.~+\w]*\w)?|(?<![\w.])\d+(?:{_WORDS})(?:[-.~+\w]*\w)?")
_OWN = pattern(rf"(?i)v?(\d[^-~+ ]*(?:[-~]+(?:{_WORDS})[\w.]*)?(?:-\d+-g[0-9a-f]{{4,40}})?)")
_WRITTEN = pattern(rf"(?i)v?\d{{1,9}}(?:(?:{_WORDS}|[ab]\d|[.~+-])[\w.~+-]{{0,70}})?")
_PARTS = pattern(r"\d+|(?<=\d)[ab](?=\d)|[a-z]+")
_SHORT = {"a": "alpha", "b": "beta"}
_NUMBERS = pattern(r"(?i)v?([\d.]+)")


def is_version(word: str) -> bool:
    """Whether it is a version, or the beginning of one."""
    return _WRITTEN.fullmatch(word) is not None


def version_in(said: str) -> str | None:
    """The first version in what a program says of itself; None: there is none."""
    found = _SAID.search(said)
    return found and found[0]


def version_numbers(version: str) -> str:
    """Without what a package adds behind them, and without a ``v`` before them. What is said of a
    version before its release stays, and so does the commit (``1.4.1-12-gabc1234``)."""
    found = _OWN.match(version)
    return found[1] if found else version


def version_order(version: str) -> list[tuple[int, int, str]]:
    """9.10 is after 9.9, 18beta1 before 18rc1, and that before 18."""
    parts: list[tuple[int, int, str]] = []
    for part in _PARTS.findall(version.lower().removeprefix("v")):
        before = _BEFORE_RELEASE.get(_SHORT.get(part, part))
        if part.isdecimal():
            parts.append((3, int(part), ""))
        else:
            parts.append((2, 0, part) if before is None else (0, before, ""))
    return [*parts, (1, 0, "")]


def is_of(version: str, beginning: str) -> bool:
    """Whether it begins so: ``15.18`` and ``15devel`` are of ``15``, ``150`` is not."""
    last, following = beginning[-1:], version[len(beginning) :][:1]
    return version.startswith(beginning) and not (last.isdecimal() and following.isdecimal())


def is_below(version: str, least: str) -> bool:
    """Whether its numbers are less, as far as both have them: ``19devel`` can do what 19 can."""
    found, needed = (
        [int(part) for part in numbers[1].split(".") if part] if numbers else []
        for numbers in map(_NUMBERS.match, (version, least))
    )
    return found[: len(needed)] < needed[: len(found)]
