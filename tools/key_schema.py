"""Makes the JSON Schemas of experiment and workload files out of their readers.

The readers are the only list of keys: they ask a `TomlTable` for each key once, with its type. Here
they read every file that is shipped, and every example of the guides, through sections that note
what they are asked for. What a reader asks for in none of these files would be missing;
`tests/cli/test_schema.py` looks for such keys.
"""

from __future__ import annotations

import ast
import json
import re
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

from noted_keys import TEXT, VARIANT, Noting, Schema, Table

from assay import registry
from assay.contracts.storages.shared_options import SHARED_OPTIONS
from assay.errors import ExperimentError
from assay.experiment import from_file as experiment_file
from assay.experiment.settings import levels
from assay.experiment.settings.catalogue import OPTIONS, SETTINGS
from assay.report import check_declarations
from assay.text.files.toml_file import SECTION, TomlTable
from assay.workload import reader

ROOT = Path(__file__).parents[1]
SHIPPED = ROOT / "python" / "assay"
KINDS = ("experiment", "workload")

_ARTICLES = {False: "A", True: "An"}


def schema_of(kind: str) -> Schema:
    """The JSON Schema of that kind of file."""
    top = noted(kind)
    found = _table(top, (), _helps(kind))
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


def noted(kind: str) -> Table:
    """What the reader of that kind of file asked for, over all files."""
    top = Noting.top = Table()
    token = SECTION.set(Noting)
    try:
        for read in readings(kind):
            read()
    finally:
        SECTION.reset(token)
    if kind == "experiment":
        _add_settings(top)
        _share(top)
    return top


def _add_settings(top: Table) -> None:
    """What the file, [quick] and [test.NAME] may say of the settings that the catalogue declares,
    whether a file says it or not."""
    for table in _tables(top):
        for before, of_table in (("", table), ("drive.", table.below.get("drive", Table()))):
            for setting in SETTINGS.values():
                key = (setting.path or "").removeprefix(before)
                if levels.is_read_by_kind(setting) and of_table.shapes.get(key) == []:
                    section = Noting(Path(), "", (), {})
                    section.table = of_table
                    for _ in range(2):  # As by two files: the levels are those of any file.
                        with suppress(ExperimentError):  # The section is empty.
                            levels.value_of(section, setting, key)


def _share(top: Table) -> None:
    """The file, [quick] and [test.NAME] have the same levels and settings: what no file gives in
    one of them may be what another has."""
    tables = [*_tables(top)]
    for key in {key for table in tables for key in table.shapes}:
        known = [table for table in tables if table.shapes.get(key)]
        for table in tables:
            if known and table.shapes.get(key) == []:
                table.shapes[key] = known[0].shapes[key]
                table.choices[key] = known[0].choices.get(key, [])


def _tables(table: Table) -> Iterator[Table]:
    yield table
    for below in table.below.values():
        yield from _tables(below)


def readings(kind: str) -> Iterator[Callable[[], object]]:
    """A function that reads a file, for each file of that kind: the shipped ones, and the examples
    of the guides."""
    with tempfile.TemporaryDirectory(prefix="assay-schema-") as folder:
        examples = [*_examples(Path(folder))]
        if kind == "workload":
            for name in registry.workloads():
                yield lambda name=name: _workload(name)  # type: ignore[misc]
            for file in examples:
                if file.name == registry.WORKLOAD_FILE:
                    yield lambda file=file: _workload(str(file.parent))  # type: ignore[misc]
            return
        for file in [*sorted(registry.EXPERIMENTS_FOLDER.glob("*.toml")), *examples]:
            if file.name != registry.WORKLOAD_FILE and "workload" in tomllib.loads(
                file.read_text()
            ):
                yield lambda file=file: _experiment(file)  # type: ignore[misc]


def _workload(name: str) -> None:
    check_declarations(reader.read(name))


def _experiment(file: Path) -> None:
    """Only the sections of the experiment file itself are noted."""
    whole, plain = reader.read, SECTION

    def unnoted(name: str) -> Any:
        token = plain.set(TomlTable)
        try:
            return whole(name)
        finally:
            plain.reset(token)

    reader.read = unnoted
    try:
        experiment_file.read(file)
    finally:
        reader.read = whole


def _examples(folder: Path) -> Iterator[Path]:
    """The files that the guides show, written down; those in TOML."""
    guides = sorted((ROOT / "docs" / "guides").glob("*.md"))
    for page in [*guides, ROOT / "README.md", ROOT / "tests" / "data" / "every_key.md"]:
        text = page.read_text(encoding="utf-8")
        shown = re.findall(r"```\w+\n(?:#|--) (\S+\.(?:toml|sql|cql|json))\n(.*?)```", text, re.S)
        for name, content in shown:
            file = folder / page.stem / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
        yield from (folder / page.stem / name for name, _ in shown if name.endswith(".toml"))


