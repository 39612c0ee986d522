"""Takes the words of a command line; returns the command as a document, by which the experiments of
an experiment file are found again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assay import registry
from assay.contracts.recorded import Command
from assay.contracts.setting import Setting
from assay.experiment.choices.checked_choices import split
from assay.experiment.settings.catalogue import SETTINGS, Words
from assay.text.secrets import without_secrets

Patterns = tuple[tuple[str, ...], ...]

_LEFT_OUT = ("only", "log")
"""``--only`` says which of the runs are executed now, and is no part of what is asked; nor is the
name of a file that is written."""


def command_of(words: Words) -> Command | None:
    """The file, the current folder (where data and records are, if nothing else is said), and
    the options that were given, each in its own unit; None without an experiment file."""
    if not words.target.endswith(".toml"):
        return None
    given = {
        setting.word: _in_unit_of_option(setting, getattr(words, name))
        for name, setting in SETTINGS.items()
        if name not in _LEFT_OUT and words.has(name)
    }
    file = registry.experiment_file(words.target).resolve()
    return {"file": str(file), "folder": str(Path.cwd()), **given}


def _in_unit_of_option(setting: Setting, value: Any) -> Any:
    return value if setting.per_second == 1 else round(value * setting.per_second, 9)


def spelled(command: Command, records: Path, default_records: str) -> str:
    """``cd /folder && assay run e.toml --clients 4``: such a document, as it is typed.
    ``records``: the record file, which is named where it is not the default one of the folder."""
    folder, ways = str(command.get("folder", "")), command.get("ways", {})
    options = [
        word
        for name, value in {**command, **(ways if isinstance(ways, Mapping) else {})}.items()
        if name not in ("file", "folder", "ways")
        for word in _option(name, value)
    ]
    kept_in = _seen_from(folder, records.resolve())
    if kept_in != default_records:
        options += ["--records", kept_in]
    shown = _seen_from(folder, Path(str(command["file"])))
    words = shlex.join(map(without_secrets, ["assay", "run", shown, *options]))
    return f"cd {shlex.quote(folder)} && {words}" if folder else words


def _seen_from(folder: str, path: Path) -> str:
    """Without the folder, if it is there."""
    return str(path.relative_to(folder) if folder and path.is_relative_to(folder) else path)


def _option(name: str, value: Any) -> Iterator[str]:
    """As on the command line: once for each value, a flag alone."""
    option = f"--{name.replace('_', '-')}"
    for one in value if isinstance(value, list | tuple) else [value]:
        yield option
        if one is not True:
            is_whole = isinstance(one, float) and one.is_integer()
            yield str(int(one) if is_whole else one)


def patterns(words: Words) -> Patterns:
    """Of each ``--only``, its patterns."""
    return tuple(tuple(split(word)) for word in words.only if word.strip())
