"""Every command of the README and the guides runs and prints the output shown."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import cast

import pytest
from _pytest.mark import ParameterSet

import forked_programs
import servers
from assay import registry
from assay.contracts.experiment import VERSION, SystemChoice
from assay.contracts.systems.abilities import Findable, Installable
from assay.errors import SystemMissing
from assay.probe.measure import FIO
from assay.provision.install import cache
from assay.storages.file_systems import FILE_SYSTEMS
from assay.systems.mariadb.system import MARIADBD
from assay.systems.postgresql.installation import POSTGRES
from assay.systems.sqlite.system import SHELL
from block_devices import HAS_LOOP_DEVICES
from programs import BASH
from standbys import standby_of

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]
NEEDED = {
    "postgresql": POSTGRES,
    "mariadb": MARIADBD,
    "sqlite3 ": SHELL,
    "fs=xfs": FILE_SYSTEMS["xfs"].make,
    "probe": FIO,
}
"""A word of a command, and the program without which it cannot be run."""
ON_BLOCK_DEVICES = ("list storages", "loop[", "throttled[", "raw[")
"""Words of commands that need root and loop devices to end as the page shows."""


@dataclass(frozen=True)
class Example:
    page: Path
    command: str
    shown: tuple[str, ...]


def examples(page: Path) -> Iterator[Example]:
    """The commands of a page's console blocks, in order, each with the output shown below it."""
    text = page.read_text(encoding="utf-8")
    for block in re.findall(r"```console\n(.*?)```", text, re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, *shown = part.rstrip("\n").split("\n")
            yield Example(page, command, tuple(shown))


def files(page: Path) -> Iterator[tuple[str, str]]:
    """(name, text) of the files a page shows: a block whose first line is ``# name.toml``,
    ``# name.py``, ``-- name.sql``, ``-- name.cql`` or ``-- name.json``."""
    text = page.read_text(encoding="utf-8")
    yield from re.findall(r"```toml\n# (\S+\.toml)\n(.*?)```", text, re.S)
    yield from re.findall(r"```python\n# (\S+\.py)\n(.*?)```", text, re.S)
    yield from re.findall(r"```(?:sql|cql|json)\n-- (\S+\.(?:sql|cql|json))\n(.*?)```", text, re.S)


def masked(line: str) -> str:
    """The line without its numbers, the units of its times, its spacing, what was decided, and how
    many percentiles there are: on a busy machine there are too few transactions for the high
    ones."""
    words = " ".join(re.sub(r"\d[\d.]*( (?:s|ms|µs)\b)?", "#", line).split())
    words = re.sub(
        r"(?<=^(?:system|result) )(\S+ is # times|not|no|faster:|slower:) .*", "…", words
    )
    return re.sub(r"(p# # )+", "p# # ", words)


def appear_in_order(shown: tuple[str, ...], output: str) -> str | None:
    """The first shown line that is not in the output behind the line before it."""
    lines = iter(map(masked, _also_joined(output.splitlines())))
    for wanted in shown:
        if wanted.strip() != "…" and masked(wanted) not in lines:
            return wanted
    return None


def _also_joined(lines: Sequence[str]) -> Iterator[str]:
    """Each line; behind one that is continued below the next ones, what all of them say."""
    for number, line in enumerate(lines):
        yield line
        more = [*takewhile(lambda one: one.startswith(" " * 13), lines[number + 1 :])]
        if more:
            yield " ".join([line, *more])


def systems_not_installed(command: str) -> list[str]:
    """The systems in the command that `assay install` could bring and that are not here, and the
    versions of systems."""
    missing = []
    for name, version in re.findall(r"\b([a-z]+)@(\d[\d.]*)", command):
        if name in registry.systems():
            try:
                cache.programs_of(SystemChoice(name, options={VERSION: version}))
            except SystemMissing:
                missing.append(f"{name}@{version}")
    for name, system in registry.usable_systems():
        if name in re.split(r"[\s,\['\"]+", command) and isinstance(system, Installable):
            try:
                cast(Findable, system).find()
            except SystemMissing:
                missing.append(name)
    return missing


_RUN_BY = {
    "as3ap": "papers/test_as3ap", "backup": "papers/test_backup",
    "beyond-memory": "papers/test_beyond_memory", "bibsql-report": "papers/test_bibsql_answers",
    "cassandra": "papers/test_ycsb", "e831-report": "papers/test_e831",
    "glidemon": "papers/test_glidemon", "oltp": "papers/test_tpcb", "one-user": "papers/test_as3ap",
    "replicas": "conformance/test_replicas", "scalable-hardware": "papers/test_backup",
    "should-i-upgrade": "conformance/test_limited_servers", "ssd-report": "papers/test_tpcb",
    "tpcb": "papers/test_tpcb", "tpcc": "papers/test_tpcc", "tpch": "papers/test_tpch",
    "ycsb": "papers/test_ycsb",
}  # fmt: skip
"""Guides to what a file of tests runs too, on more systems and with its checks: their runs are
planned, and with `--every-system` run."""
_CONDITION = re.compile(r"--fail-if|\.meets\(|e831\.reliability|stall=.*--offered-rate")


def _marked(pages: Sequence[Path]) -> list[ParameterSet]:
    """Nothing is decided of runs beside which other programs work, so pages with conditions that
    must be met run alone; so do those whose answers depend on clients that start in time, and one
    that shows to what a rate comes behind a stall."""
    alone, elsewhere = [pytest.mark.alone], [pytest.mark.same_line]
    return [
        pytest.param(page, marks=alone * _needs_verdicts(page) + elsewhere * (page.stem in _RUN_BY))
        for page in pages
    ]


def _needs_verdicts(page: Path) -> bool:
    """Whether a command or a file of the page asks for one; what its text says does not count.
    That of the README may stay undecided: the guide that explains conditions decides its own."""
    if page.name == "README.md":
        return False
    done = [example.command for example in examples(page)] + [text for _, text in files(page)]
    return any(_CONDITION.search(text) for text in done)


_OVERTAKEN = re.compile(r"clients overlapped|not decided: set \d")
"""Of e831.reliability, whose clients begin one after another: other programs can delay one of them
until the next overtakes it. Such a command is tried again."""
_TRIES = 3
_UNDECIDED = "other programs used"
"""Why a condition of a page that does not run alone is left undecided."""
_FEWER_ROWS = (
    (r"scale=0\.01", "scale=0.001"),
    (r"(run tpch.*) --set scale=0\.02", r"\1 --set scale=0.01"),
    ("rows=4000", "rows=400"),
    (r"(e831\.(?:table|update|reliability) .*records=(?:1000,)?)20000", r"\g<1>2000"),
    (r"copies=\d+", "copies=1"),
    (r"updates=5", "updates=2"),
    (r"replicas=3", "replicas=2"),
    (r"(run bibsql\.(?:update|backup) .*)", r"\1 --bib few"),
    (r"(run bibsql .*replicas=.*)", r"\1 --bib few"),
    ("fs=ext4,size=320M", "fs=ext4,size=160M"),
    (r"(run bibsql .*--repetitions) \d+", r"\1 1 --bib few"),
    (r"(run bibsql\.toml)", r"\1 --bib few"),
    (r"(?s)(workload *= \"bibsql\".*?\nrepetitions *=) \d+", r"\1 1"),
)
_SHORTER = (
    (r"--duration (?!0)\d+", "--duration 0.5"),
    (r"--warm-up (?!0)\d+", "--warm-up 0.1"),
    (r"(run (?!.*--warm-up).*--duration [\d.]+)", r"\1 --warm-up 0.1"),
    (r"(run (?!.*--warm-up).*--transactions \d+)", r"\1 --warm-up 0.1"),
    (r"--probe-seconds 1\b", "--probe-seconds 0.2"),
    (r"(run tpcb .*)--quick", r"\1--quick --duration 0.5 --warm-up 0.1"),
    (r"duration_s=1,", "duration_s=0.5, warm_up_s=0.1,"),
    ("--clients 8,32,128", "--clients 2,4"),
    (r"(run bibsql\.(?:sequential|parallel) .*)", r"\1 --bib few"),
    (r"(run tpcb.*) --set scale=2", r"\1"),
    (r"(run (?:chbench|scalable).*)--quick", r"\1--quick --duration 1 --warm-up 0.1"),
    # Each of 14 cold queries restarts its server; a list has 1000 queries for each of five counts.
    (r"(run glidemon\.table --on sqlite),postgresql,mariadb", r"\1"),
    (r"(run glidemon\.response --on postgresql),mariadb", r"\1 --set queries=50 --clients 1,4"),
    (r"(run glidemon\.materialize,page --on sqlite),postgresql", r"\1"),
    ("queries=100", "queries=20"),
    (r"(run ssd\.select-narrow,select-wide --on postgresql),mariadb", r"\1"),
    # What brings back the data of servers is tried in `tests/papers/test_backup.py`.
    (r"(run bibsql\.backup --on sqlite),postgresql", r"\1"),
)
_FEW = ("serif", "texgraph", "texjourn", "texnique", "type")
"""Small bibliographies, for tests of which no answers are published."""


def _smaller(text: str, page: Path) -> str:
    """The same command or file with rows, seconds and clients that show the same; the last two
    are left alone where verdicts are needed."""
    for pattern, fewer in _FEWER_ROWS if _needs_verdicts(page) else _FEWER_ROWS + _SHORTER:
        text = re.sub(pattern, fewer, text)
    return text


@pytest.mark.parametrize("page", _marked(PAGES), ids=lambda page: str(page.relative_to(ROOT)))
def test_the_commands_of_a_page_run(
    page: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    working_folder = tmp_path
    environment = _environment_of(page, working_folder)
    found = list(examples(page))
    assert found, "a page without a command"
    for example in found:
        missing = [
            program.name
            for word, program in NEEDED.items()
            if word in example.command and not program.find_anywhere()
        ] + systems_not_installed(example.command)
        if missing:
            print(f"left out, no {', '.join(missing)} on this machine: {example.command}")
            continue
        if any(word in example.command for word in ON_BLOCK_DEVICES) and not HAS_LOOP_DEVICES:
            print(f"left out, no loop devices for this user: {example.command}")
            continue
        command = _smaller(example.command, page)
        for shown, made in _SERVERS_OF_PAGES.items():
            if shown in command:
                command = command.replace(shown, request.getfixturevalue(made))
        if "--bib few" in command:
            _link_few(working_folder / "few", request.getfixturevalue("beebe"))
        for _ in range(_TRIES):
            done = _run(command, working_folder, environment)
            if not _OVERTAKEN.search(done.stdout + done.stderr):
                break
        is_undecided = done.returncode == 2 and _UNDECIDED in done.stderr
        assert done.returncode == 0 or (is_undecided and not _needs_verdicts(page)), (
            f"{example.command}\n{done.stdout}\n{done.stderr}"
        )
        lost = appear_in_order(example.shown, done.stdout.replace(f"at {_HERE},", f"at {_THERE},"))
        assert lost is None, f"{example.command} does not print {lost!r} there:\n{done.stdout}"


def _environment_of(page: Path, working_folder: Path) -> dict[str, str]:
    """That of the page's commands, for which the folder gets what they find there."""
    (working_folder / ".venv").symlink_to(sys.prefix)
    (working_folder / "experiments").symlink_to(ROOT / "experiments")
    for name, text in files(page):
        (working_folder / name).parent.mkdir(parents=True, exist_ok=True)
        is_run = name.endswith((".py", ".toml"))
        shorter = _smaller(text, page) if is_run else text
        (working_folder / name).write_text(shorter, encoding="utf-8")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}:/usr/sbin"
    path += "".join(f":{folder}" for folder in Path("/usr/lib/postgresql").glob("*/bin"))
    # As for a reader who starts them: parallel test processes have a width of their own.
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    return {**environment, "PATH": path}


@pytest.mark.parametrize("stem", _RUN_BY)
def test_the_runs_of_a_guide_can_be_planned(stem: str, tmp_path: Path) -> None:
    assert Path(ROOT, "tests", f"{_RUN_BY[stem]}.py").exists(), "what runs them"
    page = ROOT / "docs" / "guides" / f"{stem}.md"
    environment = _environment_of(page, tmp_path)
    for command in (example.command for example in examples(page)):
        if command.startswith(("assay run ", "assay plan ", "assay check --explain ", "printf ")):
            done = _run(command.replace("assay run", "assay plan", 1), tmp_path, environment)
            assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


_HERE, _THERE = "127.0.0.1", "db"
_SERVERS_OF_PAGES = {
    "postgresql://bench@db1,db2,db3/shop": "cluster_url",
    f"postgresql://me@{_THERE}/shop": "shop_url",
    "/opt/pg/": "builds_folder",
}
"""URLs and folders that pages show, and what makes those on this machine that replace each."""


@pytest.fixture(scope="module")
def builds_folder() -> Iterator[str]:
    with servers.two_builds() as (old, _):
        yield f"{old.parent}/"


@pytest.fixture(scope="module")
def shop_url() -> Iterator[str]:
    system = registry.system("postgresql")
    with (
        servers.directory_for_servers() as storage,
        servers.provisioned(system, storage, options={"transport": "tcp"}) as shop,
    ):
        servers.ask(shop, "create table product (id int primary key, name text, price int)")
        servers.ask(shop, "insert into product select i, 'a', i from generate_series(1, 1000) i")
        yield servers.url_of(system, shop)


@pytest.fixture(scope="module")
def cluster_url() -> Iterator[str]:
    system = registry.system("postgresql")
    with (
        servers.directory_for_servers() as storage,
        servers.provisioned(system, storage, options={"transport": "tcp"}) as primary,
        standby_of(primary, storage) as first,
        standby_of(primary, storage) as second,
    ):
        url = servers.url_of(system, primary)
        ports = [one.address.port for one in (primary, first, second)]
        place = f"127.0.0.1:{ports[0]}"
        yield url.replace(place, ",".join(f"127.0.0.1:{port}" for port in ports))


def _link_few(folder: Path, beebe: Path) -> None:
    folder.mkdir(exist_ok=True)
    for name in (f"{stem}.bib" for stem in _FEW):
        if not (folder / name).exists():
            (folder / name).symlink_to(beebe / name)


_OF_THE_SHELL = frozenset("|&;<>()$`\\*?~#!{}")
_WRITTEN = re.compile(r"(.*) > ?([\w.]+)")
"""A command, and the file that its output goes into."""


def _run(
    command: str, folder: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    written = _WRITTEN.fullmatch(command)
    asked = written[1] if written else command
    program, _, words = asked.removeprefix(".venv/bin/").partition(" ")
    if program in ("assay", "bibtosql") and not _OF_THE_SHELL.intersection(words):
        done = forked_programs.run(
            program, shlex.split(words), folder=folder, environment=environment
        )
        if written is None:
            return done
        (folder / written[2]).write_text(done.stdout, encoding="utf-8")
        return subprocess.CompletedProcess(done.args, done.returncode, "", done.stderr)
    return subprocess.run(
        [BASH.name, "-c", f"set -o pipefail; {command}"],
        cwd=ROOT if command.startswith("make ") else folder,
        env=environment,
        capture_output=True,
        text=True,
    )


def test_a_line_that_is_not_printed_is_found() -> None:
    assert appear_in_order(("a 1", "…", "b 2"), "a 7\nx\nb 3\n") is None
    assert appear_in_order(("b 2", "a 1"), "a 7\nb 3\n") == "a 1"
