"""Takes the words for experiments on a command line; gives their records: ``3``, ``latest``,
``latest-1``, ``run:17``, ``run:latest``, ``3,5,7`` (several, as one side), ``FILE`` (its latest) or
``FILE:3``; in a report also ``NAME=3``, which names its machine.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Sequence
from pathlib import Path

from assay.cli.output.rows import local_time
from assay.errors import ArgumentError
from assay.record import ExperimentRecord, Store
from assay.record.reader import joined_experiments

_ONE = r"(?:(?:run[ :])?latest(?:-\d{1,9})?|(?:(?:experiment|run)[ :]?)?\d{1,30})"
_KINDS = ("experiment", "run")
_RUN = re.compile(r"run[^,]*", re.IGNORECASE)
_REFERENCE = re.compile(rf"{_ONE}(?:,{_ONE})*", re.IGNORECASE)


def experiments(word: str, records: Path) -> list[ExperimentRecord]:
    """Raises `ArgumentError` where there is no such experiment or record file."""
    path, reference = _place(word, records)
    with Store(path, must_exist=True) as store:
        found = [store.find(one) for one in reference.split(",")]
    numbers = [one.id for one in found]
    if len(set(numbers)) < len(numbers):
        raise ArgumentError(f"{word!r} names an experiment twice")
    return found


def last_two(records: Path) -> tuple[str, str]:
    """The last experiment, behind the one of its workload before it. Raises `ArgumentError` where
    there is none."""
    with Store(records, must_exist=True) as store:
        workload, last, before = store.last_two()
    if before is not None:
        return str(before), str(last)
    raise ArgumentError(
        f"expected two experiments of one workload, found {workload} once, as experiment {last}",
        hint="name two sides: assay compare 3 5, or compare two levels of a factor: --between",
    )


def in_one_report(words: Sequence[str], records: Path) -> ExperimentRecord:
    """``3 5``, ``big=3 small=5``, ``run 17``: several as one. Raises `ArgumentError`."""
    found: list[ExperimentRecord] = []
    named: dict[int, str] = {}
    for word in _with_their_kind(words) or ["latest"]:
        name, reference = _name(word)
        of_word = experiments(reference, records)
        known = {(one.path.resolve(), one.id) for one in found}
        if twice := [one.id for one in of_word if (one.path.resolve(), one.id) in known]:
            raise ArgumentError(f"experiment {twice[0]} is named twice")
        found += of_word
        named |= dict.fromkeys((one.id for one in of_word), name)
    return joined_experiments(found, named)


def run_of(words: Sequence[str], records: Path) -> tuple[Path, str] | None:
    """The record file and the reference where the words are for one run; None: they are not."""
    if len(joined := _with_their_kind(words)) != 1:
        return None
    name, word = _name(joined[0])
    path, reference = _place(word, records)
    if not _RUN.fullmatch(reference):
        return None
    if name:
        raise ArgumentError(f"a run alone names no machine, found {joined[0]!r}", hint=word)
    return path, reference


def _with_their_kind(words: Sequence[str]) -> list[str]:
    """``run 17`` is one reference, in two words."""
    found: list[str] = []
    for word in words:
        if found and found[-1].lower() in _KINDS:
            found[-1] = f"{found[-1]} {word}"
        else:
            found.append(word)
    return found


def _name(word: str) -> tuple[str, str]:
    """The name of a machine, and of which experiment; a file may have an equals sign in its
    name."""
    name, equals, reference = word.partition("=")
    if not equals or os.path.exists(word.rpartition(":")[0] or word):  # noqa: PTH110
        return "", word
    if not name.strip():
        raise ArgumentError(f"expected the name of a machine before {word!r}", hint="big=3")
    return name.strip(), reference


def title(experiments: list[ExperimentRecord], records: Path) -> str:
    """``experiment 3, tpcb, 2026-11-22 21:15:02``, with its file where that is another."""
    numbers = ", ".join(str(one.id) for one in experiments)
    word = "experiment" if len(experiments) == 1 else "experiments"
    first = experiments[0]
    name = first.title or first.workload.name
    # One run of several: two of them would be the same experiment on both sides.
    runs = [run.id for one in experiments for run in one.runs if len(one.runs) < one.runs_planned]
    if len(runs) == len(experiments):
        numbers = f"{numbers}, {'run' if len(runs) == 1 else 'runs'} {', '.join(map(str, runs))}"
    parts = [f"{word} {numbers}", *([name] if name else []), local_time(first.begun_unix_ns)]
    if first.path != records:
        parts.append(str(first.path))
    return ", ".join(parts)


def _place(word: str, records: Path) -> tuple[Path, str]:
    """The record file and the reference in it."""
    if _REFERENCE.fullmatch(word):
        return records, word
    if os.path.isfile(word):  # noqa: PTH113  (a `Path` fails for a name that is too long)
        return Path(word), "latest"
    before, colon, reference = word.rpartition(":")
    if not colon or not _REFERENCE.fullmatch(reference):
        file, colon, rest = word.partition(":run:")
        if colon and rest.isdecimal():
            return Path(file), f"run {rest}"
        is_path = "/" in word or bool(Path(word).suffix)
        raise ArgumentError(
            f"there is no record file {word!r}"
            if is_path
            else f"expected an experiment or a record file, found {word!r}",
            hint="3, latest, latest-1, run:17, 3,5 (several), FILE (its latest) or FILE:3",
        )
    if before.endswith(":run"):
        return Path(before.removesuffix(":run")), f"run {reference}"
    return Path(before), reference
