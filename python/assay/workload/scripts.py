"""Takes a workload folder; returns its scripts, with those of instances, the overrides of single
dialects, and the statements of plain files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from assay.contracts.capabilities import LANGUAGES, SQL
from assay.errors import ExperimentError
from assay.text import paths as text_file
from assay.text import pattern
from assay.text.phrases import did_you_mean
from assay.text.toml_file import TomlTable
from assay.workload.in_dialect import INSTANCE, LITERAL, VALUE
from assay.workload.script_names import CHECKS, named_scripts
from assay.workload.values import Script

OVERRIDES = "overrides"
OTHER_LANGUAGES = tuple(language for language in LANGUAGES if language != SQL)
"""Of statements that are no SQL; such a file ends in the language."""


class FoundScripts(Struct, frozen=True):
    scripts: dict[str, Script]
    checks: dict[str, Script]
    overrides: dict[tuple[str, str], Script]
    """(dialect or language, name) → what is sent in place of the SQL."""
    texts: dict[str, str]
    """The texts of all files, by path within the folder."""
    alone: dict[str, Script]
    """Files in another language without SQL beside them, still without their texts: scripts where a
    test names them."""

    def beside(
        self,
        scripts: Mapping[str, Script],
        checks: Mapping[str, Script],
        overrides: Mapping[tuple[str, str], Script],
    ) -> FoundScripts:
        """With those of the workload that this one extends, before its own; its own overrides
        replace them."""
        return replace(
            self,
            scripts={**scripts, **self.scripts},
            checks={**checks, **self.checks},
            overrides={**overrides, **self.overrides},
        )

    def without(self, names: Collection[str]) -> FoundScripts:
        """Without these scripts and checks: inherited ones that no test names."""
        return replace(
            self,
            scripts={name: one for name, one in self.scripts.items() if name not in names},
            checks={name: one for name, one in self.checks.items() if name not in names},
            overrides={key: one for key, one in self.overrides.items() if key[1] not in names},
        )

    def with_named(self, folder: Path, names: Collection[str]) -> FoundScripts:
        """Of the files that stand alone, those that are named are scripts."""
        named = {
            name: replace(script, text=text_file.read_text(folder / script.path, ExperimentError))
            for name, script in self.alone.items()
            if name in names
        }
        texts = {script.path: script.text for script in named.values()}
        return replace(
            self, scripts={**self.scripts, **named}, texts={**self.texts, **texts}, alone={}
        )


def read_scripts(
    folder: Path,
    inherited: Mapping[str, Script] = MappingProxyType({}),
    replaceable: Mapping[str, str] = MappingProxyType({}),
) -> FoundScripts:
    """Reads every script of the folder, ordered by path. ``inherited``: those of the workload that
    this one extends; ``replaceable``: their paths → their names, for overrides."""
    found = FoundScripts({}, {}, {}, {}, {})
    overrides: list[tuple[Path, str]] = []
    for file in sorted(folder.rglob("*.sql")):
        text = text_file.read_text(file, ExperimentError)
        within = file.relative_to(folder)
        found.texts[within.as_posix()] = text
        if within.parts[0] == OVERRIDES:
            overrides.append((within, text))
            continue
        known = (found.scripts, found.checks, inherited)
        if other := next((one[file.stem] for one in known if file.stem in one), None):
            raise _second(file, file.stem, other)
        kind = found.checks if within.parts[0] == CHECKS else found.scripts
        kind[file.stem] = Script(file.stem, within.as_posix(), text, is_for_all=True)
    found.checks.update(_checks_alone(folder, found))
    every = {**found.scripts, **found.checks}
    for script in every.values():
        for language in OTHER_LANGUAGES:
            file = (folder / script.path).with_suffix(f".{language}")
            if language != script.language and file.is_file():
                within, text = file.relative_to(folder), text_file.read_text(file, ExperimentError)
                found.texts[within.as_posix()] = text
                key = language, script.name
                found.overrides[key] = Script(script.name, within.as_posix(), text)
    found.alone.update(_alone(folder, every))
    paths = {**replaceable, **{script.path: script.name for script in every.values()}}
    for within, text in overrides:
        dialects, name = _override(folder, within, text, paths)
        for dialect in dialects:
            if other := found.overrides.get((dialect, name)):
                raise ExperimentError(
                    f"replaces {name} for {dialect} a second time; the first is {other.path}",
                    file=folder / within,
                    hint="one override for each script and dialect",
                )
            found.overrides[dialect, name] = Script(name, within.as_posix(), text)
    return found


def _checks_alone(folder: Path, scripts: FoundScripts) -> dict[str, Script]:
    """The checks of another language without SQL beside them."""
    checks: dict[str, Script] = {}
    for language in OTHER_LANGUAGES:
        for file in sorted((folder / CHECKS).rglob(f"*.{language}")):
            within, name = file.relative_to(folder).as_posix(), file.stem
            if other := scripts.scripts.get(name):
                raise _second(file, name, other)
            if name not in (*scripts.checks, *checks):
                text = text_file.read_text(file, ExperimentError)
                scripts.texts[within] = text
                checks[name] = Script(name, within, text, language=language)
    return checks


def _second(file: Path, name: str, first: Script) -> ExperimentError:
    return ExperimentError(
        f"a second script is called {name!r}; the first is {first.path}",
        file=file,
        hint="the file's name is the transaction type, so it must differ",
    )


def _alone(folder: Path, every: Collection[str]) -> dict[str, Script]:
    """Files of the other languages whose names no script has. Most hold data, so none is read."""
    found: dict[str, Script] = {}
    for language in OTHER_LANGUAGES:
        for file in sorted(folder.rglob(f"*.{language}")):
            within = file.relative_to(folder)
            if within.parts[0] in (OVERRIDES, CHECKS) or file.stem in (*every, *found):
                continue
            found[file.stem] = Script(file.stem, within.as_posix(), "", language=language)
    return found


def _override(
    folder: Path, within: Path, text: str, paths: Mapping[str, str]
) -> tuple[list[str], str]:
    """(dialects, script name) of an override; raises `ExperimentError` where it replaces no script
    or gives no reason."""
    _, dialects, *rest = within.parts
    replaced = "/".join(rest)
    if replaced not in paths:
        raise ExperimentError(
            f"replaces no script: there is no {replaced or 'such file'}",
            file=folder / within,
            hint=did_you_mean(replaced, paths),
        )
    first = text.partition("\n")[0]
    if not first.startswith("--") or not first.strip("- "):
        raise ExperimentError(
            f"an override must say why on its first line, found {first!r}",
            file=folder / within,
            line=1,
            hint=f"-- {dialects}: what is spelled differently",
        )
    return dialects.split("+"), paths[replaced]


def as_file(scripts: Iterable[Script], sent: Iterable[tuple[str, str]] = ()) -> str:
    """The statements as a file for a system's own client, without lines for the engine (which begin
    with a backslash). ``sent``: (script, text) of the statements as the engine sends them, with
    the values that it writes into them."""
    by_script: dict[str, list[str]] = {}
    for name, statement in sent:
        by_script.setdefault(name, []).append(statement)
    parts = []
    for script in scripts:
        text = _statements(script)
        written = by_script.get(script.name, [])
        used = needed_values(script)
        if used and written and not any(map(_values, written)):
            comments = [line for line in text.splitlines() if line.startswith("--")]
            text = "\n".join([*comments, *(f"{one};" for one in written)]) + "\n"
        elif used:
            text = f"-- Assay sets :{', :'.join(used)}; replace by values of your own.\n{text}"
        parts.append(text)
    return "\n".join(parts)


def needed_values(script: Script) -> list[str]:
    """The names of the values in its statements, which the engine inserts."""
    return _values(_statements(script))


def _values(text: str) -> list[str]:
    return list(dict.fromkeys(VALUE.findall(LITERAL.sub("", text))))


def _statements(script: Script) -> str:
    lines = [line for line in script.text.splitlines() if not line.lstrip().startswith("\\")]
    return "\n".join(lines).strip() + "\n"


Key = TypeVar("Key")
_RANGE = pattern(r"(?P<first>\d{1,9})\s*\.\.\s*(?P<last>\d{1,9})")
_WORD = pattern(r"\w+")
_MOST = 1000


def with_instances(found_scripts: FoundScripts, section: TomlTable) -> FoundScripts:
    """Raises `ExperimentError` at the line of a name that is no such script, or of a range that is
    none."""
    words = {name: _words(section, name, found_scripts) for name in section.names()}
    for name, script in found_scripts.scripts.items():
        if INSTANCE in name and name not in words:
            raise section.error(
                f"{script.path} stands for several scripts, and nothing says for which",
                hint=f'[instances] "{name}" = "1..10"',
            )
    if not words:
        return found_scripts
    scripts: dict[str, Script] = {}
    for name, script in found_scripts.scripts.items():
        for one in _each(script, words.get(name)):
            taken = {**found_scripts.scripts, **found_scripts.checks, **scripts}
            if one is not script and one.name in taken:
                raise section.error(f"a second script is called {one.name!r}", name)
            scripts[one.name] = one
    overrides = {
        (dialect, one.name): one
        for (dialect, name), script in found_scripts.overrides.items()
        for one in _each(script, words.get(name))
    }
    return replace(found_scripts, scripts=scripts, overrides=overrides)


def with_same_texts(of_sql: FoundScripts, section: TomlTable) -> FoundScripts:
    """With ``[same_text]``: language → scripts whose SQL is of that language, too. Raises
    `ExperimentError` for another language, and for a script that has a file in it."""
    every, same = {**of_sql.scripts, **of_sql.checks}, dict[tuple[str, str], Script]()
    for language in section.names():
        if language not in OTHER_LANGUAGES:
            raise section.error(
                f"unknown language {language!r}",
                language,
                hint=did_you_mean(language, OTHER_LANGUAGES),
            )
        words = section.texts(language)
        for name in named_scripts(section, language, words, every, "script or check"):
            if own := of_sql.overrides.get((language, name)):
                raise section.error(f"{name} has a text of its own: {own.path}", language)
            same[language, name] = every[name]
    return replace(of_sql, overrides={**of_sql.overrides, **same})


def _words(section: TomlTable, name: str, found_scripts: FoundScripts) -> tuple[str, ...]:
    """What stands for the placeholder in each: the numbers of a range, or the words of a list."""
    if name not in found_scripts.scripts or INSTANCE not in name:
        known = [one for one in found_scripts.scripts if INSTANCE in one]
        raise section.error(
            f"no script {name!r} stands for several", name, hint=did_you_mean(name, known)
        )
    words = section.texts(name)
    if len(words) > 1 and all(map(_WORD.fullmatch, words)):
        return words
    matched = _RANGE.fullmatch(words[0].strip())
    numbers = range(int(matched["first"]), int(matched["last"]) + 1) if matched else range(0)
    if not 1 <= len(numbers) <= _MOST:
        raise section.error(
            f"{words[0]!r} is no range of 1 to {_MOST} numbers", name, hint='"1..14"'
        )
    return tuple(map(str, numbers))


def _each(script: Script, words: tuple[str, ...] | None) -> list[Script]:
    if words is None:
        return [script]
    return [
        replace(
            script,
            name=script.name.replace(INSTANCE, word),
            text=script.text.replace(INSTANCE, word),
        )
        for word in words
    ]
