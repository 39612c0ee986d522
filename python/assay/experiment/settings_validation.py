"""Takes an experiment and the words that it was made of; refuses levels that are given twice and
settings that have no effect; names each setting as the person wrote it, or the one that a word
means."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from assay import registry
from assay.contracts.experiment import Experiment, SystemChoice
from assay.contracts.factors import NOT_LIMITED
from assay.contracts.setting import Levels, Setting
from assay.errors import ArgumentError, AssayError
from assay.experiment.choices import checked_choices, server_limits
from assay.experiment.choices.checked_choices import UnknownParameter
from assay.experiment.choices.identity import identity_of_choice, identity_of_storage
from assay.experiment.setting_values import steps_say
from assay.experiment.settings_catalogue import OPTIONS, SETTINGS, Words
from assay.text import toml_file
from assay.text.phrases import Mention, phrase
from assay.workload.values import Test, Workload

_STANDS_FOR_NUMBERS: Final = ("…", "N", "R", "S", "VALUE")
"""In texts, for any number or several."""


@contextmanager
def as_written(words: Words, *, in_python: bool = False) -> Iterator[None]:
    """Errors raised inside name each setting as the person wrote it: what was not given on the
    command line (``in_python``: to `assay.run`) is in the experiment file, if there is one. What
    is said of a setting of the file has its line."""
    given = {name for name in SETTINGS if words.has(name)}
    has_file = words.target.endswith(".toml")

    def is_of_file(setting: Setting) -> bool:
        return has_file and setting.path is not None and setting.argument not in given

    def spelling(mention: Mention) -> str | None:
        if is_of_file(OPTIONS[mention.setting]):
            return spelled_in_file(mention)
        return spelled_in_python(mention) if in_python else None

    try:
        yield
    except AssayError as error:
        about = None if error.about is None else OPTIONS[error.about]
        place = ""
        if about is not None and is_of_file(about) and isinstance(error, ArgumentError):
            place = _place_in(words.target, about)
        error.respell(spelling)
        error.message = place + error.message
        error.args = (error.message,)
        raise


def _place_in(target: str, setting: Setting) -> str:
    """``e.toml:3: `` for a setting that the file gives; empty where it gives none."""
    file = Path(registry.experiment_file(target))
    section = toml_file.read(file)
    *tables, key = (setting.path or "").split(".")
    for table in tables:
        section = section.section(table)
    line = section.line_of(key) if key in section else 0
    return f"{file}:{line}: " if line else ""


def spelled_in_python(mention: Mention) -> str:
    """``duration_s=30``, ``memory=["8GB", "1GB"]``, ``set={"scale": 10}``, ``erase=True``."""
    name, value = OPTIONS[mention.setting], mention.value
    if value is None:
        return f"{name.argument}=True" if mention.is_wished else name.argument
    if name.word == "set":
        key, levels = _setting(value)
        return f"set={{{json.dumps(key)}: {_listed(levels)}}}"
    if name.word == "clients" and "=" in value:
        groups = [f"{json.dumps(group)}: {_listed(of)}" for group, of in _groups(value)]
        return f"clients={{{', '.join(groups)}}}"
    return f"{name.argument}={_listed(_values(name, value))}"


def spelled_in_file(mention: Mention) -> str | None:
    """``drive.duration_s = 30``, ``memory = ["8GB", "1GB"]``, ``parameters.scale = 10``; None: a
    file cannot say it."""
    name, value = OPTIONS[mention.setting], mention.value
    if name.path is None:
        return None
    if value is None:
        return name.path
    if name.word == "set":
        key, levels = _setting(value)
        return f"{'system' if '.' in key else name.path}.{key} = {_listed(levels)}"
    if name.word == "clients" and "=" in value:
        groups = [f"{group} = {_listed(of)}" for group, of in _groups(value)]
        return f"clients = {{ {', '.join(groups)} }}"
    return f"{name.path} = {_listed(_values(name, value))}"


def _values(name: Setting, value: str) -> list[str]:
    plain = value.strip("'")
    if isinstance(name.kind, Levels):
        return [word.strip() for word in name.kind.split(plain)]
    return _parts(plain) if name.is_listed else [plain]


def _setting(value: str) -> tuple[str, list[str]]:
    key, _, levels = value.strip("'").partition("=")
    return key, [level.strip('"') for level in _parts(levels)]


def _groups(value: str) -> list[tuple[str, list[str]]]:
    """``readers=4,8,writers=2`` by group; ``…`` at its end stands for the other groups."""
    groups: list[tuple[str, list[str]]] = []
    for word in _parts(value.strip("'")):
        group, equals, level = word.partition("=")
        if equals:
            groups.append((group, [level]))
        elif groups:
            groups[-1][1].append(word)
    return groups


def _listed(values: list[str]) -> str:
    words = [
        value if _is_number(value) else json.dumps(value, ensure_ascii=False) for value in values
    ]
    return words[0] if len(words) == 1 else f"[{', '.join(words)}]"


def _is_number(word: str) -> bool:
    digits = word.lstrip("+-").replace(".", "", 1)
    return digits.isdigit() or word in _STANDS_FOR_NUMBERS


def _parts(words: str) -> list[str]:
    return [part for part in checked_choices.parts_of(words) if part]


def setting_known_as(word: str) -> Setting | None:
    """The setting that others call so."""
    return next((one for one in SETTINGS.values() if word in one.known_as), None)


def corrected(
    error: UnknownParameter, workload: Workload, given: Iterable[str]
) -> UnknownParameter:
    """The error; its hint begins with what is meant, where that is known. ``given``: the levels of
    parameters, ``NAME=LEVELS``."""
    if meant := _meant(error.name, workload, given):
        hint = phrase("maybe {} is meant; {}", meant, error.hint or "")
        return UnknownParameter(error.message, hint=hint)
    return error


def _meant(name: str, workload: Workload, given: Iterable[str]) -> Mention | None:
    short = SETTINGS.get(name)
    if short is not None and short.is_short_for:
        size = workload.size
        said = next((word for word in given if word.startswith(f"{name}=")), "")
        value = said.partition("=")[2] or "N"
        return Mention(short.is_short_for, f"{size.name}={value}") if size else None
    found = setting_known_as(name) or short
    return Mention(found.word) if found is not None else None


_Level = tuple[object, object]
"""What makes it the same, and what is shown of it."""


class Repeated(NamedTuple):
    setting: Setting | None
    """None: the parameter ``name``."""
    name: str
    level: str
    before: str
    """What the same was called where it was given first."""


def refuse_repeated(experiment: Experiment) -> None:
    """Raises `ArgumentError` for the first value that is given twice."""
    if found := first_repeated(experiment):
        names = dict.fromkeys((found.before, found.level))
        what = "is given twice" if len(names) == 1 else "are one and the same, which is given twice"
        raise ArgumentError(phrase("{}: {} {}", found.name, " and ".join(names), what), hint=_ONCE)


_ONCE = phrase("give it once; {--repetitions 2} measures every cell twice")


def tests_named(workload: Workload, names: Sequence[str]) -> tuple[str, ...]:
    """Of tests and series. Raises `ArgumentError` for the first name that is there twice."""
    for place, name in enumerate(names):
        if name in names[:place]:
            raise ArgumentError(f"the test {name} is given twice", hint=_ONCE)
    return tuple(dict.fromkeys(test for name in names for test in workload.tests_of(name)))


def first_repeated(experiment: Experiment) -> Repeated | None:
    for setting, name, levels in _varied(experiment):
        seen: list[_Level] = []
        for level, shown in levels:
            if same := [str(other) for before, other in seen if before == level]:
                return Repeated(setting, name, str(shown), same[0])
            seen.append((level, shown))
    return None


def _varied(experiment: Experiment) -> Iterator[tuple[Setting | None, str, Iterable[_Level]]]:
    on, storage, clients = SETTINGS["on"], SETTINGS["storage"], SETTINGS["clients"]
    yield (
        on,
        phrase("{--on}"),
        [(identity_of_choice(one), _called(one)) for one in experiment.systems],
    )
    yield storage, phrase("{--storage}"), [(one.name, one.name) for one in experiment.storages]
    yield (
        storage,
        phrase("{--storage}"),
        [(identity_of_storage(one), one.name) for one in experiment.storages],
    )
    log = SETTINGS["log_storage"]
    logs = [one and (identity_of_storage(one), one.name) for one in experiment.log_storages]
    yield log, phrase("{--log-storage}"), [one or (NOT_LIMITED, NOT_LIMITED) for one in logs]
    every = [(one.name, one.name) for one in experiment.all_storages]
    yield log, phrase("{--log-storage}"), every
    yield clients, phrase("{--clients}"), _plain(experiment.clients)
    for group, counts in experiment.group_clients.items():
        yield clients, phrase("{--clients}: group {}", group), _plain(counts)
    for setting in SETTINGS.values():
        if isinstance(setting.kind, Levels) and setting.experiment_field:
            levels = experiment.asked(setting.experiment_field)
            shown = [NOT_LIMITED if one is None else setting.show(one) for one in levels]
            yield setting, phrase("{}", Mention(setting.word)), zip(levels, shown, strict=True)
    for name, levels in experiment.parameters.items():
        yield None, name, _plain(levels)


def _called(choice: SystemChoice) -> str:
    """The name that the user gave it, also where its label is that of an equal system before it."""
    return choice.label if choice.label.startswith(choice.called) else choice.called


def _plain(levels: Iterable[object]) -> list[_Level]:
    """The levels with their types: 1, 1.0 and true are different values to a script."""
    return [((type(level), level), level) for level in levels]


def why_refused(choice: SystemChoice) -> str | None:
    """Why the system cannot be given its machine; None: it can."""
    for setting in SETTINGS.values():
        if setting.factor is None or setting.why_not is None:
            continue
        is_given = server_limits.level(choice.machine, setting.factor.name) is not None
        if is_given and (reason := setting.why_not(choice)):
            return f"{choice.label}: {reason}"
    return None


def refuse_unused(experiment: Experiment, workload: Workload, words: Words) -> None:
    """Raises `ArgumentError` for the first setting that does not apply to any of the tests."""
    tests = [workload.test(name) for name in experiment.tests]
    for setting in SETTINGS.values():
        applies = setting.applies
        field = setting.driving_field or setting.name
        if applies is None or not _is_given(setting, experiment, words):
            continue
        if not any(applies.means_something(experiment, workload, test, field) for test in tests):
            is_of_steps = any(steps_say(test, field) for test in tests)
            why = applies.because if isinstance(applies.because, str) else applies.because(tests[0])
            because = "its steps or groups set it" if is_of_steps else why
            raise ArgumentError(
                phrase(
                    "{} does not apply to {}: {}",
                    Mention(setting.word),
                    _names(workload, tests),
                    because,
                ),
                hint=phrase("leave {} out", Mention(setting.word)),
            )


def _is_given(setting: Setting, experiment: Experiment, words: Words) -> bool:
    """On the command line, or in a file, where its levels are not optional."""
    if words.has(setting.name):
        return True
    if setting.name == "storage" and words.on:
        return False  # of a file whose systems are replaced: of those that are started
    if setting.name == "clients":
        return bool(experiment.clients or experiment.group_clients)
    if setting.driving_field:
        return setting.driving_field in experiment.driving
    if not setting.experiment_field or setting.name in experiment.optional:
        return False
    field = setting.experiment_field
    return bool(experiment.asked(field) != _AT_DEFAULT.asked(field))


_AT_DEFAULT = Experiment(workload="", tests=(), systems=())


def _names(workload: Workload, tests: list[Test]) -> str:
    return ", ".join(workload.full_name(test.name) for test in tests)
