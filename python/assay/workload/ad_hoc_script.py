"""Takes script files; returns a workload made of them alone, or one whose tests run them in place
of their own scripts; refuses a language that a system does not take."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from msgspec import structs

from assay import registry
from assay.contracts import capabilities
from assay.contracts.capabilities import SQL
from assay.contracts.driving import Driving
from assay.contracts.experiment import (
    OF_SCRIPTS,
    Experiment,
    ExperimentChanges,
    OfTest,
    ScriptFile,
    SystemChoice,
    shown_scripts,
)
from assay.contracts.factors import Scalar
from assay.errors import ArgumentError, ScriptError
from assay.text import paths, pattern
from assay.text.phrases import Mention, did_you_mean, phrase
from assay.text.quantities import INTEGER, NUMBER, WEIGHT
from assay.workload.parameters import Parameter, refuse_factor
from assay.workload.schema import Schema
from assay.workload.steps import Drive
from assay.workload.values import ExpectedRules, Script, Test, Workload

TEST = "script"
STANDARD_INPUT = "-"
"""The path that means the standard input."""
GIVEN = "given script"
"""Begins the names of their texts among those of a workload."""
DURATION_S = 10.0
"""The default of an ad hoc script."""
_T = TypeVar("_T")
_USE = pattern(r"(?<!:):\{?(\w+)")
_NEED_NOT_BE_NAMED = {"scale", "default_seed"}
"""Variables of pgbench: the scale of the tables, and the seed of hash functions."""


def workload_of(experiment: Experiment) -> Workload:
    """The workload of an experiment: from a folder, with other scripts where given and the quick
    version of its tests where asked for, or of ad hoc scripts."""
    if experiment.is_ad_hoc:
        is_mix = experiment.tests == (TEST,)
        return workload(experiment.scripts, experiment.parameters, is_mix=is_mix)
    from assay.workload import reader

    read = reader.read(experiment.workload)
    if experiment.is_quick:
        read = read.quickly()
    return with_scripts(read, experiment.scripts, experiment.tests)


def workload(
    files: Sequence[ScriptFile], variables: Mapping[str, tuple[Scalar, ...]], *, is_mix: bool = True
) -> Workload:
    """``is_mix``: clients run all of the scripts; else each is a test of its own (`test_of`), at
    each level of the variables. Raises `ScriptError` where a file cannot be read."""
    scripts = _read(files)
    tests = {TEST: _test(TEST, scripts)}
    if not is_mix:
        by_test = {test_of(one): scripts[name_of(one.path)] for one in files}
        tests = {name: _test(name, {one.name: one}) for name, one in by_test.items()}
    return Workload(
        name=" + ".join("stdin" if one.path == STANDARD_INPUT else one.path for one in files),
        folder=Path(),
        title=shown_scripts(files),
        source="",
        description="",
        default_test=next(iter(tests)),
        default_system="",
        data_source="none",
        data=None,
        parameters={name: _variable(name, levels) for name, levels in variables.items()},
        schema=Schema(Path(), (), {}),
        tests=tests,
        scripts=scripts,
        checks={},
        overrides={},
        not_expressible={},
        expected=(),
        expected_rules=ExpectedRules(),
        report={},
        published={},
        texts=_texts(scripts),
        is_ad_hoc=True,
    )


def test_of(file: ScriptFile) -> str:
    """The name of the test of a script that is one of several levels."""
    return ScriptFile(file.path).shown


def levels_and_mix(
    words: Sequence[str], folder: Path = Path()
) -> tuple[tuple[ScriptFile, ...], bool]:
    """The files that ``a.sql,b.sql`` (each measured) or several words (a mix) name, and whether
    they are a mix."""
    parts = [[word] if paths.is_file(folder / word) else _split(word) for word in words]
    is_mix = all(len(one) < 2 for one in parts)
    if not is_mix and len(parts) > 1:
        raise ArgumentError(
            f"expected scripts that are compared, or a mix, found both: {', '.join(words)}",
            hint="a.sql,b.sql measures each; -f a.sql -f b.sql is one mix of both",
        )
    return tuple(script_file(one) for several in parts for one in several), is_mix


def mix_in_place(words: Sequence[str], folder: Path = Path()) -> tuple[ScriptFile, ...]:
    """The files of scripts in place of a test's own. Raises `ArgumentError` for several that are
    compared."""
    files, is_mix = levels_and_mix(words, folder)
    if not is_mix:
        raise ArgumentError(
            "scripts that are compared have no workload, found "
            f"{', '.join(file.path for file in files)}: each runs by itself",
            hint="leave the workload out, or name a mix: -f a.sql -f b.sql, "
            'script = ["a.sql", "b.sql"]',
        )
    return files


def _split(word: str) -> list[str]:
    parts = [one.strip() for one in word.split(",")]
    if len(parts) > 1 and not all(parts):
        raise ArgumentError(
            f"{word}: expected a script before and behind each comma",
            hint=",".join(filter(None, parts)) or "a.sql,b.sql",
        )
    return parts


def experiment_of(
    files: tuple[ScriptFile, ...], workload: Workload, *, is_mix: bool
) -> ExperimentChanges:
    """The fields of the `Experiment` of ad hoc scripts."""
    return ExperimentChanges(
        workload=workload.name,
        tests=tuple(workload.tests),
        scripts=files,
        is_ad_hoc=True,
        of_tests={
            test_of(file): OfTest(scripts=(file,), workload=file.path)
            for file in (() if is_mix else files)
        },
    )


def _sets_first(name: str, text: str) -> bool:
    """Whether it sets the variable, on every way through it, before it uses it."""
    found = re.search(rf"^\s*\\set\s+{name}\s(.*)", text, re.M)
    before = text[: found.end()] if found else ""
    return bool(before) and name not in _USE.findall(before) and "\\if" not in before


def refuse_variable(name: str, workload: Workload) -> None:
    """Raises `ArgumentError` for a variable that no script uses, or that is called as another
    factor."""
    refuse_factor(name)
    from assay.text.secrets import without_file_passwords

    texts = (without_file_passwords(script.text) for script in workload.scripts.values())
    used = {found for text in texts for found in _USE.findall(text)}
    if name in used | _NEED_NOT_BE_NAMED:
        using = [one.text for one in workload.scripts.values() if name in _USE.findall(one.text)]
        if using and all(_sets_first(name, text) for text in using):
            raise ArgumentError(
                f"the script itself sets :{name}, so that another value changes nothing",
                hint=f"remove \\set {name} from the script, or leave the value out",
            )
        return
    near = did_you_mean(name, used) if used else "leave it out: the script has no variable"
    hint = phrase("{}; a server's own setting: {}", near, Mention("set", f"SYSTEM.{name}=VALUE"))
    raise ArgumentError(f"no script uses the variable :{name}", hint=hint)


def with_scripts(workload: Workload, files: Sequence[ScriptFile], tests: Iterable[str]) -> Workload:
    """The workload whose ``tests`` run these scripts, on its own data. These tests lose their
    title, the numbers published for them, and what they declare of their own scripts: what is
    measured is these."""
    if not files:
        return workload
    scripts = _read(files)
    given = shown_scripts(files)
    changed = {}
    for name in tests:
        test = workload.test(name)
        if test.only_drive is None:
            why = "steps have scripts of their own" if test.drives else "clients run no scripts"
            raise ArgumentError(
                phrase("{--script} does not apply to {}.{}, whose {}", workload.name, name, why)
            )
        changed[name] = structs.replace(
            test,
            title=f"{workload.name} with {given}",
            scripts=tuple(scripts),
            order="mix",
            mix={script.name: script.weight for script in scripts.values()},
            driving=_without_passes(test.driving),
            changes_data=True,  # known of the test's own scripts, unknown of these
            headline=None,
            response_limits=(),
            deferred=None,
        )
    return structs.replace(
        workload,
        title=f"{workload.name} with {given}",
        given_scripts=given,
        report=_without(changed, workload.report),
        published=_without(changed, workload.published),
        series={
            name: table
            for name, table in workload.series.items()
            if not changed.keys() & set(workload.tests_of(name))
        },
        scripts={**workload.scripts, **scripts},
        overrides={
            key: script for key, script in workload.overrides.items() if key[1] not in scripts
        },
        tests={**workload.tests, **changed},
        texts={**workload.texts, **_texts(scripts)},
    )


def _texts(scripts: Mapping[str, Script]) -> dict[str, str]:
    """By the place of each, since the same files are the same work wherever they lie."""
    return {f"{GIVEN} {place}": one.text for place, one in enumerate(scripts.values(), 1)}


def _without(names: Collection[str], options: Mapping[str, _T]) -> dict[str, _T]:
    return {name: one for name, one in options.items() if name not in names}


def is_script(word: str) -> bool:
    """Whether the word names a script file: ``FILE.sql``, ``FILE.pgbench``, ``FILE.cql``,
    ``FILE.json``, or ``-`` for standard input; with or without ``@WEIGHT``."""
    return _is_named(_parts(word)[0])


def _is_named(path: str) -> bool:
    return path == STANDARD_INPUT or path.endswith(tuple(ENDINGS))


def script_file(word: str) -> ScriptFile:
    """``FILE.sql@WEIGHT``; raises `ArgumentError` for an invalid weight."""
    path, weight = _parts(word)
    if not weight:
        return ScriptFile(path)
    try:
        return ScriptFile(path, WEIGHT.of_word(weight))
    except ValueError as error:
        raise ArgumentError(f"{word}: weight behind the @: {error}", hint=f"{path}@3") from None


def _parts(word: str) -> tuple[str, str]:
    path, at, weight = word.rpartition("@")
    return (path, weight) if at and (_is_named(path) or weight.isdecimal()) else (word, "")


def _read(files: Sequence[ScriptFile]) -> dict[str, Script]:
    scripts: dict[str, Script] = {}
    for file in files:
        name = name_of(file.path)
        if name in scripts:
            raise _called_alike(scripts[name].path, file.path)
        if file.path == STANDARD_INPUT:
            path, text = "<stdin>", paths.read_standard_input(ScriptError)
        else:
            path, text = file.path, paths.read_text(Path(file.path), ScriptError)
        scripts[name] = Script(name, path, text, file.weight, language=language_of_file(file.path))
    return scripts


def _called_alike(first: str, second: str) -> ArgumentError:
    if first == second:
        return ArgumentError(
            f"the script {first} is named twice",
            hint=f"leave one out; {first}@2 gives it more weight in a mix",
        )
    path = Path(second)
    other = f"{path.stem}-{path.parent.name or 'other'}{path.suffix}"
    return ArgumentError(
        f"two scripts are called {name_of(second)!r}: {first} and {second}; their results are "
        "named by the file's name, without its folder and ending",
        hint=f"`cp {shlex.quote(second)} {shlex.quote(other)}`, and name {other} in its place",
    )


def name_of(path: str) -> str:
    """The name of the transaction type."""
    return "stdin" if path == STANDARD_INPUT else Path(path).stem


def _test(name: str, scripts: Mapping[str, Script]) -> Test:
    title = shown_scripts(ScriptFile(script.path, script.weight) for script in scripts.values())
    return Test(
        name=name,
        title=f"{title}, run by every client",
        steps=(Drive(),),
        help="Scripts by themselves: nothing is loaded, and nothing is removed",
        scripts=tuple(scripts),
        order="mix",
        mix={script.name: script.weight for script in scripts.values()},
        driving=Driving(duration_s=DURATION_S),
        protocol="simple",
    )


def _without_passes(driving: Driving) -> Driving:
    limits = structs.replace(driving, passes=None)
    is_endless = not any((limits.transactions, limits.queue, limits.duration_s))
    return structs.replace(limits, duration_s=DURATION_S) if is_endless else limits


class _OfSeveralTypes(Parameter, frozen=True):
    """A variable with numbers and texts among its levels: each is read as if it were alone."""

    def value(self, word: str) -> Scalar:
        return inferred([word])[0]

    def fits(self, value: object) -> bool:
        return isinstance(value, Scalar)


def _variable(name: str, levels: Sequence[Scalar]) -> Parameter:
    """A parameter with the common type of all levels."""
    kinds = {type(level) for level in levels}
    if len(kinds) > 1 and str in kinds:
        return _OfSeveralTypes(name, "text", levels[0], help="A variable of the script")
    if kinds <= {int}:
        kind = "int"
    elif kinds <= {int, float}:
        kind = "float"
    else:
        kind = "bool" if kinds == {bool} else "text"
    return Parameter(name, kind, levels[0], help="A variable of the script")


def inferred(words: Sequence[str]) -> tuple[Scalar, ...]:
    """The levels of a variable as written: whole numbers if all are, else numbers if all are, else
    each as if it were alone."""
    for quantity in (INTEGER, NUMBER):
        try:
            return tuple(quantity.of_word(word) for word in words)
        except ValueError:
            continue
    if len(words) == 1:
        return tuple(words)
    return tuple(level for word in words for level in inferred([word]))


def with_contents(experiment: Experiment, workload: Workload) -> Experiment:
    """The text of each script as it was read, and the texts of the workload's folder without
    them."""

    def known(files: Iterable[ScriptFile]) -> tuple[ScriptFile, ...]:
        return tuple(
            replace(file, content=paths.text_digest(workload.scripts[name_of(file.path)].text))
            for file in files
        )

    of_tests: dict[str, OfTest] = {}
    for test, given in experiment.of_tests.items():
        of_tests[test] = OfTest(given)
        if "scripts" in given:
            of_tests[test]["scripts"] = known(given["scripts"])
    return replace(
        experiment,
        scripts=known(experiment.scripts),
        of_tests=of_tests,
        workload_content=_of_workload(experiment, workload),
    )


def _of_workload(experiment: Experiment, workload: Workload) -> str:
    if experiment.is_ad_hoc:
        return OF_SCRIPTS
    if experiment.workload in registry.workloads():
        return ""
    return content_of_workload(workload)


def content_of_workload(workload: Workload) -> str:
    """Digest of the texts of its folder, without scripts that were given in place of its own."""
    own = {path: text for path, text in workload.texts.items() if not path.startswith(GIVEN)}
    return paths.text_digest(json.dumps(own, sort_keys=True))


ENDINGS = {**capabilities.ENDINGS, **capabilities.FURTHER_ENDINGS}


def language_of_file(path: str) -> str:
    """The language that the ending of the file stands for; empty: none, that of the system."""
    return ENDINGS.get(Path(path).suffix, "")


def refuse_other_languages(experiment: Experiment) -> None:
    """Raises `ArgumentError` for the first script that one of the systems does not take."""
    for script in experiment.scripts:
        _refuse(script.path, language_of_file(script.path), experiment.systems)
    if experiment.feed is not None:
        _refuse(experiment.feed, SQL, experiment.systems)


def _refuse(path: str, language: str, systems: Iterable[SystemChoice]) -> None:
    for choice in systems:
        taken = registry.system(choice.name).dialect.language
        if language not in ("", taken):
            ending = next((end for end, one in ENDINGS.items() if one == taken), "")
            raise ArgumentError(
                f"{path} is {language.upper()}; {choice.label} takes {taken.upper()}",
                hint=f"a script for {choice.label} ends in {ending}; systems of several languages "
                "are compared by a workload with a script in each",
            )
