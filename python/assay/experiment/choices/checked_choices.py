"""Takes systems, storages and settings as written, and what an experiment file says of them;
returns the choices, with every name checked."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from assay import registry
from assay.contracts.experiment import VERSION, SystemChoice
from assay.contracts.factors import Scalar
from assay.contracts.plugins import spelled
from assay.contracts.server_url import is_url, without_password
from assay.contracts.systems.abilities import CompletesUrls, ReachedByUrl, SeveralVersions
from assay.errors import ArgumentError
from assay.experiment.choices import identity, profiles, written_systems
from assay.experiment.choices.identity import identity_of_choice
from assay.experiment.choices.profiles import PROFILE
from assay.experiment.choices.written_systems import called_system, split_systems
from assay.text import paths, pattern
from assay.text.phrases import Mention, phrase
from assay.text.secrets import is_connection_string, without_secrets
from assay.workload.values import Workload

MOST_COMBINATIONS = 10_000

ORDERS = ("interleaved", "randomized", "sequential")

_VERSIONED = pattern(r"([\w-]+)@([^/:@]*)(?:://.*)?")
_BEHIND_A_NAME = pattern(r"[@:\[]")

Levels = dict[str, tuple[str, ...]]

CURRENT_FOLDER = Path()


def system_choice(word: str, folder: Path = CURRENT_FOLDER) -> SystemChoice:
    """The system choice for one word of ``--on``; ``folder``: where a relative directory is. Raises
    `ArgumentError`, also for the name of another system, under which the report would show what
    was not measured."""
    name, own = called_system(word)
    if not name:
        return _system_choice(word, folder)
    choice = _system_choice(own, folder)
    if not name.isprintable():
        raise ArgumentError(
            f"expected a system's name on one line, without control characters, found {name!r}",
            hint=f"choose another name: old={choice.name}",
        )
    if name != choice.name and name in registry.systems():
        raise ArgumentError(
            f"{choice.name} cannot be called {name}, which is another system",
            hint=f"choose another name: old={choice.name}",
        )
    return replace(choice, called=name)


def _choices(words: Sequence[str], folder: Path) -> Iterator[SystemChoice]:
    """Of the systems that one word of ``--on`` names."""
    before = ""
    for word, following in itertools.zip_longest(words, words[1:], fillvalue=""):
        _, own = called_system(word)
        try:
            yield system_choice(word, folder)
        except ArgumentError as error:
            name = called_system(following)[1].partition("[")[0]
            is_cut = is_url(own) and not (is_url(name) or name in ("", *registry.systems()))
            if is_cut:
                whole = f"{without_password(word)}%2C{following}"
                comma = f"a comma in a URL is written %2C: {whole}"
                error.hint = f"{comma}; " + error.hint if error.hint else comma
            elif whole := _cut_directory(before, own):
                quotes = f"a comma or a bracket in a directory stands in double quotes: {whole}"
                error.hint = f"{quotes}; {error.hint}" if error.hint else quotes
            raise
        before = own


def _cut_directory(before: str, word: str) -> str:
    """A directory as it should have been written, where it ends at a comma between the words, or at
    a bracket of its own; empty: it does not."""
    found = written_systems.system_and_directory(before)
    if found and _BEHIND_A_NAME.split(word, maxsplit=1)[0] not in registry.systems():
        return f'{found[0]}:"{found[1]},{word}"'
    found = written_systems.system_and_directory(word)
    if found and found[2] and "=" not in found[2]:
        return f'{found[0]}:"{found[1]}{found[2]}"'
    return ""


def _system_choice(word: str, folder: Path) -> SystemChoice:
    if is_url(word):
        url, bracket = written_systems.url_and_bracket(word)
        choice = _choice_by_url(url)
        given = _given(without_password(word), choice.name, bracket[1:]) if bracket else {}
        if not {*given} <= {*written_systems.OPTIONS}:
            raise ArgumentError(
                f"settings of a server by URL cannot be changed by Assay, found {bracket}",
                hint="change them in the server, and leave the brackets out; a name for what is "
                "compared: NAME=URL; for the storage that it is on: URL[storage=NAME]",
            )
        return written_systems.on_storage(choice, {key: one[0] for key, one in given.items()})
    if of_directory := written_systems.system_and_directory(word):
        return _of_directory(word, *of_directory, folder)
    name, bracket, rest = word.partition("[")
    name = name.strip()
    if (versioned := _VERSIONED.fullmatch(name)) and versioned[1] in registry.systems():
        return _versioned(word, versioned[1], versioned[2], rest if bracket else "]")
    family, colon, member = name.partition(":")
    if colon and family in registry.families():
        return _member_choice(family, member, _given(word, name, rest) if bracket else {})
    if name not in registry.systems():
        if paths.is_file(folder / (file := member or name)):
            known = {family, Path(file).suffix[1:]} & set(registry.systems())
            raise ArgumentError(
                f"{name!r} is a file: expected a system or a URL",
                hint=f"the database in it: {', '.join(known) or 'SYSTEM'}:///{file}",
            )
        if is_connection_string(name):
            raise ArgumentError(
                "a system under test is a connection string: expected a name or a URL",
                hint="write it as a URL: scheme://USER:PASSWORD@HOST:PORT/DATABASE; with a name of "
                "your own NAME=SYSTEM, NAME=SYSTEM:DIRECTORY or NAME=URL",
            )
        if colon and not member.strip("/") and family in registry.systems():
            raise ArgumentError(
                f"expected {family}, or a URL that continues after {family}://, found {name!r}"
            )
        if "@" in word or ":" in name:  # a piece of a URL, which may contain a password
            raise ArgumentError(
                "a system under test is neither a name nor a URL",
                hint="scheme://USER@HOST:PORT/DATABASE; a comma in a password may be written %2C; "
                "a directory of programs is SYSTEM:./DIRECTORY",
            )
        raise registry.unknown_system(name)
    choice = SystemChoice(name)
    return varied([choice], name, _given(word, name, rest))[0] if bracket else choice


def _of_directory(word: str, name: str, directory: str, bracket: str, folder: Path) -> SystemChoice:
    """The choice of ``NAME:DIRECTORY[KEY=VALUE]``. Nothing is looked for there yet."""
    system = registry.system(name)
    if not isinstance(system, SeveralVersions):
        raise ArgumentError(
            f"{word}: {name} has no programs of which a directory could be named",
            hint=f"{name}; of a file or a server the URL: {name}://…",
        )
    place = written_systems.absolute_directory(directory, folder)
    choice = SystemChoice(name, programs=place, build=place)
    if word.partition(":")[0].strip() != name:
        raise _has_its_version(name, word, "a directory of programs")
    return varied([choice], name, _given(word, name, bracket[1:]) if bracket else {})[0]


def _choice_by_url(url: str) -> SystemChoice:
    """The server of a URL without brackets."""
    name = registry.system_of_url(url)
    system = registry.system(name)
    if isinstance(system, ReachedByUrl):
        system.check_url(url)
        url = f"{_scheme(url, system)}://{url.partition('://')[2]}"
    if not isinstance(system, CompletesUrls):
        return SystemChoice(name, url=url)
    found = system.complete_url(url)
    return SystemChoice(name, url=found.url, url_origins=found.origins)


def _scheme(url: str, system: ReachedByUrl) -> str:
    """The first of those that mean the system."""
    given = url.partition("://")[0].lower()
    return system.url_schemes[0] if given in system.url_schemes else given


def _versioned(word: str, name: str, version: str, rest: str) -> SystemChoice:
    """The choice of ``NAME@VERSION[KEY=VALUE]``."""
    if "://" in word:
        raise _has_its_version(name, f"{name}://…")
    if not version:
        raise ArgumentError(f"{word}: expected a version behind the @", hint=f"{name}@15")
    given = _given(word, name, rest)
    if VERSION in given:
        raise ArgumentError(
            f"{word}: expected one version, found two", hint=f"leave {VERSION}= out"
        )
    return varied([SystemChoice(name)], name, {VERSION: (version,), **given})[0]


def _has_its_version(name: str, label: str, what: str = "a server by URL") -> ArgumentError:
    return ArgumentError(
        f"{label}: {what} has the version that it has",
        hint=phrase(
            "leave the version out; one that Assay starts: {}", Mention("on", f"{name}@VERSION")
        ),
    )


def _check_version(choice: SystemChoice) -> None:
    if choice.url is not None:
        raise _has_its_version(choice.name, choice.label)
    if choice.build:
        raise _has_its_version(choice.name, choice.label, "a directory of programs")
    if VERSION not in (spec.name for spec in registry.system(choice.name).option_specs):
        raise ArgumentError(
            f"there is one version of {choice.name} here, none to choose",
            hint=f"leave the version out: {choice.name}",
        )


def _member_choice(family: str, member: str, given: Levels) -> SystemChoice:
    """The choice of a family's member: what is no option of it says where it is."""
    name = f"{family}:{member}"
    specs = {spec.name for spec in registry.system(name).option_specs}
    options = {key: values for key, values in given.items() if key in specs}
    place = {key: values[0] for key, values in given.items() if key not in specs}
    of_family = registry.family(family)
    content = ""
    from assay.contracts.systems.protocol import TakesDialectFiles

    if isinstance(of_family, TakesDialectFiles):
        content = of_family.dialect_content(member)
    choice = SystemChoice(name, url=of_family.url(member, place), dialect_content=content)
    return varied([choice], name, options)[0]


