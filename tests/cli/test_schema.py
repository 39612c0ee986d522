"""The JSON Schemas of experiment and workload files accept and refuse the keys that readers do."""

from __future__ import annotations

import ast
import copy
import inspect
import json
import pickle
import sqlite3
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import jsonschema_rs
import pytest

from assay import registry
from assay.cli.commands import schema as schema_command
from assay.errors import AssayError, ExperimentError
from assay.experiment import from_file as experiment_file
from assay.report import check_declarations
from assay.text import toml_file
from assay.workload import reader
from commands import Assay

PACKAGE = Path(schema_command.__file__).parents[2]
EXPERIMENTS = sorted((PACKAGE / "experiment" / "papers").glob("*.toml"))
UNKNOWN = "not_a_key"
READERS = ("experiment", "workload", "lab/steps", "load/row_sources", "load/bibsql/source.py",
           "report/declared/declaration.py", "report/declared/declaration.py")  # fmt: skip
OF_OTHER_FILES = {"expected_answers.py", "published.py", "step_keys.py", "keys.py", "driving.py"}
"""Readers of other files, and those whose keys come as arguments."""
ASKED = {name for name in vars(toml_file.TomlTable) if not name.startswith("_")} - {"error"}


def _schema(kind: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(json.dumps(schema_command.DOCUMENTS[kind]()))
    jsonschema_rs.meta.validate(schema)
    return schema


@cache
def _validator(kind: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(_schema(kind))


def _workload(name: str) -> None:
    with mock.patch.object(reader, "_read", inspect.unwrap(reader._read)):  # not as it once was
        check_declarations(reader.read(name))


def _files() -> Iterator[tuple[str, Path, Callable[[], object]]]:
    """(kind, file, what reads it) of every file that is shipped."""
    for name in registry.workloads():
        file = registry.workload_folder(name) / registry.WORKLOAD_FILE
        yield "workload", file, lambda name=name: _workload(name)  # type: ignore[misc]
    for file in EXPERIMENTS:
        yield "experiment", file, lambda file=file: experiment_file.read(file)  # type: ignore[misc]


def test_every_shipped_file_is_valid() -> None:
    files = list(_files())
    assert {kind for kind, *_ in files} == {"workload", "experiment"}
    for kind, file, _ in files:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        errors = [error.message for error in _validator(kind).iter_errors(data)]
        assert errors == [], file


@pytest.mark.parametrize(
    "mistake",
    [
        'directory = "/x"',
        'kind = "modelled"\nsice = "1G"',
        'kind = "modelled"\nprofile = "scsi-16k"',
        'kind = "here"\ncurrency = "EUR"',
    ],
)
def test_a_storage_has_a_kind_and_the_options_of_it(mistake: str) -> None:
    start = 'workload = "tpcb"\nstorages = ["disk"]\nmemory = ["1GB", "none"]\n[storage.disk]\n'
    good = 'kind = "modelled"\nsize = "1G"\nprofile = "fusion-io"\nprice_per_gb = 3\n'
    validator = _validator("experiment")
    assert validator.is_valid(tomllib.loads(start + good))
    assert validator.is_valid(tomllib.loads(start + 'kind = "of-another-package"\nx = 1'))
    assert not validator.is_valid(tomllib.loads(start + mistake))
    assert not validator.is_valid(tomllib.loads((start + good).replace("1GB", "lots")))


@pytest.mark.parametrize(
    ("mistake", "good"),
    [
        ("precision = 5", "precision = 0.05"),
        ('precision = "80%"', 'precision = "50 %"'),
        ('budget = "30 parsecs"', 'budget = "30 min"'),
        ('cache = "hot"', 'cache = ["cold", "warm"]'),
        ('[test.tpcb-like]\ncache = "hot"', '[test.tpcb-like]\ncache = "cold"'),
        ('[quick]\nclient_program = "mine"', '[quick]\nclient_program = "native"'),
        ('test = "strict"\ntests = ["strict"]', 'tests = ["strict"]\n[test.strict]\nclients = 2'),
    ],
)
def test_a_value_that_the_reader_refuses_is_refused_by_the_schema(
    mistake: str, good: str, tmp_path: Path
) -> None:
    validator = _validator("experiment")
    file = tmp_path / "x.toml"
    for said, is_right in ((good, True), (mistake, False)):
        text = f'workload = "tpcb"\nsystems = ["postgresql"]\n{said}\n'
        file.write_text(text)
        assert validator.is_valid(tomllib.loads(file.read_text())) is is_right
        try:
            experiment_file.read(file)
        except ExperimentError as error:
            assert not is_right and "unknown key" not in error.message, error
        else:
            assert is_right


def _tables(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every table of a file; of a list of tables the first two."""
    if isinstance(data, dict):
        yield path
        for key, below in data.items():
            yield from _tables(below, (*path, key))
    elif isinstance(data, list):
        for number, below in enumerate(data[:2]):
            yield from _tables(below, (*path, number))


def test_a_key_that_the_reader_does_not_know_is_refused_by_the_schema(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At each table of each shipped file; once of tables with the same keys of the schema, beside
    names of the file's own, at the same place."""
    accepted, refused = [], 0
    tried = set()
    known = {kind: set(_names(_schema(kind))) for kind in ("experiment", "workload")}
    plain = tomllib.loads
    parsed = cache(lambda text: pickle.dumps(plain(text)))  # each is read again for each table
    for kind, file, read in _files():
        validator = _validator(kind)
        text = file.read_text(encoding="utf-8")
        for path in [*_tables(plain(text))]:
            data = pickle.loads(parsed(text))
            table = data
            for part in path:
                table = table[part]
            shape = (kind, path[:1], len(path), *(key for key in table if key in known[kind]))
            if shape in tried:
                continue
            tried.add(shape)
            table[UNKNOWN] = 1

            def loads(found: str, text: str = text, data: Any = data) -> Any:
                return copy.deepcopy(data) if found == text else pickle.loads(parsed(found))

            monkeypatch.setattr(tomllib, "loads", loads)
            try:
                read()
            except ExperimentError as error:
                if f"unknown key {UNKNOWN!r}" in error.message:
                    refused += 1
                    if validator.is_valid(data):
                        accepted.append((file.parent.name, path))
            except AssayError:
                pass
            monkeypatch.setattr(tomllib, "loads", plain)
    assert accepted == []
    assert refused > 100


def _names(schema: Any) -> Iterator[str]:
    """Every key that a schema knows."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for below in schema.values():
            yield from _names(below)
    elif isinstance(schema, list):
        for below in schema:
            yield from _names(below)


def _asked_for() -> Iterator[tuple[str, str]]:
    """(key, place) of every key that stands in the text of the readers."""
    for name in READERS:
        path = PACKAGE / name
        for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
            if file.name in OF_OTHER_FILES:
                continue
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Attribute)
                    and node.func.attr in ASKED
                    and node.args
                    and isinstance(node.args[0], ast.Constant)
                    and isinstance(node.args[0].value, str)
                ):
                    yield node.args[0].value, f"{file.name}:{node.lineno}"


def test_the_schemas_have_every_key_that_is_in_the_text_of_the_readers() -> None:
    """They are declared in `workload/file_keys.py` and `experiment/file_keys.py`."""
    known = {name for kind in ("experiment", "workload") for name in _names(_schema(kind))}
    asked = [*_asked_for()]
    assert len(asked) > 80
    assert [(key, place) for key, place in asked if key not in known] == []


def _undescribed(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        for name, below in schema.get("properties", {}).items():
            if "description" not in below:
                yield name
        for below in schema.values():
            yield from _undescribed(below)
    elif isinstance(schema, list):
        for below in schema:
            yield from _undescribed(below)


@pytest.mark.parametrize("kind", ["experiment", "workload"])
def test_every_key_is_described(kind: str) -> None:
    """By its declaration, or by the setting with this key."""
    assert sorted(set(_undescribed(_schema(kind)))) == []


def test_the_command_prints_the_schema(assay: Assay) -> None:
    for kind in schema_command.DOCUMENTS:
        assert assay("schema", kind).document == _schema(kind)
    statements = assay("schema", "record").out
    with closing(sqlite3.connect(":memory:")) as record:
        record.executescript(statements)
        assert record.execute("SELECT count(*) FROM runs").fetchone() == (0,)
