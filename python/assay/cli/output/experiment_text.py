"""Takes the words of a command line; returns the text of the experiment file that says the same.
Its scripts and workload are relative to its folder, its storages have whole directories."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from assay import registry
from assay.experiment import from_command_line as command_line
from assay.experiment.choices import checked_choices, storage_names, system_words
from assay.experiment.choices.storage_words import storage_choices

_IN_BRACKETS = re.compile(r"\[[^\]]*\]")


def of_words(words: command_line.Words, folder: Path) -> str:
    """``folder``: that of the file."""
    experiment, _ = command_line.asked(words)
    if experiment.is_ad_hoc:
        # Behind commas in one text each script is measured; a list is a mix.
        scripts = [
            _from(folder, one.path) + ("" if one.weight == 1 else f"@{one.weight}")
            for one in experiment.scripts
        ]
        what = [f"script = {_quoted(','.join(scripts))}"]
    else:
        name = experiment.workload
        is_known = name in registry.workloads()
        what = [
            f"workload = {_quoted(name if is_known else _from(folder, name))}",
            f"tests = {_list(list(experiment.tests))}",
        ]
    systems = [one for word in words.on for one in system_words.split_systems(word)]
    storages = [_storage(one) for word in words.storage for one in checked_choices.split(word)]
    lines = [
        "# Run it: assay run FILE; look at it first: assay plan FILE; shorter: --quick.",
        "# All keys: `assay schema experiment`, and the guide on experiment files.",
        f"title = {_quoted(f'{words.target} on ' + ', '.join(systems))}",
        *what,
        f"systems = {_list(systems)}",
        f"storages = {_list(storages)}",
    ]
    if words.clients is not None:
        lines += ["# Users; several numbers make a curve.", f"clients = {_numbers(words.clients)}"]
    lines += [
        "# How often each run is repeated: one says nothing of how much numbers vary.",
        "repetitions = 3",
    ]
    for assignment in words.set:
        key, _, values = assignment.partition("=")
        lines += ["", "[parameters]", f"{key} = {_numbers(values)}"]
    return "\n".join(lines) + "\n"


def _from(folder: Path, path: str) -> str:
    return os.path.relpath(path, folder)


def _storage(word: str) -> str:
    """With its directory whole: a relative one would mean another from another folder."""
    before, has_directory, _ = _IN_BRACKETS.sub("", word).partition(":")
    if not has_directory:
        return word
    (choice,) = storage_choices((word,))
    name, equals, _ = before.partition("=")
    return f"{name}{equals}{storage_names.written(choice)}"


def _list(words: list[str]) -> str:
    return f"[{', '.join(_quoted(word.strip()) for word in words)}]"


def _numbers(words: str) -> str:
    """As they are written on a command line."""
    numbers = [word.strip() for word in words.split(",")]
    return numbers[0] if len(numbers) == 1 else f"[{', '.join(numbers)}]"


def _quoted(text: str) -> str:
    """A basic string of TOML has JSON's escapes."""
    return json.dumps(text, ensure_ascii=False)