def _given(word: str, name: str, rest: str) -> Levels:
    """What stands in the brackets of a word, one value of each key."""
    if not rest.endswith("]"):
        raise ArgumentError(f"{word}: the bracket is not closed", hint=f"{word}]")
    given: Levels = {}
    for setting in split(rest[:-1]):
        key, values = key_and_values(setting, in_bracket(name))
        if len(values) > 1 or key in given:
            several = ",".join(dict.fromkeys([*given.get(key, ()), *values]))
            raise ArgumentError(
                f"{word}: expected one value of {key}, found several",
                hint=phrase("{} measures each value", Mention("set", f"{name}.{key}={several}"))
                if ":" not in name
                else phrase(
                    "{} measures each; a value with a comma is written in double quotes: "
                    "'{}[{}=\"a,b\"]'",
                    Mention("on", f"'{name}[{key}=A],{name}[{key}=B]'"),
                    name,
                    key,
                ),
            )
        given[key] = values
    return given


def _systems(words: str) -> list[str]:
    return _without_gaps(words, split_systems(words))


def system_choices(words: Iterable[str], folder: Path = CURRENT_FOLDER) -> tuple[SystemChoice, ...]:
    """The choices for words of ``--on``, each a list of systems separated by commas; at least
    one. ``folder``: see `system_choice`."""
    choices = tuple(choice for one in words for choice in _choices(_systems(one), folder))
    if not choices:
        raise ArgumentError(
            "no system under test",
            hint=phrase(
                "{--on NAME} with one of: {}; a server of yours is "
                "{--on SYSTEM://USER@HOST/DATABASE}",
                ", ".join(registry.systems()),
            ),
        )
    identity.insist_on_own_names(choices)
    written_systems.insist_on_one_storage(choices)
    return identity.named_systems(choices)


