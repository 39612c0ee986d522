"""How the values that parts have of a field become that of the whole. Each field of an observation
says it; `assay.contracts.observation.merging` does it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

Rule = Callable[[Sequence[Any]], Any]


class Keyed(Struct, frozen=True):
    """Of lists: the items that have the same in these fields are one, in the order of the first."""

    keys: tuple[str, ...]
    first: str = ""
    """The field by which the first of them is found, whose text stands; empty: the first part's."""
    in_all: bool = False
    """Without those that a part does not have."""
    of: Rule | None = None
    """Makes one item of several; None: as their fields say."""


class NamedRule(Struct, frozen=True):
    """A rule that knows more than the values."""

    meaning: str


PARTS: Final = NamedRule("as the fields of the value say; None where a part has none")
KNOWN_PARTS: Final = NamedRule("the same of those parts that have one")
LATENCY: Final = NamedRule("the distribution of all samples")
WHOLE: Final = NamedRule("made anew of the whole, where it is merged")


class FieldMerge(Struct, frozen=True):
    """What is said of a field."""

    together: Rule | Keyed | NamedRule
    """Of parts that were measured at the same time, by several machines or processes."""
    later: Rule | Keyed | NamedRule
    """Of parts that were measured one after another."""


def merged(
    together: Rule | Keyed | NamedRule, later: Rule | Keyed | NamedRule | None = None
) -> FieldMerge:
    """``later``: where that is another rule."""
    return FieldMerge(together, together if later is None else later)


def same(values: Sequence[Any]) -> Any:
    """Of what is the same in all parts, or is said of the whole."""
    return values[0]


def last(values: Sequence[Any]) -> Any:
    return values[-1]


def none(_values: Sequence[Any]) -> None:
    """Of what is found out of the whole alone."""


def _known(of_all: Callable[[Iterable[Any]], Any]) -> Rule:
    return lambda values: None if any(value is None for value in values) else of_all(values)


sum_or_none: Final = _known(sum)
"""None where one of them is not known; so are the next two."""
greatest_or_none: Final = _known(max)
least_or_none: Final = _known(min)


def union(values: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    """Each item once."""
    return tuple(dict.fromkeys(one for value in values for one in value))


def counts(values: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Sums by name; what is 0 is left out."""
    return dict(sum((Counter(value) for value in values), Counter()))


def both(values: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """All names; of one that several have, the last."""
    return {name: one for value in values for name, one in value.items()}
