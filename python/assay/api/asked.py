"""Takes the arguments of `assay.run`; returns the words that mean the same on a command line, where
one reader says what they mean."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Mapping, Sequence
from os import PathLike, fspath
from typing import Any, TypeVar

from assay import registry
from assay.errors import ArgumentError
from assay.experiment import Scalar
from assay.text.quantities import Quantity, shown

Path = str | PathLike[str]
Levels = Scalar | Sequence[Scalar]
T = TypeVar("T")


def number(name: str, value: Any, quantity: Quantity) -> Any:
    """The value, of which a text may say its unit; raises `ArgumentError` for what it cannot be."""
    if value is None or quantity.holds(value):
        return value
    if not isinstance(value, str):
        raise ArgumentError(f"{name}: expected {quantity.expected}, found {shown(value)}")
    try:
        return quantity.of_word(value)
    except ValueError as error:
        raise ArgumentError(f"{name}: {error}") from None


def choice(name: str, value: str | None, levels: Collection[str]) -> str | None:
    """The value, if it is one of the levels."""
    if value is not None and value not in levels:
        raise registry.unknown(name, str(value), levels)
    return value


def paths(value: Path | Iterable[Path] | None) -> tuple[str, ...]:
    """One path or several."""
    if value is None:
        return ()
    return tuple(str(fspath(path)) for path in _paths(value))


def _paths(value: Path | Iterable[Path]) -> Iterable[Path]:
    return [value] if isinstance(value, str | PathLike) else value


def numbers(value: Levels | None) -> str | None:
    """One number or several, as an option lists them; the reader checks them."""
    return None if value is None else ",".join(map(str, _listed(value)))


def clients(value: Levels | Mapping[str, Levels] | None) -> str | None:
    """``8``, ``[1, 8]``, or of each group of clients: ``{"readers": [4, 8], "writers": 2}``."""
    if not isinstance(value, Mapping):
        return numbers(value)
    return ",".join(f"{name}={numbers(levels)}" for name, levels in value.items())


def settings(given: Mapping[str, Levels]) -> tuple[str, ...]:
    """``{"copies": [1, 10]}`` as ``copies=1,10``."""
    return tuple(f"{name}={_line(_listed(levels))}" for name, levels in given.items())


def _listed(levels: Levels) -> list[Scalar]:
    if isinstance(levels, str) or not isinstance(levels, Iterable):
        return [levels]
    return list(levels)


def _line(levels: Iterable[Scalar]) -> str:
    """As `key_and_values` reads it: a value with a comma stands in quotes."""
    stream = io.StringIO()
    words = [str(level).lower() if isinstance(level, bool) else str(level) for level in levels]
    csv.writer(stream, lineterminator="").writerow(words)
    return stream.getvalue()
