"""An experiment of 20 cells that is killed at a random point (kill -9) has 20 cells, each once,
when its file has been run again; and nothing of it is left on the machine.

Each case runs an experiment file of its own: tpcb on PostgreSQL in a control group (`--memory`), or
on SQLite and PostgreSQL, on a directory, a tmpfs, a loop device and a modelled disk, as far as this
machine has them, in randomized order. In two cases out of three the transactions change the data,
which are restored for each run. The process is killed once or twice, each time up to two seconds
after a stage of a run that is drawn from all stages that are left (provision, load, drive, check,
end); then the file is run again to its end. Runs that had ended before a
kill must be the same ones afterwards (same number, same beginning). Looked for at the end:
processes, mounts, loop devices, control groups, files and directories, entries of the clean-up
ledger.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import psutil

from assay import env_vars, registry
from assay.contracts.systems.abilities import Findable
from assay.errors import MachineLimit, SystemMissing
from assay.experiment import ServerMachine
from assay.experiment.choices import storage_words
from assay.provision import limits
from proofs._proof import SHORT_TIMEOUT_S, Found

CASES = 30
SHORT = 1

_CELLS = 20
_SHORT_CELLS = 2
"""One on each storage that must be undone."""
_STAGES = 6
"""Of a run: it is provisioned, loaded (twice entered), driven, checked and done."""
_AGAIN = 1 / 3
"""Share of the cases that are killed a second time."""
_TIMEOUT_S = 600.0
"""After which a run counts as hung."""
_CONTROL_GROUPS = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class _Kind:
    """What an experiment is of."""

    test: str
    systems: tuple[str, ...]
    storages: tuple[str, ...]
    memory: str = "none"
    cells: int = _CELLS

    def text(self) -> str:
        """The experiment file."""
        clients = list(range(1, 1 + self.cells // (len(self.systems) * len(self.storages))))
        return (
            f'workload = "tpcb"\ntest = "{self.test}"\norder = "randomized"\n'
            f"storages = {list(self.storages)}\nsystems = {list(self.systems)}\n"
            f'clients = {clients}\nmemory = "{self.memory}"\n'
            "[drive]\ntransactions = 20\nwarm_up_s = 0\n"
        )


def _kinds(cells: int) -> list[_Kind]:
    """As far as this machine has what they need."""
    on_devices = ("loop[fs=ext4,size=256M]", "modelled[profile=nvme,size=256M]")
    if storage_words.unavailable(storage_words.storage_choices(on_devices)):
        on_devices = ()
    storages = ("here", "tmpfs", *on_devices)[-cells:]
    if not _is_here("postgresql"):
        tests = ("select-only", "simple-update")
        return [_Kind(test, ("sqlite",), storages, cells=cells) for test in tests]
    memory = "256MB" if _can_limit_memory() else "none"
    return [
        _Kind("select-only", ("postgresql",), storages, memory, cells),
        _Kind("simple-update", ("postgresql",), storages, memory, cells),
        _Kind("simple-update", ("sqlite", "postgresql"), on_devices or storages, cells=cells),
    ]


def _can_limit_memory() -> bool:
    try:
        limits.refuse_impossible_limits(ServerMachine(memory_bytes=256_000_000))
    except MachineLimit:
        return False
    return True


def prove(cases: int, seed: int, timeout_s: float, first: int = 0) -> Found:
    """Kills this many experiments."""
    # An experiment takes as long as its servers take to start.
    cells = _SHORT_CELLS if timeout_s == SHORT_TIMEOUT_S else _CELLS
    outcomes: Counter[str] = Counter()
    faults = []
    kinds = _kinds(cells)
    for number in range(first, first + cases):
        kind = kinds[number % len(kinds)]  # by the number alone, so that a case can be repeated
        found, wrong = _case(Random(f"interrupted/{seed}/{number}"), kind)
        outcomes.update(found)
        print(f"case {number}: {', '.join(found)}", *wrong, sep="\n", file=sys.stderr, flush=True)
        if wrong:
            again = f"python -m proofs interrupted_experiments --first {number} --cases 1"
            faults.append("\n".join([again, *wrong]))
    return Found(cases, outcomes, faults)


def _case(random: Random, kind: _Kind) -> tuple[list[str], list[str]]:
    """How far the experiment was when it was killed and what there was of it, and what was wrong in
    the end."""
    with _folder(kind) as folder:
        ended: dict[int, int] = {}
        there: dict[str, set[str]] = {}
        interruptions = 0
        outcomes: list[str] = []
        for _ in range(2 if random.random() < _AGAIN else 1):
            of_all = kind.cells * _STAGES
            at = random.randint(min(_stages(folder), of_all), of_all)
            was_killed = _run_and_kill(folder, at, random.uniform(0, 2))
            outcomes += ["kills"] if was_killed else []
            ended = _ended(folder)
            there |= _in_ledger(folder)
            interruptions += was_killed and _is_unfinished(folder)
            if _is_finished(folder):
                break
        if interruptions:
            outcomes.append(f"killed when {_share(len(ended), kind.cells)} of the cells had ended")
        else:
            outcomes.append("killed before the first or after the last run")
        outcomes += [f"there at a kill: {kind}" for kind in sorted(set().union(*there.values()))]
        wrong = [] if _is_finished(folder) else _run(folder)
        wrong += _wrong(folder, ended, interruptions, set(there), kind.cells)
        return outcomes, [*wrong, _said(folder)] if wrong else []


def _in_ledger(folder: Path) -> dict[str, set[str]]:
    """Mark of what the killed process has left → kinds of resources."""
    return {
        path.stem: {
            one["kind"].replace("_", " ") for one in json.loads(path.read_text())["resources"]
        }
        for path in (folder / "state").rglob("*.json")
    }


def _share(ended: int, cells: int) -> str:
    return ("none", "up to a half", "more than a half")[ended and 1 + (ended > cells / 2)]


class _folder:  # noqa: N801  (used as a statement)
    """A folder in which the experiment file is, and everything that Assay makes."""

    def __init__(self, kind: _Kind) -> None:
        self._text = kind.text()

    def __enter__(self) -> Path:
        self.path = Path(tempfile.mkdtemp(prefix="proof-", dir="/tmp"))
        self.path.chmod(0o711)  # a server of another user must pass through
        (self.path / "tmp").mkdir()
        (self.path / "tmp").chmod(0o1777)
        (self.path / "experiment.toml").write_text(self._text, "utf-8")
        return self.path

    def __exit__(self, *_error: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


def _is_here(name: str) -> bool:
    system = registry.system(name)
    try:
        if isinstance(system, Findable):
            system.find()
    except SystemMissing:
        return False
    return True


def _started(folder: Path) -> subprocess.Popen[bytes]:
    with (folder / "said").open("ab") as said:
        return subprocess.Popen(
            [Path(sys.executable).with_name("assay"), "run", "experiment.toml"],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=said,
            env={
                **os.environ,
                "TMPDIR": str(folder / "tmp"),
                "XDG_STATE_HOME": str(folder / "state"),
                env_vars.PROBE_SECONDS.name: "0.5",
            },
        )


def _run(folder: Path) -> list[str]:
    """Runs the file to its end; returns what was wrong with that."""
    with _started(folder) as running:
        try:
            status = running.wait(_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            running.kill()
            return [f"did not end within {_TIMEOUT_S:g} s", _said(folder)]
    return [f"exit status {status}", _said(folder)] if status else []


def _run_and_kill(folder: Path, stage: int, after_s: float) -> bool:
    """Runs the file until so many stages are on record, and for this time longer; then kills it.
    Returns whether it was still running."""
    with _started(folder) as running:
        give_up_s = time.monotonic() + _TIMEOUT_S
        while running.poll() is None and _stages(folder) < stage and time.monotonic() < give_up_s:
            time.sleep(0.05)
        try:
            running.wait(after_s)
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGKILL)
            return True
    return False


def _stages(folder: Path) -> int:
    """How many stages of runs are on record."""
    return sum(count for (count,) in _asked(folder, "SELECT count(*) FROM stages"))


def _asked(folder: Path, question: str) -> list[tuple[int, ...]]:
    """The answer of the record; nothing where there is no record yet."""
    try:
        connection = sqlite3.connect(f"file:{folder}/assay-records.sqlite?mode=rw", uri=True)
    except sqlite3.OperationalError:
        return []
    try:
        return connection.execute(question).fetchall()
    except sqlite3.OperationalError:
        return []  # killed before its tables were made
    finally:
        connection.close()


def _ended(folder: Path) -> dict[int, int]:
    """Number of each run that has ended → when it began."""
    return dict(_asked(folder, "SELECT id, begun_unix_ns FROM runs WHERE state = 'done'"))


def _is_unfinished(folder: Path) -> bool:
    return bool(_asked(folder, "SELECT 1 FROM experiments WHERE ended_unix_ns IS NULL"))


def _is_finished(folder: Path) -> bool:
    return bool(_asked(folder, "SELECT 1 FROM experiments WHERE ended_unix_ns IS NOT NULL"))


def _wrong(
    folder: Path, ended: dict[int, int], interruptions: int, marks: set[str], cells: int
) -> list[str]:
    """What is wrong with the record, and what is left on the machine. ``marks``: those of all that
    was made before a kill."""
    left = map("left: {}".format, _left(folder, marks))
    return [*_wrong_record(folder, ended, interruptions, cells), *left]


def _wrong_record(
    folder: Path, ended: dict[int, int], interruptions: int, expected: int
) -> Iterator[str]:
    experiments = len(_asked(folder, "SELECT id FROM experiments"))
    if experiments != 1:
        yield f"{experiments} experiments"
    ((runs, cells, done),) = _asked(
        folder, "SELECT count(*), count(DISTINCT cell_fingerprint), sum(state = 'done') FROM runs"
    )
    if (runs, cells, done) != (expected, expected, expected):
        yield f"{runs} runs of {cells} cells, of which {done} are done"
    for table in ("observations", "deployments", "cells"):
        ((rows,),) = _asked(folder, f"SELECT count(*) FROM {table}")
        if rows != expected:
            yield f"{rows} rows in {table}"
    now = _ended(folder)
    if repeated := [run for run, begun_ns in ended.items() if now.get(run) != begun_ns]:
        yield f"runs that had ended and were repeated: {repeated}"
    ((continuations,),) = _asked(folder, "SELECT count(*) FROM continuations")
    # A run that is killed before it has read the record continues nothing.
    if not min(1, interruptions) <= continuations <= interruptions:
        yield f"{continuations} continuations on record, expected {interruptions} at most"


def _left(folder: Path, marks: set[str]) -> Iterator[str]:
    """Everything of the experiment that is still there."""
    for process in psutil.process_iter(["pid", "cmdline", "cwd", "environ"]):
        environment = (process.info["environ"] or {}).values()
        words = [*(process.info["cmdline"] or ()), process.info["cwd"] or "", *environment]
        if process.pid != os.getpid() and any(str(folder) in word for word in words):
            yield f"process {process.pid}: {' '.join(process.info['cmdline'] or ())}"
    for line in Path("/proc/self/mountinfo").read_text("utf-8").splitlines():
        if str(folder) in line:
            yield f"mount {line}"
    for backing in Path("/sys/block").glob("loop*/loop/backing_file"):
        if str(folder) in backing.read_text("utf-8"):
            yield f"loop device {backing.parts[3]}"
    yield from map(str, (folder / "tmp").iterdir())
    for path in (folder / "state").rglob("*.json"):
        yield f"{path}: {path.read_text()}"
    yield from map(str, folder.glob(".assay"))
    for group in _CONTROL_GROUPS.rglob("*/"):
        if any(group.name.endswith(mark) for mark in marks):
            yield f"control group {group}"


def _said(folder: Path) -> str:
    return (folder / "said").read_text("utf-8", "replace")[-2000:]
