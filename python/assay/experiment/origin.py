"""Where an experiment comes from: the command line as a document, by which its experiments are
found again, and whether its files are of an unpacked capsule."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from assay import registry
from assay.contracts.experiment import Experiment
from assay.contracts.recorded import Command
from assay.contracts.setting import Setting
from assay.experiment.choices.checked_choices import split
from assay.experiment.settings_catalogue import SETTINGS, Words
from assay.text.secrets import without_secrets

Patterns = tuple[tuple[str, ...], ...]

_LEFT_OUT = ("only", "log")
"""``--only`` says which of the runs are executed now, and is no part of what is asked; nor is the
name of a file that is written."""


def command_of(words: Words) -> Command | None:
    """The file, the current folder (where data and records are, if nothing else is said), and
    the options that were given, as they are typed; None without an experiment file."""
    if not words.target.endswith(".toml"):
        return None
    given = {
        setting.word: _as_typed(setting, getattr(words, name))
        for name, setting in SETTINGS.items()
        if name not in _LEFT_OUT and words.has(name)
    }
    file = registry.experiment_file(words.target).resolve()
    return {"file": str(file), "folder": str(Path.cwd()), **given}


def _as_typed(setting: Setting, value: Any) -> Any:
    return f"{value * 1000:.12g}ms" if setting.needs_unit else value


def spelled_command(command: Command, records: Path, default_records: str) -> str:
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


MANIFEST: Final = "manifest.json"
_KEYS: Final = {"format", "assay", "members"}
MOST_BYTES: Final = 4 << 20


def capsule_folder_of(target: str) -> Path | None:
    """The unpacked capsule that an experiment file, or the folder of a workload, is in."""
    path = Path(target)
    is_whole = path.is_dir() or path.suffix == ".toml"
    above = sorted(_folders([target]) if is_whole else (), key=lambda folder: len(folder.parts))
    return next(filter(_is_below_a_manifest, above), None)


def is_of_capsule(experiment: Experiment, target: str) -> bool:
    """``target``: the file that was named; empty: none was."""
    scripts = (script.path for script in experiment.scripts)
    named = [target, experiment.workload, experiment.feed or "", *scripts, *experiment.input_paths]
    return any(map(_is_below_a_manifest, _folders(named)))


def _folders(named: Iterable[str]) -> set[Path]:
    """Those that the files are in, through all links."""
    found: set[Path] = set()
    for name in named:
        path = Path(name)
        if name and path.exists():
            whole = path.resolve()
            found.update(whole.parents)
            found.add(whole)
    return found


def _is_below_a_manifest(folder: Path) -> bool:
    manifest = folder / MANIFEST
    try:
        if not manifest.is_file() or manifest.stat().st_size > MOST_BYTES:
            return False
        found = json.loads(manifest.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.keys() >= _KEYS
