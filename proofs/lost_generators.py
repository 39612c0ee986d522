"""Where a load generator is lost, what it had reported is on the server, and no more than that and
what is counted as `unknown`; where the one that coordinates is lost, nothing is left at work.

Each case has eight clients insert rows into a table of a PostgreSQL server, from two to four
generators of this machine. In two cases of three, a generator is killed (kill -9) or stopped
(SIGSTOP) at a random instant, and the others end or continue: the rows of the table are then at
least the transactions that were ok, and at most these and the unknown ones, of all generators and
of the run itself, which are the same. One in three of these is lost within the first half second,
where no bound may be known of what the lost one did: the run says so, is not valid, and its rows
are at least the transactions that were ok. In the others the process that coordinates is killed or
stopped: the rows are at least what it had last heard of, and within 20 s no session of a client is
left on the server and no generator has clients at work. What each generator kept of its part then
has every row: they are at least the transactions that were ok, and at most these and the unknown
ones.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from random import Random

import msgspec
import psutil
from msgspec import structs

from assay.contracts.deployment import Deployment
from assay.contracts.documents import ScriptDocument
from assay.contracts.driving import ON_LOST
from assay.contracts.engine import DriveDocument, DriveProgress, StopDocument
from assay.contracts.observation.clients import BOUND_NOT_KNOWN
from assay.drive import generators as kept_parts
from assay.drive.fleet import drive_at_once
from assay.drive.generators import PartOfDrive, Terms
from assay.drive.observe import Generators, observe, split_document
from assay.errors import SystemMissing
from assay.experiment import StorageChoice
from assay.experiment.choices.checked_choices import system_choice
from assay.judge.result_checks import why_failed
from assay.provision.engine.engine_calls import session
from assay.provision.engine.engine_programs import LocalFleet
from assay.provision.running_system import provision
from proofs._proof import TIMEOUT_S, Found

CASES = 60
SHORT = 3

_CLIENTS = 8
_EARLY, _EARLY_S = 1 / 3, 0.5
_LEFT_S = 20.0
_COUNT = "SELECT count(*) FROM lost"
_SESSIONS = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'INSERT INTO lost%'"
_COORDINATOR = """
import sys
from proofs.lost_generators import coordinate
coordinate(int(sys.argv[1]), sys.stdin.readline(), sys.argv[2])
"""


def prove(cases: int, seed: int, timeout_s: float, first: int = 0) -> Found:
    """Loses so many of them. In a short run, ``timeout_s`` is longer, and so are the 20 s."""
    left_s = _LEFT_S * timeout_s / TIMEOUT_S
    outcomes: Counter[str] = Counter()
    faults = []
    try:
        with provision(system_choice("postgresql"), StorageChoice(), connections=20) as deployment:
            for number in range(first, first + cases):
                kind, wrong = _case(deployment, Random(f"{seed} {number}"), number, left_s)
                outcomes[f"{kind}: {'wrong' if wrong else 'right'}"] += 1
                if wrong:
                    command = f"python -m proofs lost_generators --cases 1 --first {number}"
                    faults.append(f"{command} --seed {seed}\n{kind}: {wrong}")
    except SystemMissing as error:
        outcomes[f"left out: {error.message}"] = cases
    return Found(cases, outcomes, faults)


def _case(deployment: Deployment, random: Random, number: int, left_s: float) -> tuple[str, str]:
    _ask(deployment, "DROP TABLE IF EXISTS lost")
    _ask(deployment, "CREATE TABLE lost (v bigint)")
    how = random.choice([signal.SIGKILL, signal.SIGSTOP])
    after_s = random.uniform(0.0, 2.5 if random.random() > _EARLY else _EARLY_S)
    generators = random.randint(2, 4)
    word = "killed" if how == signal.SIGKILL else "stopped"
    if number % 3 < 2:
        kind, wrong = _generator(deployment, random, generators, _Loss(how, after_s, random))
        return f"generator {word}, {kind}", wrong
    with tempfile.TemporaryDirectory() as kept_in:
        wrong = _coordinator(deployment, generators, how, after_s, kept_in, left_s)
    return f"coordinator {word}", wrong


class _Loss:
    """Of a generator of this process, once clients have worked for so long."""

    def __init__(self, how: signal.Signals, after_s: float, random: Random) -> None:
        self._how, self._after_s, self._random = how, after_s, random
        self._timer: threading.Timer | None = None

    def __call__(self, report: DriveProgress) -> None:
        """Not with a report, which would be the last one of all and right."""
        if self._timer is None:
            pid = self._random.choice(_generators(os.getpid())).pid
            left_s = max(0.0, self._after_s - report.elapsed_s)
            self._timer = threading.Timer(left_s, os.kill, (pid, self._how))
            self._timer.start()


def _generator(
    deployment: Deployment, random: Random, generators: int, loss: _Loss
) -> tuple[str, str]:
    on_lost = random.choice(ON_LOST)
    fleet = Generators(LocalFleet(generators), Terms(on_lost=on_lost))
    found = observe(deployment, _document(6.0), loss, generators=fleet)
    rows = _rows_at_last(deployment)
    ok = sum(one.ok for one in found.generators)
    unknown = sum(one.unknown for one in found.generators)
    lost = sum(one.is_lost for one in found.generators)
    is_bounded = found.is_bound_known
    wrong = ""
    if lost != 1:
        wrong = f"expected 1 lost generator, found {lost}"
    elif rows < ok:
        wrong = f"expected at least {ok} rows, found {rows}"
    elif is_bounded and rows > ok + unknown:
        wrong = f"expected {ok} to {ok + unknown} rows, found {rows}"
    elif not is_bounded and why_failed(found, (), None) is None:
        wrong = "expected a run that is not valid, as no bound is known"
    elif (found.outcomes.ok, found.outcomes.unknown) != (ok, unknown):
        own = found.outcomes
        wrong = f"expected {ok} ok and {unknown} unknown of the run, found {own.ok}, {own.unknown}"
    elif left := _generators(os.getpid()):
        wrong = f"expected no generator left, found {len(left)}"
    return f"others {on_lost}{'' if is_bounded else f', {BOUND_NOT_KNOWN}'}", wrong


def coordinate(generators: int, document: str, kept_in: str) -> None:
    """In a process of its own: says on standard output what it hears."""
    whole = msgspec.json.decode(document, type=DriveDocument)
    parts = [
        PartOfDrive(place, part) for place, part in enumerate(split_document(whole, generators))
    ]
    drive_at_once(LocalFleet(generators), parts, _say, terms=Terms(kept_in=Path(kept_in)))


def _say(report: DriveProgress) -> None:
    print(report.ok, flush=True)


def _coordinator(
    deployment: Deployment, generators: int, how: signal.Signals, after_s: float, kept_in: str,
    left_s: float,
) -> str:  # fmt: skip
    document = structs.replace(_document(3 * left_s), deployment=deployment.for_engine())
    heard: list[int] = []
    with subprocess.Popen(
        [sys.executable, "-c", _COORDINATOR, str(generators), kept_in],
        cwd=Path(__file__).parents[1],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as coordinator:
        assert coordinator.stdin and coordinator.stdout
        print(document.json, file=coordinator.stdin, flush=True)
        lines = coordinator.stdout
        reader = threading.Thread(target=lambda: heard.extend(map(int, lines)), daemon=True)
        heard.append(int(lines.readline()))
        reader.start()
        time.sleep(after_s)
        programs = _generators(coordinator.pid)
        coordinator.send_signal(how)
        try:
            until_s = time.monotonic() + left_s
            while time.monotonic() < until_s and (n := _ask(deployment, _SESSIONS)):
                time.sleep(0.1)
        finally:
            coordinator.kill()
            coordinator.wait()
            reader.join()
    _, alive = psutil.wait_procs(programs, timeout=left_s)
    rows = _rows_at_last(deployment)
    if len(programs) != generators:
        return f"expected {generators} generators, found {len(programs)}"
    if n:
        return f"expected no session after {left_s:g} s, found {n}"
    if alive:
        return f"expected no generator left, found {len(alive)}"
    if rows < heard[-1]:
        return f"expected at least {heard[-1]} rows, found {rows}"
    kept = [kept_parts.read_kept_part(one).observation for one in Path(kept_in).iterdir()]
    ok = sum(one.outcomes.ok for one in kept)
    unknown = sum(one.outcomes.unknown for one in kept)
    if len(kept) != generators or not ok <= rows <= ok + unknown:
        return f"expected {ok} to {ok + unknown} rows of {len(kept)} kept parts, found {rows}"
    return ""


def _document(duration_s: float) -> DriveDocument:
    text = "\\set v random(1, 1000000000)\nINSERT INTO lost VALUES (:v);\n"
    return DriveDocument(
        scripts=(ScriptDocument(name="insert", path="insert.sql", text=text),),
        order="sequence",
        clients=_CLIENTS,
        stop=StopDocument(duration_s=duration_s),
        seed=7,
    )


def _generators(pid: int) -> list[psutil.Process]:
    children = psutil.Process(pid).children()
    return [one for one in children if "engine_process" in " ".join(one.cmdline())]


def _rows_at_last(deployment: Deployment) -> int:
    """Once the server has ended what clients had begun."""
    while _ask(deployment, _SESSIONS):
        time.sleep(0.05)
    return _ask(deployment, _COUNT)


def _ask(deployment: Deployment, statement: str) -> int:
    with session(deployment.address) as opened:
        rows = opened.execute(statement).rows
    return int(rows[0][0]) if rows else 0
