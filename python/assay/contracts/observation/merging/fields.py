"""Takes parts of an observation, or of a part of it; returns the one of all, as each field says
(`assay.contracts.observation.parts.merged`)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar, get_type_hints

from msgspec.structs import replace

from assay.contracts.observation.parts.latency import merged_latency_or_none
from assay.contracts.observation.parts.merged import (
    KNOWN_PARTS,
    LATENCY,
    PARTS,
    WHOLE,
    FieldMerge,
    Keyed,
    NamedRule,
    Rule,
)
from assay.contracts.observation.parts.shape import Shape

One = TypeVar("One", bound=Shape)


@cache
def rules(kind: type[Shape]) -> Mapping[str, FieldMerge]:
    """Of each field that says it."""
    hints = get_type_hints(kind, include_extras=True)
    return {
        name: said
        for name in kind.__struct_fields__
        for said in getattr(hints[name], "__metadata__", ())
        if isinstance(said, FieldMerge)
    }


def of_all(parts: Sequence[One], *, is_later: bool = False) -> One:
    """Parts that were measured at the same time; ``is_later``: one after another. What is made of
    the whole is the first part's as yet."""
    said = {
        name: one.later if is_later else one.together for name, one in rules(type(parts[0])).items()
    }
    found = {
        name: _value(rule, [getattr(part, name) for part in parts], is_later)
        for name, rule in said.items()
        if rule is not WHOLE
    }
    return replace(parts[0], **found)


def _value(rule: Rule | Keyed | NamedRule, values: Sequence[Any], is_later: bool) -> Any:
    if isinstance(rule, Keyed):
        return _by(rule, values, is_later)
    if not isinstance(rule, NamedRule):
        return rule(values)
    if rule is LATENCY:
        return merged_latency_or_none(values)
    known = [value for value in values if value is not None]
    if not known or (rule is PARTS and len(known) < len(values)):
        return None
    assert rule in (PARTS, KNOWN_PARTS)
    return of_all(known, is_later=is_later)


def _by(rule: Keyed, lists: Sequence[Sequence[Any]], is_later: bool) -> tuple[Any, ...]:
    found: dict[Hashable, list[Any]] = {}
    key = attrgetter(*rule.keys)
    for items in lists:
        for item in items:
            found.setdefault(key(item), []).append(item)
    several = [*found.values()]
    if rule.in_all:
        several = [same for same in several if len(same) == len(lists)]
    if rule.first:
        several = [sorted(same, key=attrgetter(rule.first)) for same in several]
    if rule.of is not None:
        return tuple(map(rule.of, several))
    return tuple(of_all(same, is_later=is_later) for same in several)
