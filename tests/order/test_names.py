"""A name says what it names. A class has a name of its own, or the name means the same wherever it
is; a parameter, an attribute, a function or a module is called neither ``found`` nor ``one``,
which would fit any other as well. Modules of tests have names of their own; no list repeats names
that are declared."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path

from assay.contracts.capabilities import ENDINGS, LANGUAGES
from assay.contracts.factors import OF_LEVELS, OF_MACHINE
from assay.record.file import record_file, schema
from assay.record.metrics.catalogue import METRICS

PACKAGE = Path(__file__).parents[2] / "python" / "assay"
EMPTY = {"found", "one"}
SHELVES = {"systems": "the parts of a system have the same names in all systems"}
"""Folders in which each folder may have a class of the name."""
FACES = {"api": "what a Python program is given of the value of that name"}
"""Folders whose classes may have the name of what they show."""
AS_WRITTEN = {
    "Check": "beside `expected`: keys of the record and of reports for programs",
    "ConditionDocument": "a key of comparisons for programs",
    "Compare": "a key of workload files",
}
"""Classes with an attribute of such a name."""


CLASS = re.compile(r"^ *class ([A-Za-z]\w*)[(:]", re.MULTILINE)


@cache
def _texts() -> dict[Path, str]:
    return {
        path.relative_to(PACKAGE): path.read_text(encoding="utf-8")
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def _trees(is_asked: Callable[[str], bool]) -> Iterator[tuple[Path, ast.Module]]:
    """Of the texts that may have what is looked for: to parse all takes seconds."""
    for path, text in _texts().items():
        if is_asked(text):
            yield path, ast.parse(text)


def test_a_class_name_means_one_thing() -> None:
    places: defaultdict[str, set[str]] = defaultdict(set)
    for path, text in _texts().items():
        home = path.parts[0]
        if home in FACES:
            continue
        for found in CLASS.finditer(text):
            places[found[1]].add(home if home in SHELVES else f"{path}:{found.start()}")
    several = {name: sorted(where) for name, where in places.items() if len(where) > 1}
    assert not several, f"each needs a name of its own: {several}"


_DECLARES = re.compile(r"\bdef .*?:\n|\blambda\b[^:]*:|^ +(?:found|one):", re.MULTILINE | re.DOTALL)
_EMPTY = re.compile(r"\b(?:found|one)\b")


def _may_have_empty_names(text: str) -> bool:
    return any(map(_EMPTY.search, _DECLARES.findall(text)))


def _empty_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.arg(arg=name) if name in EMPTY:
                yield node.lineno, f"parameter {name}"
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name in EMPTY:
                yield node.lineno, f"function {name}"
            case ast.ClassDef(name=owner, body=body) if owner not in AS_WRITTEN:
                for statement in body:
                    match statement:
                        case ast.AnnAssign(target=ast.Name(id=name)) if name in EMPTY:
                            yield statement.lineno, f"attribute {name}"


def test_no_name_fits_everything() -> None:
    wrong = [f"{path}: a module" for path in _texts() if path.stem in EMPTY]
    wrong += [
        f"{path}:{line}: {what}"
        for path, tree in _trees(_may_have_empty_names)
        for line, what in _empty_names(tree)
    ]
    assert not wrong, "say what it is:\n" + "\n".join(wrong)


TESTS = Path(__file__).parents[1]
BY_PATH = re.compile(r"^\s*(?:from|import) +tests\.(?:conftest|support)\b", re.MULTILINE)


def test_no_two_test_modules_have_the_same_name() -> None:
    names = Counter(path.name for path in TESTS.rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
    assert len(names) > 100


def test_helpers_are_imported_by_one_name() -> None:
    texts = {path: path.read_text() for path in TESTS.rglob("*.py")}
    by_path = [str(path.relative_to(TESTS)) for path, text in texts.items() if BY_PATH.search(text)]
    assert by_path == [], "write `from servers import …`, as the other tests do"
    assert BY_PATH.search("    from tests.support.records import printed_records")


NAMES = {
    name for one in (*OF_LEVELS.values(), *OF_MACHINE.values()) for name in (one.name, one.column)
}
MOST = 2
"""More of them in one literal are a list."""


def _quoted(names: Iterable[str]) -> re.Pattern[str]:
    return re.compile(f"[\"'](?:{'|'.join(map(re.escape, names))})[\"']")


def test_no_other_list_of_factors() -> None:
    name = _quoted(NAMES)
    trees = _trees(lambda text: len({*name.findall(text)}) > MOST)
    found = {f"{path}:{line}" for path, tree in trees for line in _lists(tree)}
    assert not found, f"derive it from contracts/factors.py: {sorted(found)}"


def _lists(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        parts: list[ast.expr | None] = []
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            parts = [*node.elts]
        elif isinstance(node, ast.Dict):
            parts = [*node.keys]
        words = {part.value for part in parts if isinstance(part, ast.Constant)}
        if len(words & NAMES) > MOST:
            assert isinstance(node, ast.expr)
            yield node.lineno


HOME = "contracts/capabilities.py"
_NAMED = re.compile("|".join(rf"\.{name}\b" for name in LANGUAGES))
MOST_ENDINGS = 1
"""Endings of files in one text that is shown: several are a list."""


def _lists_of_endings(tree: ast.Module) -> Iterator[int]:
    described = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            words = {part.value for part in node.elts if isinstance(part, ast.Constant)}
            if len(words & ({*LANGUAGES} | {*ENDINGS})) > MOST_ENDINGS:
                yield node.lineno
        is_shown = isinstance(node, ast.Constant) and id(node) not in described
        if is_shown and len({*_NAMED.findall(str(node.value))}) > MOST_ENDINGS:
            yield node.lineno


def test_no_other_list_of_languages() -> None:
    word = _quoted({*LANGUAGES, *ENDINGS})

    def may_have_lists(text: str) -> bool:
        return any(len({*each.findall(text)}) > MOST_ENDINGS for each in (word, _NAMED))

    places = [
        f"{path}:{line}"
        for path, tree in _trees(may_have_lists)
        if str(path) != HOME
        for line in _lists_of_endings(tree)
    ]
    assert not places, f"derive it from {HOME}: {places}"


def test_each_metric_is_a_column_of_the_views() -> None:
    with closing(record_file.private_database()) as record:
        schema.prepare(record, Path(":memory:"), schema.migrations())
        of_runs, of_types = (
            {name for (name,) in record.execute("SELECT name FROM pragma_table_info(?)", (view,))}
            for view in ("metrics", "transaction_metrics")
        )
    assert of_runs == {"run_id", *METRICS}
    of_work = {metric.name for metric in METRICS.values() if metric.of_work is not None}
    assert of_types == {"run_id", "transaction_name", *of_work}