def _table(table: Table, path: tuple[str, ...], helps: Mapping[str, str]) -> Schema:
    """The schema of a table, whose unknown keys are mistakes."""
    if table.variants:
        known = [_variant(name, one, path, helps) for name, one in sorted(table.variants.items())]
        said = _described((*path, VARIANT), helps)
        other = {"properties": {VARIANT: {**said, "not": {"enum": sorted(table.variants)}}}}
        return {"oneOf": [*known, {"type": "object", "required": [VARIANT], **other}]}
    found: Schema = {"type": "object", "properties": {}}
    for key, shapes in table.shapes.items():
        if table.has_any_name and not shapes:
            continue  # Only looked for, by a name that the file has given.
        said = _described((*path, key), helps)
        found["properties"][key] = {**said, **_value(table, key, shapes, (*path, key), helps)}
    if table.has_any_name:
        of_any = _merged([_shape(one, path, helps) for one in table.of_any_name])
        found["additionalProperties"] = of_any or True
    else:
        found["additionalProperties"] = False
    for pair in sorted(table.exclusive):
        is_value = {"not": {"type": "object"}}
        values = {key: {**_described((*path, key), helps), **is_value} for key in pair}
        found["not"] = {"required": [*pair], "properties": values}
    if table.required:
        found["required"] = sorted(table.required)
    return found


def _variant(name: str, table: Table, path: tuple[str, ...], helps: Mapping[str, str]) -> Schema:
    found = _table(table, path, helps)
    found["properties"][VARIANT] = {**found["properties"].get(VARIANT, {}), "const": name}
    found["properties"][VARIANT].pop("enum", None)
    return {**found, "title": f'{VARIANT} = "{name}"', "required": [VARIANT]}


def _value(
    table: Table, key: str, shapes: list[Schema | Table], path: tuple[str, ...],
    helps: Mapping[str, str],
) -> Schema:  # fmt: skip
    found = _merged([_shape(one, path, helps) for one in shapes])
    offered = table.choices.get(key, [])
    if offered and len(set(offered)) == 1 and _is_of_the_program(offered):
        levels = list(offered[0])
        if set(levels) & _extensible():
            return {"anyOf": [{"enum": levels}, TEXT]}
        return {"enum": levels} if found == TEXT else {"anyOf": [{"enum": levels}, found]}
    return found


def _is_of_the_program(offered: list[tuple[str, ...]]) -> bool:
    """Whether the levels are the same for every file, as far as can be seen."""
    return len(offered) > 1 or bool(set(offered[0]) & _extensible())


def _extensible() -> set[str]:
    """Names that other packages can add to."""
    names = (registry.systems(), registry.storages(), registry.row_sources(), registry.steps())
    return {name for some in names for name in some}


def _shape(shape: Schema | Table, path: tuple[str, ...], helps: Mapping[str, str]) -> Schema:
    if not isinstance(shape, Table):
        return shape
    below = _table(shape, path, helps)
    return {"type": "array", "items": below} if shape.is_list else below


def _merged(shapes: list[Schema]) -> Schema:
    """What may be any of these; a table whose keys are known replaces one of which nothing is."""
    flat: list[Schema] = []
    for shape in shapes:
        flat += shape["anyOf"] if set(shape) == {"anyOf"} else [shape]
    has_tables = any("properties" in shape or "oneOf" in shape for shape in flat)
    unique: list[Schema] = []
    for shape in flat:
        if shape not in unique and not (has_tables and shape == {"type": "object"}):
            unique.append(shape)
    if not unique:
        return {}
    return unique[0] if len(unique) == 1 else {"anyOf": unique}


def _helps(kind: str) -> dict[str, str]:
    """Key, or the end of its path → its description: what `tools/key_help.toml` has, or the help of
    the option that says the same, or what is written below the field of a step."""
    helps = _of_fields() if kind == "workload" else {}
    for option in OPTIONS.values():
        if option.path is not None:
            sentence = re.sub(r" \[default: .*\]$", "", option.file_help or option.help)
            # A workload has the keys of [drive] in its tests and steps.
            of_drive = option.path.removeprefix("drive.")
            if kind == "experiment" or of_drive != option.path:
                helps[option.path if kind == "experiment" else of_drive] = sentence
    written = tomllib.loads((ROOT / "tools" / "key_help.toml").read_text(encoding="utf-8"))
    return helps | written["both"] | written[kind]


def _of_fields() -> dict[str, str]:
    """``steps.KEY`` → the text below the field of that name of a step's class."""
    found = {}
    for file in sorted((SHIPPED / "lab" / "steps").glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            for one, below in pairwise(getattr(node, "body", []) if _is_class(node) else []):
                text = getattr(getattr(below, "value", None), "value", None)
                if isinstance(one, ast.AnnAssign) and isinstance(text, str):
                    sentence = " ".join(text.replace("``", "`").split())
                    found[f"steps.{ast.unparse(one.target)}"] = sentence
    return found


def _is_class(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef)


def _described(path: tuple[str, ...], helps: Mapping[str, str]) -> Schema:
    for start in range(len(path)):
        if said := helps.get(".".join(path[start:])):
            return {"description": said}
    return {}