def varied(choices: Iterable[SystemChoice], name: str, given: Levels) -> list[SystemChoice]:
    """The choices, with those of system ``name`` (or that the user called so) replaced by every
    combination of the given levels."""
    combinations = math.prod(map(len, given.values()))
    if combinations > MOST_COMBINATIONS:
        raise ArgumentError(
            f"settings of {name} have {combinations:,} combinations: expected at most "
            f"{MOST_COMBINATIONS:,}",
            hint="give fewer values of each",
        )
    result = []
    for choice in choices:
        if name not in choice.names:
            result.append(choice)
            continue
        for values in itertools.product(*given.values()):
            result.append(_with(choice, dict(zip(given, values, strict=True))))
    return result


def _with(choice: SystemChoice, given: Mapping[str, str]) -> SystemChoice:
    """The choice with these keys added: as options where the system declares them, else as server
    settings; of a server by URL what its storage is."""
    specs = {spec.name: spec for spec in registry.system(choice.name).option_specs}
    if choice.url is not None:
        of_storage = {*written_systems.OPTIONS} - {*specs}
        choice = written_systems.on_storage(
            choice, {key: value for key, value in given.items() if key in of_storage}
        )
        given = {key: value for key, value in given.items() if key not in of_storage}
    if PROFILE in given and PROFILE not in specs:
        choice = profiles.applied(choice, given[PROFILE])
        given = {key: value for key, value in given.items() if key != PROFILE}
    choice = profiles.without(choice, given)
    if VERSION in given:
        _check_version(choice)
    options, settings = dict(choice.options), dict(choice.settings)
    at_default = [name for name in choice.at_default if name not in given]
    for key, value in given.items():
        if key not in specs:
            settings[key] = value
            continue
        options[key] = spelled(specs[key], value, choice.name)
        if options[key] == specs[key].default:
            at_default.append(key)
    return replace(choice, options=options, settings=settings, at_default=tuple(at_default))


