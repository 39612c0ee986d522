"""Takes an error that mentions settings; names each as the person wrote it: an option, an argument
of `assay.run`, or a key of an experiment file with its line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from assay import registry
from assay.contracts.setting import Levels, Setting
from assay.errors import ArgumentError, AssayError
from assay.experiment.choices import checked_choices
from assay.experiment.settings.catalogue import OPTIONS, SETTINGS, Words
from assay.text.files import toml_file
from assay.text.mentions import Mention

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
            return of_file(mention)
        return of_python(mention) if in_python else None

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


def of_python(mention: Mention) -> str:
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


def of_file(mention: Mention) -> str | None:
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
    if name.per_second != 1 and _is_number(plain):
        return [f"{float(plain) / name.per_second:.12g}"]
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
