"""The capsule of each experiment file's quick version is run again in a fresh clone by one command,
and the same is called different in at most 5 % of the cells.

A case is an experiment file that Assay brings. Its quick version is run on the first of its systems
that this machine has (one that needs no server, if there is one), in a folder here, three times
each cell; `assay capsule pack` makes one file of it, `assay capsule verify` looks at that, and
`assay capsule rerun` of a clone of this repository, in which nothing but `make run` was done, runs
it again in another folder and compares. It must end as the first run did, have every cell of it,
and find each comparable, as far as it has a number. Both are on one machine, one after the other:
by the verdicts of `assay compare`, 2 % of false ones are allowed for where the machine itself is as
it was, and what other programs did is said beside them.

`CLONE=FOLDER` in the environment names a clone in which `make run` was done; without it a single
case uses this program in its place. `ONLY=tpcb,tpch` tries these files alone. Cases take minutes,
so `NOTED=FILE` keeps the result of each, and those that stand in it are not tried again: the page
may be of several calls.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypedDict

from assay import comparison, registry
from assay.comparison.sides import Comparison, Direction
from assay.contracts.experiment import SystemChoice
from assay.contracts.systems.abilities import WorksInProcess
from assay.experiment import from_file
from assay.lab.preflight import availability_of
from assay.record import Store
from assay.record.capsule import capsule_file
from proofs._proof import Found

CASES = len(registry.experiments())
SHORT = 1

_ROOT = Path(__file__).parents[1]
_REPETITIONS = 3
"""The fewest of which a difference that is not seen says something; a short case sees none."""
_CALLED = 0.05
_DIFFERENT = (Direction.BETTER, Direction.WORSE)
_LONGEST_S = 1200.0
"""Of a command; a case has two long ones."""
_AS_QUICK = ("--no-probe", "--no-durability", "--progress", "0")


def prove(cases: int, seed: int, timeout_s: float, first: int = 0) -> Found:
    """Packs so many experiments and runs each again."""
    del timeout_s  # a quick version takes minutes
    files = _files()
    only = os.environ.get("ONLY", "").split(",")
    chosen = [name for name in files[first : first + cases] if only == [""] or name in only]
    noted = _noted()
    with _program(is_single=cases == 1) as program:
        for name in chosen:
            if name not in noted:
                command = f"ONLY={name} python -m proofs capsules --cases {CASES} --seed {seed}"
                noted[name] = _tried(name, program, command, 1 if cases == 1 else _REPETITIONS)
                _note(name, noted[name])
    results = [noted[name] for name in chosen]
    outcomes = Counter({case: n for one in results for case, n in one["outcomes"].items()})
    outcomes.update(f"{name}: not tried" for name in files if name not in chosen)
    faults = [one["fault"] for one in results if one["fault"]]
    called = sum(one["called"] for one in results)
    compared = sum(one["compared"] for one in results)
    most = max(1, int(_CALLED * compared))
    outcomes[f"cells called different, of {compared} and at most {most}"] = called
    if called > most:
        faults.append(f"{called} of {compared} cells called different, at most {most} expected")
    return Found(len(chosen), outcomes, faults)


class _Result(TypedDict):
    """Of a case, as it is noted."""

    outcomes: dict[str, int]
    fault: str
    compared: int
    """Cells."""
    called: int
    """Of them, those that are called different."""


def _noted() -> dict[str, _Result]:
    """By the names of experiment files."""
    file = Path(os.environ.get("NOTED", ""))
    lines = file.read_text("utf-8").splitlines() if file.is_file() else ()
    return dict(map(json.loads, lines))


def _note(name: str, result: _Result) -> None:
    if path := os.environ.get("NOTED"):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps([name, result])}\n")


def _tried(name: str, program: Path, command: str, repetitions: int) -> _Result:
    """``command``: repeats the case."""
    system = _system(name)
    if system is None:
        return _result({f"{name}: left out: none of its systems is here": 1})
    case = f"{name} on {system}"
    with tempfile.TemporaryDirectory(prefix="assay-capsules-") as folder:
        try:
            made, said = _case(name, system, program, Path(folder), repetitions)
        except _Late as late:
            return _result({f"{case}: not tried to its end: {late}": 1})
        except _Wrong as wrong:
            return _result({f"{case}: wrong": 1}, f"{command}\n{case}: {wrong}")
    verdicts = Counter(cell.primary.verdict.partition(":")[0] for cell in made.cells)
    print(f"{case}: {dict(verdicts)}; {said}", file=sys.stderr, flush=True)
    seen = [one for one in made.cells if one.primary.direction in _DIFFERENT]
    for cell in seen:
        ratio = cell.primary.estimate.ratio if cell.primary.estimate else 0
        print(f"{cell.name}: {cell.primary.verdict}, {ratio:.3g}", file=sys.stderr)
    outcomes = {f"{case}: {verdict}": n for verdict, n in verdicts.items()}
    return _result(outcomes, compared=len(made.cells), called=len(seen))


def _result(
    outcomes: dict[str, int], fault: str = "", compared: int = 0, called: int = 0
) -> _Result:
    return {"outcomes": outcomes, "fault": fault, "compared": compared, "called": called}


class _Late(Exception):
    """A command that had not ended in time, which decides nothing."""


class _Wrong(Exception):
    """What a command did that it should not."""


def _quick(name: str) -> tuple[SystemChoice, ...]:
    file = registry.experiment_file(f"{name}.toml")
    experiment, _ = from_file.read(file, is_quick=True)
    return experiment.systems


def _files() -> list[str]:
    """In the order of the guide that lists them, but first the shortest one, for a short case."""
    text = (_ROOT / "docs" / "guides" / "papers.md").read_text("utf-8")
    listed = re.findall(r"^\| `([\w-]+)\.toml`", text, re.MULTILINE)
    names = [name for name in listed if name in registry.experiments()]
    names += [name for name in registry.experiments() if name not in names]
    shortest = min(names, key=lambda one: registry.experiment_file(f"{one}.toml").stat().st_size)
    return [shortest, *(name for name in names if name != shortest)]


def _system(name: str) -> str | None:
    choices = _quick(name)
    missing = availability_of(choices).missing
    here = [one for one in choices if one.label not in missing]
    here.sort(key=lambda one: not _is_in_process(one))
    return here[0].name if here else None


def _is_in_process(choice: SystemChoice) -> bool:
    system = registry.system(choice.name)
    return isinstance(system, WorksInProcess) and system.is_in_process(choice)


@contextmanager
def _program(*, is_single: bool) -> Iterator[Path]:
    """That of a fresh clone."""
    if given := os.environ.get("CLONE"):
        yield Path(given, ".venv", "bin", "assay")
    elif is_single:
        yield Path(sys.executable).with_name("assay")
    else:
        with tempfile.TemporaryDirectory(prefix="assay-clone-") as folder:
            clone = Path(folder, "assay")
            subprocess.run(["git", "clone", "--quiet", str(_ROOT), str(clone)], check=True)
            subprocess.run(["make", "-C", str(clone), "run"], check=True, stdout=sys.stderr)
            yield clone / ".venv" / "bin" / "assay"


def _case(
    name: str, system: str, program: Path, folder: Path, repetitions: int
) -> tuple[Comparison, str]:
    """How both compare, and what was said of the machine's load."""
    own = Path(sys.executable).with_name("assay")
    here, there = folder / "here", folder / "there"
    here.mkdir()
    there.mkdir()
    capsule = there / f"{name}{capsule_file.ENDING}"
    words = ("--quick", "--on", system, "--storage", "here", "--repetitions", str(repetitions))
    first = _done(own, here, "run", f"experiments/{name}.toml", *words, *_AS_QUICK)
    _insist(_done(own, here, "capsule", "pack", "latest", "-o", str(capsule)), 0)
    _insist(_done(program, there, "capsule", "verify", capsule.name), 0)
    again = _done(program, there, "capsule", "rerun", capsule.name, *_AS_QUICK)
    _insist(again, first.returncode)
    made = _compared(capsule, there)
    if made.unequal:
        raise _Wrong(f"expected the same cells in both, found {made.unequal[0].name} in one")
    for cell in made.cells:
        if cell.blocked_by:
            raise _Wrong(f"{cell.name}: expected two that compare, found {cell.not_comparable}")
    load = [one for one in again.stdout.splitlines() if one.startswith("other programs used")]
    return made, "".join(load)


def _compared(capsule: Path, there: Path) -> Comparison:
    with zipfile.ZipFile(capsule) as file:
        file.extract(capsule_file.RECORD, there / "packed")
    sides = []
    for side, record in (
        ("A", there / "packed" / capsule_file.RECORD),
        ("B", there / capsule_file.RECORD),
    ):
        with Store(record, must_exist=True) as store:
            sides.append(comparison.side(side, "", [store.latest()]))
    return comparison.compare(*sides)


def _done(program: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    began = subprocess.Popen(
        [program, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        out, err = began.communicate(timeout=_LONGEST_S)
    except subprocess.TimeoutExpired:
        began.send_signal(signal.SIGINT)  # so that it ends its servers
        began.communicate()
        raise _Late(f"{words[0]} had not ended after {_LONGEST_S:.0f} s") from None
    return subprocess.CompletedProcess(began.args, began.returncode, out, err)


def _insist(done: subprocess.CompletedProcess[str], status: int) -> None:
    if done.returncode != status:
        command = " ".join(map(str, done.args[1:3]))
        raise _Wrong(
            f"{command}: expected exit status {status}, found {done.returncode}: {done.stderr}"
        )
