"""People who come from another tool, or from none, have a first own answer in at most three
commands and two minutes: from a clean home directory, with what they have, as they type it.

The people are those of `proofs/walkthroughs.toml`; what each types is on the page
[From pgbench and other tools](../guides/from-pgbench.md). The addresses `postgresql://me@db/shop`
and `mariadb://me@db/shop` stand for servers that the proof starts, each with a table of 1,000 rows.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct, convert

from assay import registry
from assay.contracts.experiment import SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.abilities import Findable
from assay.errors import SystemMissing
from assay.provision.directory import server_directory
from assay.provision.engine.engine_calls import session
from proofs._proof import TIMEOUT_S, Found

_MOST_COMMANDS = 3
_MOST_S = 120.0
_LINES = 2
"""Of the end of the last command's output, on the page."""
_ADDRESS = re.compile(r"(\w+)://me@db/shop")
_ROWS = ", ".join(f"({number}, 'a', {number % 97})" for number in range(1, 1001))


class Person(Struct, rename={"comes_from": "from"}, forbid_unknown_fields=True):
    comes_from: str
    has: str
    commands: list[str]
    answer: str
    """A regular expression of the line in which the answer is."""
    files: dict[str, str] = {}
    made: str = ""
    """Statements of DuckDB, by which a file of theirs is made, as their shell did before."""


_DECLARED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
PEOPLE = convert(_DECLARED["people"], list[Person])
CASES = len(PEOPLE)
SHORT = 1


def prove(cases: int, seed: int, timeout_s: float, first: int = 0) -> Found:
    """Walks with these people, one after the other."""
    del seed  # nothing is drawn
    most_s = _MOST_S * timeout_s / TIMEOUT_S
    outcomes: Counter[str] = Counter()
    faults, sections = [], []
    servers: dict[str, str] = {}
    with ExitStack() as stack:
        for person in PEOPLE[first : first + cases]:
            try:
                for system in {*_ADDRESS.findall(" ".join(person.commands))} - {*servers}:
                    servers[system] = stack.enter_context(_server(system))
            except SystemMissing as error:
                outcomes[f"left out: {error.message}"] += 1
                continue
            with tempfile.TemporaryDirectory(prefix="assay-home-") as home:
                section, wrong = _walked(person, Path(home), servers, most_s)
            sections.append(section)
            outcomes["no answer" if wrong else "an answer"] += 1
            faults += [f"{person.comes_from}: {wrong}"] if wrong else []
    return Found(cases, outcomes, faults, sections)


def _walked(person: Person, home: Path, servers: dict[str, str], most_s: float) -> tuple[str, str]:
    """(a section of the page, what was wrong)."""
    programs = Path(sys.executable).parent
    python = str(Path(__file__).parents[1] / "python")
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": python}
    for name, text in person.files.items():
        (home / name).write_text(text, encoding="utf-8")
    output, wrong, took_s = "", "", 0.0
    for command in person.commands:
        if person.made and not command.startswith("assay install"):
            _make(person.made, home)
        if most_s > _MOST_S:  # a short run
            command = re.sub(r"--duration \d+", "--duration 1", command)
        program, *words = shlex.split(_ADDRESS.sub(lambda match: servers[match[1]], command))
        began_s = time.monotonic()
        typed = [programs / program, *words]
        done = subprocess.run(typed, cwd=home, env=environment, capture_output=True, text=True)
        took_s += time.monotonic() - began_s
        output = done.stdout.replace("127.0.0.1", "db")
        wrong += f"status {done.returncode}\n{done.stderr}" if done.returncode else ""
    lines = output.rstrip().splitlines()
    answers = [line for line in lines if re.search(person.answer, line)]
    wrong += "" if answers else f"no line with {person.answer!r}\n{output}"
    if took_s > most_s or len(person.commands) > _MOST_COMMANDS:
        wrong += f"{len(person.commands)} commands, {took_s:.0f} s"
    last = [line for line in lines[-_LINES:] if line not in answers]
    shown = [*(f"$ {command}" for command in person.commands), "…", *answers, *last]
    title = f"## From {person.comes_from}: {took_s:.0f} s\n\nHas {person.has}."
    return "\n".join([title, "```console", *shown, "```\n"]), wrong


@contextmanager
def _server(system_name: str) -> Iterator[str]:
    """Its URL; the server has a table and runs until the end of the block."""
    system = registry.system(system_name)
    choice = SystemChoice(system_name, options={"transport": "tcp"})
    with tempfile.TemporaryDirectory(prefix="assay-proof-", dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        with (
            server_directory(StorageFacts("here", "here", folder)) as directory,
            system.provision(choice, directory, connections=None) as deployment,
        ):
            to = deployment.address
            with session(to) as opened:
                opened.execute("CREATE TABLE product (id int PRIMARY KEY, name text, price int)")
                opened.execute(f"INSERT INTO product VALUES {_ROWS}")
            yield f"{system_name}://{to.user}:{to.password or ''}@{to.host}:{to.port}/{to.database}"


def _make(statements: str, home: Path) -> None:
    """By DuckDB's own library."""
    found = registry.system("duckdb")
    assert isinstance(found, Findable)
    program = "import sys, _duckdb; _duckdb.connect().execute(sys.argv[1])"
    command = [sys.executable, "-c", program, statements]
    library = str(Path(found.find().place).parent)
    subprocess.run(command, cwd=home, env={"PYTHONPATH": library}, check=True)
