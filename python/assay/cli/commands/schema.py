"""``assay schema``: prints the schema of a file that people write, or of a document that Assay
writes."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from functools import partial

import click
import msgspec

from assay import _engine, registry
from assay.contracts.observation import Observation
from assay.contracts.storages.protocol import SHARED_OPTIONS
from assay.experiment.file_keys import EXPERIMENT
from assay.experiment.settings_catalogue import OPTIONS
from assay.record.file import schema as record_schema
from assay.report import comparison_document, trend
from assay.report.program_tables import JsonSchema
from assay.report.tidy import schema as report_schema
from assay.text.keys import (
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

_TEXT: JsonSchema = {"type": "string"}
_ARTICLES = {False: "A", True: "An"}


def _of_file(kind: str) -> JsonSchema:
    """The JSON Schema of a kind of file that people write, of its declared keys."""
    found = _table(EXPERIMENT if kind == "experiment" else WORKLOAD, (), _helps(kind))
    if kind == "experiment":
        storages = found["properties"]["storage"]["additionalProperties"]
        if not isinstance(storages, bool):
            _options_of_kinds(storages)
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": f"{_ARTICLES[kind[0] in 'aeiou']} {kind} file of Assay",
        **found,
    }


def _options_of_kinds(storage: JsonSchema) -> None:
    """[storage.NAME] has the options of its kind, where that is not of another package."""
    keys = [*storage["properties"]]
    storage["dependencies"] = {"currency": ["price_per_gb"]}
    storage["allOf"] = []
    for kind in registry.storages():
        specs = (*registry.storage(kind).option_specs, *SHARED_OPTIONS)
        options: dict[str, JsonSchema] = {}
        for spec in specs:
            options[spec.name] = {"description": spec.help}
            if spec.levels:
                options[spec.name]["enum"] = spec.levels
        described = storage["properties"]["kind"]["description"]
        of_kind: JsonSchema = {
            "properties": {"kind": {"description": described, "const": kind}},
            "required": ["kind"],
        }
        names: JsonSchema = {"enum": [*keys, *(spec.name for spec in specs)]}
        storage["allOf"].append(
            {"if": of_kind, "then": {"propertyNames": names, "properties": options}}
        )


def _table(keys: Keys, path: tuple[str, ...], helps: Mapping[str, str]) -> JsonSchema:
    """The schema of a table, whose unknown keys are mistakes."""
    if keys.variant:
        return _variants(keys, path, helps)
    found: JsonSchema = {"type": "object", "properties": {}}
    for key in keys.declared:
        here = (*path, key.name)
        found["properties"][key.name] = {**_said(key, here, helps), **_value(key, here, helps)}
    if keys.of_any_name is None:
        found["additionalProperties"] = False
    else:
        found["additionalProperties"] = _value(keys.of_any_name, path, helps)
    for pair in keys.exclusive:
        values: dict[str, JsonSchema] = {
            key.name: {**_said(key, (*path, key.name), helps), "not": {"type": "object"}}
            for name in pair
            for key in keys.declared
            if key.name == name
        }
        found["not"] = {"required": [*pair], "properties": values}
    if required := sorted(key.name for key in keys.declared if key.is_required):
        found["required"] = required
    return found


def _variants(keys: Keys, path: tuple[str, ...], helps: Mapping[str, str]) -> JsonSchema:
    """One of several tables, or one of another package."""
    known: list[JsonSchema] = []
    for word, of_variant in keys.variants().items():
        found = _table(of_variant, path, helps)
        said: JsonSchema = {"description": found["properties"][keys.variant]["description"]}
        found["properties"][keys.variant] = {**said, "const": word}
        known.append({**found, "title": f'{keys.variant} = "{word}"'})
    other: dict[str, JsonSchema] = {keys.variant: {**said, "not": {"enum": [*keys.variants()]}}}
    return {"oneOf": [*known, {"type": "object", "required": [keys.variant], "properties": other}]}


def _value(key: Key, path: tuple[str, ...], helps: Mapping[str, str]) -> JsonSchema:
    """What may stand there, as any of several schemas."""
    shapes = [_kind(kind) for kind in key.each]
    if key.table is not None:
        below = _table(key.table, path, helps)
        shapes.append({"type": "array", "items": below} if key.is_list else below)
    flat: list[JsonSchema] = []
    for shape in shapes:
        for one in shape["anyOf"] if set(shape) == {"anyOf"} else [shape]:
            if one not in flat:
                flat.append(one)
    return flat[0] if len(flat) == 1 else {"anyOf": flat}


def _kind(kind: Kind | NumberWord) -> JsonSchema:
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
            listed: JsonSchema = {"type": "array", "items": _kind(of)}
            if not may_be_empty:
                listed["minItems"] = 1
            return {"anyOf": [_kind(of), listed]}


def _number(kind: NumberWithin) -> JsonSchema:
    quantity = kind.quantity
    found: JsonSchema = {"type": "integer" if not hasattr(quantity, "may_be_none") else "number"}
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


def _said(key: Key, path: tuple[str, ...], helps: Mapping[str, str]) -> JsonSchema:
    ends = (".".join(path[start:]) for start in range(len(path)))
    said = key.help or next((helps[end] for end in ends if end in helps), "")
    return {"description": said} if said else {}


def observation() -> JsonSchema:
    """The engine's own words, and the fields that only Python knows behind them."""
    engine: JsonSchema = json.loads(_engine.observation_schema())
    types = engine["$defs"]
    for name, shape in msgspec.json.schema(Observation)["$defs"].items():
        known = engine if name == "Observation" else types.setdefault(name, shape)
        for field, field_shape in shape["properties"].items():
            known["properties"].setdefault(field, field_shape)
    return {**engine, "title": "Observation", "additionalProperties": False}


DOCUMENTS: Mapping[str, Callable[[], JsonSchema]] = {
    "experiment": partial(_of_file, "experiment"),
    "workload": partial(_of_file, "workload"),
    "report": report_schema.schema,
    "comparison": comparison_document.schema,
    "trend": trend.trend_schema,
    "observation": observation,
}
"""Kind of file or document → its JSON Schema."""
RECORD = "record"


def record_tables() -> str:
    """The tables and views of a record file, as statements of SQL with comments."""
    tables = (statement for migration in record_schema.migrations() for statement in migration)
    return "\n\n".join(f"{statement};" for statement in (*tables, *record_schema.views())) + "\n"


@click.command("schema")
@click.argument("kind", metavar="KIND", type=click.Choice((*DOCUMENTS, RECORD)))
def command(kind: str) -> None:
    """Print the JSON Schema of a kind of file, or the tables of a record.

    experiment and workload are files that you write: editors use the schema
    to complete keys, to show what they mean, and to mark mistakes. report,
    comparison and trend are what --format json prints, observation is what
    the engine measures in a run. For record, the tables and views of a record
    file are printed as SQL.

    \b
    Example:
      assay schema experiment > experiment.schema.json
      taplo check --schema "file://$PWD/experiment.schema.json" two-sizes.toml
    """
    if kind == RECORD:
        text = record_tables()
    else:
        text = json.dumps(DOCUMENTS[kind](), indent=2, ensure_ascii=False) + "\n"
    sys.stdout.write(text)