def apply(
    words: Iterable[str], choices: tuple[SystemChoice, ...], workload: Workload
) -> tuple[tuple[SystemChoice, ...], dict[str, tuple[Scalar, ...]]]:
    """The effect of ``--set`` words: systems with their settings, and levels of workload
    parameters. Raises `ArgumentError`, also for a key that is given twice."""
    by_system: dict[str, Levels] = {}
    parameters: dict[str, tuple[Scalar, ...]] = {}
    said: dict[str, str] = {}
    for word in words:
        key, values = key_and_values(word)
        if key in said:
            both = ",".join(one.partition("=")[2].strip() for one in (said[key], word))
            raise ArgumentError(
                phrase(
                    "expected {} once, found {} and {}",
                    key,
                    Mention("set", said[key]),
                    Mention("set", word),
                ),
                hint=phrase("all its levels in one: {}", Mention("set", f"{key}={both}")),
            )
        said[key] = word
        system, dot, setting = _divided(key, choices)
        if not dot:
            parameters[key] = parameter_levels(workload, key, values)
            continue
        if system not in _names(choices):
            raise _not_chosen(system, choices)
        by_system.setdefault(system, {})[setting] = values
    result = list(choices)
    for system, given in by_system.items():
        result = varied(result, system, given)
    return tuple(result), parameters


def _divided(key: str, choices: Iterable[SystemChoice]) -> tuple[str, str, str]:
    """``SYSTEM.KEY`` at its dot: the name of a system may have some too (a Python module)."""
    for name in sorted(_names(choices), key=len, reverse=True):
        if key.startswith(f"{name}."):
            return name, ".", key[len(name) + 1 :]
    return key.partition(".")


def _names(choices: Iterable[SystemChoice]) -> list[str]:
    return list(dict.fromkeys(name for choice in choices for name in choice.names))


def _not_chosen(system: str, choices: tuple[SystemChoice, ...]) -> ArgumentError:
    if system in registry.systems():
        return ArgumentError(
            f"a setting of {system}, which is not among the systems of this run",
            hint=phrase(
                "{}",
                Mention(
                    "on", ",".join([*dict.fromkeys(chosen.name for chosen in choices), system])
                ),
            ),
        )
    return registry.unknown("system", system, _names(choices))


class UnknownParameter(ArgumentError):
    """Of a workload: ``name`` may be one of something else."""

    name = ""


def parameter_levels(workload: Workload, name: str, words: Iterable[str]) -> tuple[Scalar, ...]:
    """The levels of a workload parameter, each of its type and in its range."""
    if name not in workload.parameters:
        error = registry.unknown(f"parameter of {workload.name}", name, workload.parameters)
        unknown = UnknownParameter(
            error.message,
            hint=phrase(
                "{}; a server's own setting: {}", error.hint, Mention("set", f"SYSTEM.{name}=VALUE")
            ),
        )
        unknown.name = name
        raise unknown
    return tuple(workload.parameters[name].value(word) for word in words)


def split(words: str) -> list[str]:
    """The parts between commas outside brackets and quotes; of an empty text there are none. Raises
    `ArgumentError` for an empty part beside others."""
    return _without_gaps(words, parts_of(words))


def _without_gaps(words: str, parts: Sequence[str]) -> list[str]:
    named = [part for part in parts if part]
    if named and len(named) < len(parts):
        hint = f"without the comma: {without_secrets(','.join(named))}"
        raise ArgumentError(
            f"expected something on both sides of each comma, found {without_secrets(words)!r}",
            hint=hint,
        )
    return named


def parts_of(words: str) -> list[str]:
    """The same, with the empty parts."""
    parts, depth, quoted, part = [], 0, False, ""
    for letter in words:
        if letter == '"':
            quoted = not quoted
        if not quoted:
            depth += {"[": 1, "]": -1}.get(letter, 0)
            if letter == "," and depth == 0:
                parts.append(part.strip())
                part = ""
                continue
        part += letter
    return [*parts, part.strip()]


