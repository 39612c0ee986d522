"""Makes the JSON Schemas of experiment and workload files of the keys that are declared for them
(`assay.experiment.file_keys`, `assay.workload.file_keys`)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay import registry
from assay.contracts.storages.shared_options import SHARED_OPTIONS
from assay.experiment.file_keys import EXPERIMENT
from assay.experiment.settings.catalogue import OPTIONS
from assay.text.files.keys import (
    AnyText,
    Key,
    Keys,
    Kind,
    Listed,
    NumberWithin,
    NumberWord,
    OneOf,
    OneOfNames,
    Scalar,
    TrueOrFalse,
)
from assay.text.quantities import Duration, Percent
from assay.workload.file_keys import WORKLOAD

ROOT = Path(__file__).parents[1]
SHIPPED = ROOT / "python" / "assay"
KINDS: Mapping[str, Keys] = {"experiment": EXPERIMENT, "workload": WORKLOAD}

Schema = dict[str, Any]
_TEXT: Schema = {"type": "string"}
_ARTICLES = {False: "A", True: "An"}


def schema_of(kind: str) -> Schema:
    """The JSON Schema of that kind of file."""
    found = _table(KINDS[kind], (), _helps(kind))
    if kind == "experiment":
        _options_of_kinds(found["properties"]["storage"]["additionalProperties"])
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": f"{_ARTICLES[kind[0] in 'aeiou']} {kind} file of Assay",
        **found,
    }


def _options_of_kinds(storage: Schema) -> None:
    """[storage.NAME] has the options of its kind, where that is not of another package."""
    keys = [*storage["properties"]]
    storage["dependencies"] = {"currency": ["price_per_gb"]}
    storage["allOf"] = []
    for kind in registry.storages():
        specs = (*registry.storage(kind).option_specs, *SHARED_OPTIONS)
        options = {
            spec.name: {
                "description": spec.help,
                **({"enum": [*spec.levels]} if spec.levels else {}),
            }
            for spec in specs
        }
        said = {"description": storage["properties"]["kind"]["description"], "const": kind}
        of_kind = {"properties": {"kind": said}, "required": ["kind"]}
        names = {"enum": [*keys, *(spec.name for spec in specs)]}
        storage["allOf"].append(
            {"if": of_kind, "then": {"propertyNames": names, "properties": options}}
        )


def pages() -> dict[Path, str]:
    """File → text: where `assay schema` finds it, and in the references."""
    found = {}
    for kind in KINDS:
        text = json.dumps(schema_of(kind), indent=2, ensure_ascii=False) + "\n"
        found[SHIPPED / kind / f"{kind}.schema.json"] = text
        found[ROOT / "docs" / "reference" / f"{kind}.schema.json"] = text
    return found


def _table(keys: Keys, path: tuple[str, ...], helps: Mapping[str, str]) -> Schema:
    """The schema of a table, whose unknown keys are mistakes."""
    if keys.variant:
        return _variants(keys, path, helps)
    found: Schema = {"type": "object", "properties": {}}
    for key in keys.declared:
        here = (*path, key.name)
        found["properties"][key.name] = {**_said(key, here, helps), **_value(key, here, helps)}
    if keys.of_any_name is None:
        found["additionalProperties"] = False
    else:
        found["additionalProperties"] = _value(keys.of_any_name, path, helps)
    for pair in keys.exclusive:
        values = {
            key.name: {**_said(key, (*path, key.name), helps), "not": {"type": "object"}}
            for name in pair
            for key in keys.declared
            if key.name == name
        }
        found["not"] = {"required": [*pair], "properties": values}
    if required := sorted(key.name for key in keys.declared if key.is_required):
        found["required"] = required
    return found


def _variants(keys: Keys, path: tuple[str, ...], helps: Mapping[str, str]) -> Schema:
    """One of several tables, or one of another package."""
    known = []
    for word, of_variant in keys.variants().items():
        found = _table(of_variant, path, helps)
        said = {"description": found["properties"][keys.variant]["description"]}
        found["properties"][keys.variant] = {**said, "const": word}
        known.append({**found, "title": f'{keys.variant} = "{word}"'})
    other = {keys.variant: {**said, "not": {"enum": [*keys.variants()]}}}
    return {"oneOf": [*known, {"type": "object", "required": [keys.variant], "properties": other}]}


def _value(key: Key, path: tuple[str, ...], helps: Mapping[str, str]) -> Schema:
    """What may stand there, as any of several schemas."""
    shapes = [_kind(kind) for kind in key.each]
    if key.below is not None:
        below = _table(key.below, path, helps)
        shapes.append({"type": "array", "items": below} if key.is_list else below)
    flat: list[Schema] = []
    for shape in shapes:
        for one in shape["anyOf"] if set(shape) == {"anyOf"} else [shape]:
            if one not in flat:
                flat.append(one)
    return flat[0] if len(flat) == 1 else {"anyOf": flat}


def _kind(kind: Kind | NumberWord) -> Schema:
    match kind:
        case AnyText():
            return _TEXT
        case TrueOrFalse():
            return {"type": "boolean"}
        case Scalar():
            return {"type": ["string", "number", "boolean"]}
        case NumberWord():
            return {"type": ["string", "number"], "pattern": "^ *(none *$|[0-9.])"}
        case OneOf(words=words):
            return {"enum": [*words]}
        case OneOfNames(names=names):
            return {"anyOf": [{"enum": [*names()]}, _TEXT]}
        case NumberWithin():
            return _number(kind)
        case Listed(of=of, may_be_empty=may_be_empty):
            listed: Schema = {"type": "array", "items": _kind(of)}
            if not may_be_empty:
                listed["minItems"] = 1
            return {"anyOf": [_kind(of), listed]}


def _number(kind: NumberWithin) -> Schema:
    quantity = kind.quantity
    found: Schema = {"type": "integer" if not hasattr(quantity, "may_be_none") else "number"}
    if abs(quantity.least) < 2**53:
        found["minimum"] = 0 if getattr(quantity, "may_be_none", False) else quantity.least
    if abs(quantity.most) < 2**53:
        found["maximum"] = quantity.most
    if isinstance(quantity, Duration | Percent):
        return {"anyOf": [found, {"type": "string", "pattern": quantity.pattern}]}
    return found


def _helps(kind: str) -> dict[str, str]:
    """Key, or the end of its path → the help of the setting that says the same."""
    helps = {}
    for option in OPTIONS.values():
        if option.path is not None:
            sentence = re.sub(r" \[default: .*\]$", "", option.file_help or option.help)
            # A workload has the keys of [drive] in its tests and steps.
            of_drive = option.path.removeprefix("drive.")
            if kind == "experiment" or of_drive != option.path:
                helps[option.path if kind == "experiment" else of_drive] = sentence
    return helps


def _said(key: Key, path: tuple[str, ...], helps: Mapping[str, str]) -> Schema:
    ends = (".".join(path[start:]) for start in range(len(path)))
    said = key.help or next((helps[end] for end in ends if end in helps), "")
    return {"description": said} if said else {}
