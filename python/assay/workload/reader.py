"""Takes a workload folder; returns a `Workload`, or raises an error with the file and line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from assay import registry
from assay.errors import ArgumentError, AssayError, ExperimentError, PluginFailed, YouError
from assay.plugin_failures import of_package
from assay.text import paths, toml_file
from assay.text.phrases import did_you_mean
from assay.text.toml_file import TomlTable
from assay.workload import (
    declared_results,
    expected_answers,
    inheritance,
    parameters,
    relations,
    script_names,
    scripts,
    tables,
    tests,
)
from assay.workload.file_keys import WORKLOAD
from assay.workload.schema import Expression, Schema, expression_of_key
from assay.workload.steps import Names
from assay.workload.values import Inherited, Script, Workload


def read(name_or_path: str) -> Workload:
    """The workload of that name, or in that folder.

    Raises `ArgumentError` for an unknown name, `ExperimentError` with file and line otherwise.
    """
    folder = registry.workload_folder(name_or_path)
    with of_package(folder):
        return _read(folder)


def usable() -> Iterator[Workload | AssayError]:
    """Every workload that has a name, in alphabetical order; what is wrong with one of another
    package in its place."""
    for name in registry.workloads():
        try:
            yield read(name)
        except (PluginFailed, YouError) as error:
            yield error


def _read(folder: Path, extending: tuple[Path, ...] = ()) -> Workload:
    """``extending``: the folders of the workloads that extend this one."""
    top = toml_file.read(folder / registry.WORKLOAD_FILE, WORKLOAD)
    base = _base(top, (*extending, folder.resolve()))
    of_base = Inherited() if base is None else inheritance.inherited(base, folder)
    for name in top.texts("dialects", ()):
        with _at(top, "dialects"):
            registry.dialect_of_file(top.file.resolve().parent / name)
    own = scripts.read_scripts(
        folder, of_base.every_script, {} if base is None else inheritance.replaceable(base)
    )
    own = scripts.with_instances(own, top.section("instances"))
    own = scripts.with_same_texts(own, top.section("same_text"))
    _refuse_unknown_dialects(folder, own)
    found = own.beside(of_base.scripts, of_base.checks, of_base.overrides)
    entries = parameters.read(top.section("parameters"))
    declared = {**of_base.parameters, **{entry.name: entry for entry in entries}}
    nameable = {**found.alone, **found.scripts}
    constants = [*of_base.schema.constants, *top.section("constants").names()]
    names = Names(nameable, declared, constants, found.checks)
    read_tests = tests.read_tests(top.section("tests"), names)
    named = {name for test in read_tests for name in test.named_scripts}
    checked = {name for test in read_tests for name in (*test.checks, *test.counted_checks)}
    found = found.with_named(folder, named).without(
        {*of_base.scripts} - named | {*of_base.checks} - checked
    )
    known = {entry.name: entry for entry in read_tests}
    if base is not None and "data" in top:
        raise top.error(f"rows come from where those of {base.name} come from", "data",
                        hint="leave [data] out")  # fmt: skip
    data = top.section("data")
    row_source = registry.row_source(
        of_base.data_source or data.choice("source", registry.row_sources())
    )
    schema = _schema(top, of_base.schema, declared, has_expressions=row_source.has_expressions)
    expected, rules = expected_answers.read_expected(folder, found.scripts, declared)
    series = series_sections(top, known)
    workload = Workload(
        name=folder.resolve().name,
        folder=folder,
        **top.fields(Workload),
        default_test=top.choice("default_test", known),
        default_system=_default_system(top) or of_base.default_system,
        data_source=row_source.name,
        data=row_source.declared(data, schema) if base is None else of_base.data,
        parameters=declared,
        schema=schema,
        tests=known,
        scripts=found.scripts,
        checks=found.checks,
        overrides=found.overrides,
        not_expressible={
            **of_base.not_expressible,
            **_not_expressible(top.section("not_expressible"), {**found.scripts, **found.checks}),
        },
        expected=expected,
        expected_rules=rules,
        report={entry: section.plain() for entry, section in report_sections(top, known).items()},
        published=expected_answers.read_published(folder, [*known, *series]),
        sheets=declared_results.sheets(top.sections("sheets"), folder),
        derived=declared_results.derived_metrics(
            top.section("derived"),
            known,
            found.scripts,
            schema.with_constants({one.name: one.default for one in declared.values()}),
        ),
        claims=expected_answers.read_claims(folder),
        texts={**of_base.texts, **found.texts, **_own_texts(folder)},
        series={entry: section.plain() for entry, section in series.items()},
    )
    _refuse_unknown_tests(top, workload)
    _refuse_names_of_no_test(top, workload)
    data.done()
    top.done()
    row_source.check(workload, [{}])
    return workload


def _refuse_names_of_no_test(top: TomlTable, workload: Workload) -> None:
    names = top.section(registry.KNOWN_AS)
    for name in names.names():
        test = names.text(name)
        if test and test not in workload.tests:
            raise names.error(f"{test!r} is no test", name, hint=did_you_mean(test, workload.tests))


def _base(top: TomlTable, extending: tuple[Path, ...]) -> Workload | None:
    """The workload that this one extends; None: it extends none."""
    folder = inheritance.base_folder(top)
    if folder is None:
        return None
    if folder.resolve() in extending:
        cycle = extending[extending.index(folder.resolve()) :]
        way = " -> ".join(one.name for one in (*cycle, folder.resolve()))
        raise top.error(f"extends forms a cycle: {way}", inheritance.EXTENDS)
    with of_package(folder):
        return _read(folder, extending)


@contextmanager
def _at(section: TomlTable, key: str) -> Iterator[None]:
    """Says where an argument was found."""
    try:
        yield
    except ArgumentError as error:
        raise section.error(error.message, key, hint=error.hint) from None


def _refuse_unknown_dialects(folder: Path, read_scripts: scripts.FoundScripts) -> None:
    """Raises `ExperimentError` for a folder of overrides that no system would read."""
    named = dict(reversed(read_scripts.overrides))
    for dialect, name in named.items():
        if hint := script_names.hint_if_unknown_dialect(dialect):
            override = read_scripts.overrides[dialect, name]
            raise ExperimentError(
                f"replaces {name} for {dialect!r}: no dialect is called so",
                file=folder / override.path,
                hint=hint,
            )


def _not_expressible(section: TomlTable, known: Mapping[str, Script]) -> dict[tuple[str, str], str]:
    """``[not_expressible.DIALECT]``: a script or a check → why it has no text in the dialect or
    language."""
    reasons = {}
    for dialect in section.names():
        script_names.refuse_unknown_dialect(section, dialect)
        of_dialect = section.section(dialect)
        for word in of_dialect.names():
            reason = of_dialect.text(word)
            for name in script_names.named_scripts(
                of_dialect, word, (word,), known, "script or check"
            ):
                reasons[dialect, name] = reason
    return reasons


def report_sections(top: TomlTable, tests: Iterable[str]) -> dict[str, TomlTable]:
    """Test → its ``[report.TEST]``, whose keys `assay.report.declared.declaration` defines."""
    section = top.section("report")
    tests = list(tests)
    for name in section.names():
        if name not in tests:
            raise section.error(
                f"a report for the unknown test {name!r}", name, hint=did_you_mean(name, tests)
            )
    return {name: section.section(name) for name in section.names()}


def series_sections(top: TomlTable, tests: Iterable[str]) -> dict[str, TomlTable]:
    """Name → its ``[series.NAME]``, over several tests (`assay.report.declared.declaration`)."""
    section = top.section("series")
    tests = list(tests)
    for name in section.names():
        if name in tests:
            raise section.error(f"a series and a test are both called {name}", name)
        for column in section.section(name).sections("columns"):
            column.choice("test", tests)
    return {name: section.section(name) for name in section.names()}


def _default_system(top: TomlTable) -> str:
    return top.choice("default_system", registry.systems()) if "default_system" in top else ""


def _schema(
    top: TomlTable, base: Schema, parameters: Collection[str], *, has_expressions: bool
) -> Schema:
    """``base``: of the workload that this one extends."""
    sections = top.sections("tables")
    own = [tables.read_table(table, has_expressions=has_expressions) for table in sections]
    relations.check_relations(sections, own, base.declared)
    declared = (*base.declared, *own)
    names = [table.name for table in declared]
    columns = [column.name for table in declared for column in table.table.columns]
    identifiers = relations.identifiers(top.section("identifiers"), [*names, *columns])
    constants = _constants(top.section("constants"), parameters)
    for name in set(top.section("parameters").names()) & set(base.constants):
        raise top.section("parameters").error(f"{name} is a parameter and a constant", name)
    of_base = [view.name for view in base.views]
    return Schema(
        top.file,
        relations.parents_first(declared),
        {**base.identifiers, **identifiers},
        {**base.constants, **constants},
        (*base.views, *tables.read_views(top.sections("views"), names, of_base)),
    )


def _constants(section: TomlTable, parameters: Collection[str]) -> dict[str, Expression]:
    for name in section.names():
        if name in parameters:
            raise section.error(f"{name} is a parameter and a constant", name)
    return {name: expression_of_key(section, name) for name in section.names()}


def _own_texts(folder: Path) -> dict[str, str]:
    names = (registry.WORKLOAD_FILE, expected_answers.EXPECTED_FILE)
    return {
        name: paths.read_text(folder / name, ExperimentError)
        for name in names
        if (folder / name).is_file()
    }


def _refuse_unknown_tests(top: TomlTable, workload: Workload) -> None:
    for parameter in workload.parameters.values():
        for name in parameter.tests:
            if name not in workload.tests:
                raise ExperimentError(
                    f"parameter {parameter.name} is for an unknown test {name!r}",
                    file=top.file,
                    line=top.section("parameters").section(parameter.name).line_of("tests"),
                    hint=did_you_mean(name, workload.tests),
                )
