"""The keys of ``[tests.NAME]`` whose values name something: each is declared with what reads it,
which refuses a name that is none. Fields of `assay.workload.values.Test` are these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Struct, field
from msgspec.structs import replace

from assay import registry
from assay.contracts.capabilities import CAPABILITIES
from assay.contracts.driving import CACHES, Driving
from assay.contracts.observation import PERCENTILES, Headline, ResponseLimit
from assay.errors import ArgumentError
from assay.text import pattern, quantities
from assay.text.keys import (
    SCALAR,
    TEXT,
    TEXTS,
    Key,
    Keys,
    Listed,
    NumberWithin,
    OneOf,
    OneOfNames,
    SeveralKeys,
    in_file,
    named,
)
from assay.text.phrases import did_you_mean
from assay.text.toml_file import TomlTable
from assay.workload import driving, script_names
from assay.workload.parameters import Scalar
from assay.workload.schema import Expression
from assay.workload.steps import (
    PARAMETERS,
    Deferred,
    Names,
    script_of_key,
    scripts_of_key,
    seconds_of_key,
)

PROCEDURES = ("drive", "update", "limit", "reference", "connect")


class Reference(Struct, frozen=True):
    """``[tests.NAME.reference]``."""

    dump: Annotated[str, in_file(
        TEXT, "A query; its rows must be the same, in the same order.", script_of_key,
    )]  # fmt: skip
    stagger: Annotated[str, in_file(
        TEXT, "The parameter that holds the seconds between the starts of two clients.",
        seconds_of_key,
    )]  # fmt: skip
    pause: Annotated[str, in_file(
        TEXT, "The parameter that holds the seconds of pause after a transaction.",
        seconds_of_key,
    )]  # fmt: skip
    at_once: Annotated[int, in_file(
        NumberWithin(quantities.CLIENTS), "Clients that must work at the same time.",
    )]  # fmt: skip
    each: Annotated[str, in_file(
        TEXT, "The variable that numbers the dumps, from 0: one for each client.",
    )]  # fmt: skip
    own: Annotated[str, in_file(
        TEXT, "The part of the rows that no other client can change.", script_of_key,
    )] = ""  # fmt: skip
    parameters: Annotated[Mapping[str, Expression], replace(
        PARAMETERS, help="Parameters that differ for the single client."
    )] = field(default_factory=dict)  # fmt: skip


def _kinds_of_steps() -> Mapping[str, Keys]:
    """By their ``do``; without those of other packages that declare no keys."""
    declared = {name: registry.step(name).declared_keys() for name in sorted(registry.steps())}
    do = Key("do", OneOfNames(registry.steps), "The kind of step.", is_required=True)
    return {name: Keys((do, *own)) for name, own in declared.items() if own is not None}


STEPS = SeveralKeys((
    Key("steps", help="[[tests.NAME.steps]]: what the test does, in order; without steps: load and "
        "drive.", below=Keys(variant="do", variants=_kinds_of_steps), is_list=True),
    Key("procedure", OneOf(PROCEDURES), "A short name of common steps."),
    Key("reference", help='With procedure = "reference": what is dumped, compared and overlapped.',
        below=Reference),
))  # fmt: skip
DRIVING = SeveralKeys(
    driving.IN_WORKLOADS, lambda section, names: Driving(**driving.read(section, names.parameters))
)


def _caches(section: TomlTable, key: str, _names: Names) -> tuple[str, ...]:
    """``cache = ["cold", "warm"]``."""
    found = section.texts(key)
    for place, word in enumerate(found):
        if word not in CACHES or word in found[:place]:
            raise section.error(
                f"unknown state of the cache {word!r}"
                if word not in CACHES
                else f"{word} is given twice",
                key,
                hint=did_you_mean(word, CACHES) if word not in CACHES else None,
            )
    return found


CACHE = in_file(
    TEXTS, "States of the caches when a measurement begins, each measured.", _caches, name="cache"
)


def _data_to_buffer(section: TomlTable, key: str, names: Names) -> float | str:
    if section.is_text(key) and section.text(key) in names.parameters:
        return section.text(key)
    return section.number(key, quantities.DATA_TO_BUFFER)


DATA_TO_BUFFER = in_file(
    (TEXT, NumberWithin(quantities.DATA_TO_BUFFER)),
    "How many times larger the data are than the system's buffer: a number, or a parameter.",
    _data_to_buffer,
)


def _checks(section: TomlTable, key: str, names: Names) -> tuple[str, ...]:
    given = section.texts(key, may_be_empty=True)
    return script_names.named_scripts(section, key, given, names.checks, "check")


_ANY_NUMBER = Listed(TEXT, may_be_empty=True)
CHECKS = in_file(_ANY_NUMBER, "The checks that are made; otherwise all.", _checks)
COUNTED_CHECKS = in_file(_ANY_NUMBER, "Checks whose finds are counted and fail no run.", _checks)


def _levels(section: TomlTable, name: str, names: Names) -> tuple[Scalar, ...]:
    """Of one parameter."""
    if name not in names.parameters:
        hint = did_you_mean(name, names.parameters)
        raise section.error(f"unknown parameter {name!r}", name, hint=hint)
    parameter, levels = names.parameters[name], section.scalars(name)
    for value in levels:
        if not parameter.fits(value):
            raise section.error(f"{name}: {value!r} is not {parameter.type}", name)
        try:
            parameter.check(value)
        except ArgumentError as error:
            raise section.error(error.message, name, hint=error.hint) from error
    return levels


DEFAULTS = in_file(
    (), "Parameter → its levels in this test where none is given.",
    below=named(Listed(SCALAR), _levels),
)  # fmt: skip


def _needs(section: TomlTable, key: str, _names: Names) -> tuple[str, ...]:
    needs = section.texts(key, may_be_empty=True)
    for number, name in enumerate(needs):
        if name not in CAPABILITIES:
            hint = did_you_mean(name, CAPABILITIES)
            raise section.error(f"unknown capability {name!r}", key, number, hint=hint)
    return needs


NEEDS = in_file(_ANY_NUMBER, "Capabilities that a system must have.", _needs)


def _goes_without(section: TomlTable, key: str, _names: Names) -> dict[str, tuple[str, ...]]:
    own, needs = section.section(key), section.texts("needs", (), may_be_empty=True)
    found = {}
    for name in own.names():
        script_names.refuse_unknown_dialect(own, name)
        found[name] = own.texts(name)
        for number, capability in enumerate(found[name]):
            if capability not in needs:
                raise own.error(
                    f"the test does not need {capability!r}, so that it cannot go without",
                    name,
                    number,
                    hint=did_you_mean(capability, needs) or f'needs = ["{capability}"]',
                )
    return found


GOES_WITHOUT = in_file(
    (), "Dialect or language → those of the needs that its systems may lack: they run the test all "
    "the same, with a warning.",
    _goes_without, below=named(TEXTS),
)  # fmt: skip


def _reason(section: TomlTable, name: str, _names: Names) -> str:
    """Reports show it where the number would stand."""
    script_names.refuse_unknown_dialect(section, name)
    return section.text(name)


NOT_EXPRESSIBLE = in_file(
    (), "Dialect or language → why it cannot express the test.", below=named(TEXT, _reason)
)


def _headline(section: TomlTable, key: str, names: Names) -> Headline:
    own = section.section(key)
    found = Headline(own.text("title"), scripts_of_key(own, "transactions", names))
    own.done()
    return found


HEADLINE = in_file(
    (), "The rate by which the test is known, per minute: of transactions that committed or were "
    "rolled back by `\\abort`.",
    _headline,
    below=Keys((
        Key("title", TEXT, "What is counted, in the plural: `new orders`.", is_required=True),
        Key("transactions", TEXTS, "The scripts whose transactions are counted.",
            is_required=True),
    )),
)  # fmt: skip
_LIMIT = pattern(r"\s*(?P<percentile>p[0-9.]+)\s*<\s*(?P<limit>[^=\s].*\D)")
_LIMIT_S = replace(quantities.LATENCY_LIMIT_S, may_be_none=False)
_FORM = 'new-order = "p90 < 5s"; percentiles: ' + ", ".join(PERCENTILES)


def _response_limits(section: TomlTable, key: str, names: Names) -> tuple[ResponseLimit, ...]:
    own = section.section(key)
    return tuple(
        ResponseLimit(name, *_limit(own, word))
        for word in own.names()
        for name in script_names.named_scripts(own, word, [word], names.scripts)
    )


def _limit(section: TomlTable, key: str) -> tuple[str, int]:
    """``p90 < 5s``."""
    words = section.text(key)
    found = _LIMIT.fullmatch(words)
    if found is None or found["percentile"] not in PERCENTILES:
        raise section.error(
            f"expected a percentile, < and a duration with its unit, found {words!r}",
            key,
            hint=_FORM,
        )
    try:
        limit_s = _LIMIT_S.of_word(found["limit"])
    except ValueError as error:
        raise section.error(str(error), key, hint=_FORM) from None
    return found["percentile"], round(limit_s * 1e9)


RESPONSE_LIMITS = in_file(
    (), 'Script → how long its transactions may take: "p90 < 5s".', _response_limits,
    below=named(TEXT),
)  # fmt: skip
DEFERRED = in_file((), "Who runs the scripts that others queue with \\defer.", below=Deferred)
