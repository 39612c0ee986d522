"""Takes a workload folder; returns the expected answers of its scripts, and the published numbers.

``expected.toml`` holds counts of rows, and digests of answers, keyed by data set,
``published.toml`` the tables of the paper that the workload reproduces. Both are optional.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from assay.text import toml_file
from assay.text.phrases import did_you_mean
from assay.text.toml_file import TomlData, TomlTable
from assay.workload.parameters import Parameter, Scalar
from assay.workload.values import ExpectedAnswers, ExpectedRules

EXPECTED_FILE = "expected.toml"
PUBLISHED_FILE = "published.toml"
CLAIMS = "claims"
"""The key of the published file that is no test."""
RULES = ("times replicas", "unchanged")


def read_expected(
    folder: Path, scripts: Iterable[str], parameters: Mapping[str, Parameter]
) -> tuple[tuple[ExpectedAnswers, ...], ExpectedRules]:
    """(counts of each known data set, what is said of all of them)."""
    file = folder / EXPECTED_FILE
    if not file.is_file():
        return (), ExpectedRules()
    top = toml_file.read(file)
    scripts = list(scripts)
    found = []
    for section in top.sections("dataset"):
        one: ExpectedAnswers = section.thing(ExpectedAnswers)
        _refuse_unknown(section.section("counts"), "a count", scripts)
        for test in one.digests:
            _refuse_unknown(section.section("answers").section(test), "an answer", scripts)
        found.append(one)
    rules = top.section("rules")
    by_variant = {variant: rules.choice(variant, RULES) for variant in rules.names()}
    holds_for = _holds_for(top.section("holds_for"), scripts, parameters)
    top.done()
    return tuple(found), ExpectedRules(by_variant, holds_for)


def _refuse_unknown(listed: TomlTable, what: str, scripts: list[str]) -> None:
    for name in listed.names():
        if name not in scripts:
            raise listed.error(
                f"{what} for the unknown script {name!r}", name, hint=did_you_mean(name, scripts)
            )


def _holds_for(
    section: TomlTable, scripts: Iterable[str], parameters: Mapping[str, Parameter]
) -> Mapping[str, Mapping[str, Scalar]]:
    """Script → the values of parameters for which its counts hold."""
    found: dict[str, Mapping[str, Scalar]] = {}
    for script in section.names():
        if script not in scripts:
            hint = did_you_mean(script, list(scripts))
            raise section.error(f"values for the unknown script {script!r}", script, hint=hint)
        values = section.section(script).plain()
        for name, value in values.items():
            if name not in parameters:
                hint = did_you_mean(name, parameters)
                raise section.error(f"a value of the unknown parameter {name!r}", script, hint=hint)
            if not parameters[name].fits(value):
                raise section.error(
                    f"{name} = {value!r}: expected a value of type {parameters[name].type}", script
                )
        found[script] = values
    return found


def read_published(folder: Path, tests: Iterable[str]) -> Mapping[str, TomlData]:
    """Test → the published table, with the keys of `assay.report`."""
    file = folder / PUBLISHED_FILE
    if not file.is_file():
        return {}
    top = toml_file.read(file)
    tests = list(tests)
    for name in published_names(top):
        if name not in tests:
            raise top.error(
                f"a table for the unknown test {name!r}", name, hint=did_you_mean(name, tests)
            )
    return {name: top.section(name).plain() for name in published_names(top)}


def read_claims(folder: Path) -> tuple[TomlData, ...]:
    """What the paper says of its results, with the keys of `assay.report.papers.claims`."""
    file = folder / PUBLISHED_FILE
    if not file.is_file():
        return ()
    top = toml_file.read(file)
    return tuple(claim.plain() for claim in top.sections(CLAIMS)) if CLAIMS in top else ()


def published_names(top: TomlTable) -> list[str]:
    """The tests and series that the published file has a table for."""
    return [name for name in top.names() if name != CLAIMS]