_QUOTED: Final = '"a,b"'


def _as_option(key: str, value: str) -> str:
    return phrase("{}", Mention("set", f"{key}={value}"))


def in_bracket(name: str) -> Callable[[str, str], str]:
    """How a key and its value are written behind a system or a storage."""
    return lambda key, value: f"'{name}[{key}={value}]'"


def key_and_values(
    word: str, written: Callable[[str, str], str] = _as_option
) -> tuple[str, tuple[str, ...]]:
    """``key=a,b`` as (key, (a, b)); a value in double quotes may contain a comma. ``written``: how
    a key and its value are, for messages."""
    key, equals, values = (part.strip() for part in word.partition("="))
    if not equals or not key:
        comma = f"; a value with a comma in double quotes: {written('KEY', _QUOTED)}"
        raise ArgumentError(
            f"{word!r}: expected KEY=VALUE",
            hint=phrase("{--set copies=10}")
            if written is _as_option
            else written("KEY", "VALUE") + comma,
        )
    if key.startswith('"') or values.count('"') % 2:
        key = key.strip('"')
        raise ArgumentError(
            f"{key}: double quotes must enclose the whole value",
            hint=written(key, _QUOTED) + '; a quote within a quoted value is written twice: ""',
        )
    try:
        found = next(csv.reader([values], skipinitialspace=True), [])
    except csv.Error:  # of a line break outside double quotes, or a field of 128 KiB
        raise ArgumentError(
            f"{key}: expected values on one line, found a line break or a very long value",
            hint=written(key, _QUOTED),
        ) from None
    levels = tuple(value.strip() for value in found)
    if not levels or not all(levels):
        where = "beside a comma" if any(levels) else "after the equals sign"
        raise ArgumentError(f"{word!r}: no value {where}", hint=written(key, "VALUE"))
    return key, levels


def with_settings_of_file(
    choices: Iterable[SystemChoice], of_file: Mapping[str, Levels], said: Collection[str]
) -> tuple[SystemChoice, ...]:
    """Each choice with every combination of the levels that the file has for its system. Those of
    ``said``, ``SYSTEM.KEY``, and what a choice says itself go before. A server by URL has the
    settings that it has."""
    result: list[SystemChoice] = []
    for choice in choices:
        several = [choice]
        for name in choice.names if _is_configured(choice) else ():
            own = {*own_settings(choice), *_own_of_names(choice, said), *_of_urls(choice)}
            levels = of_file.get(name, {})
            left = {key: values for key, values in levels.items() if key not in own}
            several = varied(several, name, left)
        result += several
    return tuple(result)


def each_once(choices: Sequence[SystemChoice], said: Collection[str]) -> tuple[SystemChoice, ...]:
    """Without those that differ from an earlier one in keys alone that are ``said``, which are
    replaced."""
    return tuple({_without(one, said): one for one in reversed(choices)}.values())[::-1]


def _without(choice: SystemChoice, said: Iterable[str]) -> str:
    own = _own_of_names(choice, said)
    if PROFILE in own and choice.profile:
        choice = profiles.applied(choice, profiles.NONE)
    options, settings = (
        {key: value for key, value in given.items() if key not in own}
        for given in (choice.options, choice.settings)
    )
    return identity_of_choice(replace(choice, options=options, settings=settings))


def _is_configured(choice: SystemChoice) -> bool:
    return choice.url is None or choice.name.partition(":")[0] in registry.families()


def own_settings(choice: SystemChoice) -> set[str]:
    profile = {PROFILE} if choice.profile else set()
    return {*choice.options, *choice.settings, *choice.at_default, *profile}


def _own_of_names(choice: SystemChoice, said: Iterable[str]) -> set[str]:
    """The keys of this system among ``SYSTEM.KEY``."""
    return {
        key.removeprefix(f"{name}.")
        for key in said
        for name in choice.names
        if key.startswith(f"{name}.")
    }


def _of_urls(choice: SystemChoice) -> set[str]:
    """What is said of a server by URL alone."""
    specs = {spec.name for spec in registry.system(choice.name).option_specs}
    return {*written_systems.OPTIONS} - specs
