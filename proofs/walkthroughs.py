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
from assay.provision.directory import server_directory
from assay.provision.engine.engine_calls import session
from proofs._proof import Found

ROOT = Path(__file__).parents[1]
SHORT = 1
_MOST_COMMANDS = 3
_MOST_S = 120.0
_LINES = 3
"""Of the output of the last command, on the page."""
_ADDRESS = re.compile(r"(\w+)://me@db/shop")
_ROWS = (
    "CREATE TABLE product (id int PRIMARY KEY, name text, price int)",
    "INSERT INTO product VALUES " + ", ".join(f"({n}, 'a', {n % 97})" for n in range(1, 1001)),
)


class Person(Struct, rename={"comes_from": "from"}, forbid_unknown_fields=True):
    comes_from: str
    has: str
    commands: list[str]
    answer: str
    """A regular expression of the line in which the answer is."""
    files: dict[str, str] = {}
    made: str = ""
    """Statements of DuckDB, by which a file of theirs is made."""


PEOPLE = convert(
    tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["people"],
    list[Person],
)
CASES = len(PEOPLE)


def prove(cases: int, seed: int, timeout_s: float, first: int = 0) -> Found:
    """Walks with these people, one after the other."""
    del seed, timeout_s  # nothing is drawn, and two minutes are the limit
    outcomes: Counter[str] = Counter()
    faults, sections = [], []
    with ExitStack() as stack:
        servers: dict[str, str] = {}
        for person in PEOPLE[first : first + cases]:
            for command in person.commands:
                for system in _ADDRESS.findall(command):
                    if system not in servers:
                        servers[system] = stack.enter_context(_server(system))
            with tempfile.TemporaryDirectory(prefix="assay-home-") as home:
                section, wrong = _walked(person, Path(home), servers)
            sections.append(section)
            outcomes["an answer" if not wrong else "no answer"] += 1
            faults += [f"{person.comes_from}: {wrong}"] if wrong else []
    return Found(cases, outcomes, faults, sections)


def _walked(person: Person, home: Path, servers: dict[str, str]) -> tuple[str, str]:
    """(a section of the page, what was wrong)."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {"HOME": str(home), "PATH": path, "PYTHONPATH": str(ROOT / "python")}
    for name, text in person.files.items():
        (home / name).write_text(text.lstrip("\n"), encoding="utf-8")
    if person.made:
        _make(person.made, home)
    shown, output, took_s = [], "", 0.0
    wrong = [] if len(person.commands) <= _MOST_COMMANDS else ["too many commands"]
    for command in person.commands:
        typed = _ADDRESS.sub(lambda match: servers[match[1]], command)
        began_s = time.monotonic()
        done = subprocess.run(
            shlex.split(typed), cwd=home, env=environment, capture_output=True, text=True
        )
        took_s += time.monotonic() - began_s
        output = done.stdout.replace("127.0.0.1", "db")
        shown.append(f"$ {command}")
        wrong += [f"status {done.returncode}\n{done.stderr}"] if done.returncode else []
    lines = output.rstrip().splitlines()
    answers = [line for line in lines if re.search(person.answer, line)]
    wrong += [] if answers else [f"no line with {person.answer!r}\n{output}"]
    wrong += [f"{took_s:.0f} s"] if took_s > _MOST_S else []
    last = [line for line in lines[-_LINES:] if line not in answers]
    shown += ["…", *answers, "…", *last]
    title = f"## From {person.comes_from}: {took_s:.0f} s\n\nHas {person.has}.\n"
    return "\n".join([title, "```console", *shown, "```\n"]), "\n".join(wrong)


@contextmanager
def _server(system_name: str) -> Iterator[str]:
    """Its URL; the server has a table and runs until the end of the block."""
    system = registry.system(system_name)
    with tempfile.TemporaryDirectory(prefix="assay-proof-", dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        storage = StorageFacts("here", "here", folder)
        choice = SystemChoice(system_name, options={"transport": "tcp"})
        with (
            server_directory(storage) as directory,
            system.provision(choice, directory, connections=None) as deployment,
        ):
            to = deployment.address
            with session(to) as opened:
                for statement in _ROWS:
                    opened.execute(statement)
            yield f"{system_name}://{to.user}:{to.password or ''}@{to.host}:{to.port}/{to.database}"


def _make(statements: str, home: Path) -> None:
    """By DuckDB's own library, as that person's shell would."""
    found = registry.system("duckdb")
    assert isinstance(found, Findable)
    library = Path(found.find().place).parent
    program = "import sys, _duckdb; _duckdb.connect().execute(sys.argv[1])"
    command = [sys.executable, "-c", program, statements]
    subprocess.run(command, cwd=home, env={"PYTHONPATH": str(library)}, check=True)
