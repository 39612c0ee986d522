"""Each field of an observation says what becomes of it where parts are merged: none is the first
part's without a word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec.inspect as types
import pytest
from msgspec.structs import replace

from assay.contracts.observation import Latency, Observation, merging, successive
from assay.contracts.observation.clients import GroupReport
from assay.contracts.observation.field_merge import KNOWN_PARTS, PARTS, FieldMerge, Keyed
from assay.contracts.observation.merging import empty_observation, rules
from assay.contracts.observation.observation import EngineObservation
from assay.contracts.observation.transactions import EncodedHistogram, merged_latency

NO_LATENCY = merged_latency([])
OF_ALL = {"version", "resolution"}
"""The same in all parts."""


def example(kind: Any, number: int = 7) -> Any:
    """A value of the type that is none of its defaults."""
    match kind:
        case types.UnionType(types=several):
            known = [one for one in several if not isinstance(one, types.NoneType)]
            return example(known[0], number)
        case types.LiteralType(values=values):
            return values[-1]
        case types.IntType():
            return number
        case types.FloatType():
            return number / 8
        case types.BoolType():
            return True
        case types.StrType():
            return f"{number:016x}"  # as digests are
        case types.VarTupleType(item_type=item) | types.ListType(item_type=item):
            return (example(item, number),)
        case types.DictType(key_type=key, value_type=value):
            return {example(key, number): example(value, number)}
        case types.StructType(cls=cls) if cls is Latency:
            return NO_LATENCY
        case types.StructType(cls=cls) if cls is EncodedHistogram:
            return EncodedHistogram(0, 0, 0, 0, 0, NO_LATENCY.histogram)
        case types.StructType(cls=cls, fields=fields):
            return cls(
                **{one.name: example(one.type, number + at) for at, one in enumerate(fields)}
            )
        case types.EnumType(cls=cls):
            return [*cls][-1]
    raise TypeError(f"give an example of {kind}")


def structs_in(kind: Any) -> list[types.StructType]:
    match kind:
        case types.UnionType(types=several):
            return [found for one in several for found in structs_in(one)]
        case types.VarTupleType(item_type=item):
            return structs_in(item)
        case types.StructType():
            return [kind]
    return []


def merges_fields(said: FieldMerge) -> bool:
    return any(
        rule in (PARTS, KNOWN_PARTS) or (isinstance(rule, Keyed) and rule.of is None)
        for rule in (said.together, said.later)
    )


def test_every_field_says_how_parts_merge() -> None:
    missing: list[str] = []
    seen: set[type] = set()
    to_see = structs_in(types.type_info(Observation))
    while to_see:
        kind = to_see.pop()
        if kind.cls in seen:
            continue
        seen.add(kind.cls)
        said = rules(kind.cls)
        missing += [
            f"{kind.cls.__name__}.{one.name}" for one in kind.fields if one.name not in said
        ]
        to_see += [
            inner
            for one in kind.fields
            for inner in structs_in(one.type)
            if rules(inner.cls) or (one.name in said and merges_fields(said[one.name]))
        ]
    assert missing == []
    assert GroupReport in seen


@pytest.mark.parametrize(
    ("merge", "of_the_first"),
    [(merging.merge, OF_ALL), (successive.successive, OF_ALL | {"clients", "arrival"})],
)
def test_no_field_is_the_first_ones_without_a_word(
    merge: Callable[[Sequence[Observation]], Observation], of_the_first: set[str]
) -> None:
    full = example(types.type_info(Observation))
    nothing = replace(
        empty_observation(1, full.arrival), generators=full.generators, groups=full.groups
    )
    one, other = merge([nothing, full]), merge([full, nothing])
    found = {
        name
        for name in EngineObservation.__struct_fields__
        if getattr(nothing, name) != getattr(full, name)
        and getattr(one, name) == getattr(nothing, name)
        and getattr(other, name) == getattr(full, name)
    }
    assert found <= of_the_first
    same = {
        name
        for name in EngineObservation.__struct_fields__
        if getattr(nothing, name) == getattr(full, name)
    }
    assert same == {"groups", "arrival"}, "the example must differ in every other field"
