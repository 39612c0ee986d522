"""Whatever a text file contains (an experiment, a workload with its scripts, checks and overrides,
an ad hoc script, plain statements, or a file of profiles), it is accepted, or refused with a
message: within 10 seconds and 1 GB of memory, without a traceback or "internal error", and with an
exit status of 0, 1, 2 or 3.

Tried with the files of the built-in workloads and with examples, randomly mutated.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

from assay import registry
from proofs._case import Case
from proofs._mutate import mutated
from proofs._odd_files import EXPERIMENT
from proofs._proof import Found
from proofs._try import try_all

CASES = 3_500
SHORT = 14

_WHOLE_EXPERIMENT = """\
title = "An experiment"
workload = "tpcb"
test = ["tpcb-like", "select-only"]
systems = ["sqlite", "null"]
storages = ["here", "fast"]
clients = [1, 2]
repetitions = 2
order = "sequential"
seed = 7
threads = 1
protocol = "prepared"

[parameters]
scale = [1, 2]

[system.sqlite]
cache_size = [100, 2000]
busy_timeout_s = 5

[system.null]
delay = "constant:1ms"

[storage.fast]
kind = "here"
directory = "folder"

[drive]
duration_s = 0.05
ramp_up_s = 0.01
warm_up_s = 0.01
arrival = "poisson"
offered_rate_per_s = [100, 200.5]
latency_limit_s = 0.1
retries = { most = 3, classes = ["deadlock"] }
reconnect = { timeout_s = 2 }
isolation = "serializable"
connection = "kept"
per_statement = true
"""
_BARE_EXPERIMENT = """\
script = ["script.sql", "with space.sql@3"]
systems = "null"
[parameters]
x = [1, 2.5]
y = "z"
[drive]
transactions = 5
think_time = "exponential:1ms"
"""
_PROFILES = """\
[default.sqlite]
file = "bibtex.db"

[ssd.mysql]
host = "localhost"
port = 3306
user = "reader"
password = "x"
database = "bibtex"
tls = "off"
"""
_STATEMENTS = "select 1;\n-- two\nselect 'a;b', \"c\";\n/* three */ select 3;\n"
_RECORDS = ("--records", "records.sqlite")


def prove(cases: int, seed: int, timeout_s: float, first: int = 0) -> Found:
    """Tries this many files with mistakes."""
    return try_all(_cases(first, cases, seed), timeout_s, first=first)


def _cases(first: int, cases: int, seed: int) -> Iterator[Case]:
    kinds = (_experiment, _workload, _workload, _workload_part, _script, _feed, _profiles)
    for number in range(first, first + cases):
        random = Random(f"{seed}/{number}")
        yield random.choice(kinds)(random)


def _experiment(random: Random) -> Case:
    original = random.choice((_WHOLE_EXPERIMENT, _WHOLE_EXPERIMENT, _BARE_EXPERIMENT))
    if random.random() < 0.1:
        original = EXPERIMENT.decode()
    return Case(
        "assay",
        (random.choice(("plan", "plan", "explain")), "mine.toml"),
        files={"mine.toml": mutated(original, random)},
    )


def _workload(random: Random) -> Case:
    """The workload's own file."""
    name = random.choice(registry.workloads())
    return _of_workload(name, "workload.toml", random)


def _workload_part(random: Random) -> Case:
    """Any other file of a workload."""
    name = random.choice(registry.workloads())
    files = [path for path in _folder(name) if path not in ("workload.toml", "README.md")]
    return _of_workload(name, random.choice(files), random)


def _of_workload(name: str, broken: str, random: Random) -> Case:
    files = {f"mine/{path}": content.encode() for path, content in _folder(name).items()}
    files[f"mine/{broken}"] = mutated(_folder(name)[broken], random)
    command = random.choices(("plan", "explain", "generate", "run"), (8, 4, 4, 1))[0]
    words = [command, "mine", "--on", random.choice(("sqlite", "null"))]
    if command == "generate":
        words = [command, "mine", "--part", "1/1000000"]
    if command == "run":  # which may run for as long as the file says
        words += ["--duration", "0.05", "--clients", "2", "--bib", "small.bib", *_RECORDS]
        if name != "bibsql":
            words = [one for one in words if one not in ("--bib", "small.bib")]
    return Case("assay", tuple(words), files=files, may_go_on=command in ("run", "generate"))


def _script(random: Random) -> Case:
    name = random.choice(registry.workloads())
    scripts = [text for path, text in _folder(name).items() if path.endswith(".sql")]
    command = random.choices(("plan", "explain", "run"), (8, 4, 1))[0]
    words = [command, "mine.sql", "--on", random.choice(("null", "sqlite"))]
    for variable in ("scale", "records", "groups"):
        if random.random() < 0.7:
            words += ["--set", f"{variable}=10"]
    if command == "run":
        words += ["--duration", "0.05", *_RECORDS]
    return Case(
        "assay",
        tuple(words),
        files={"mine.sql": mutated(random.choice(scripts), random)},
        may_go_on=command == "run",
    )


def _feed(random: Random) -> Case:
    words = (random.choice(("plan", "explain")), "tpcb", "--on", "null,sqlite", "--feed", "mine")
    return Case("assay", words, files={"mine": mutated(_STATEMENTS * 3, random)})


def _profiles(random: Random) -> Case:
    words = random.choice((("-s", "sqlite"), ("-s", "mysql", "--profile", "ssd")))
    return Case(
        "bibsql",
        words,
        files={"mine.toml": mutated(_PROFILES, random)},
        environment={"ASSAY_BIBSQL_PROFILES": "mine.toml"},
    )


@cache
def _folder(name: str) -> dict[str, str]:
    """Path within a built-in workload → text."""
    folder = Path(registry.workload_folder(name))
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix in (".toml", ".sql")
    }
