"""Whatever a text file contains (an experiment, a workload with its scripts, checks and overrides,
an ad hoc script, plain statements, or a file of profiles), it is accepted, or refused with a
message: within 10 seconds and 1 GB of memory, without a traceback or "internal error", and with an
exit status of 0, 1, 2 or 3.

Tried with the files of the built-in workloads and with examples, randomly mutated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

from assay import registry
from proofs._case import Case
from proofs._odd_files import EXPERIMENT
from proofs._proof import Found
from proofs._try import try_all
from proofs._values import NUMBERS, TEXTS

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
_NUMBER = re.compile(r"(?<![\w.])-?\d+(\.\d+)?(?![\w.])")
_QUOTED = re.compile(r'"[^"\n]*"|\'[^\'\n]*\'')
_WORD = re.compile(r"[A-Za-z_][\w-]*")
_SIGNS = "\"'[]{}()=,.:;#\\-+*/<>|&^%$@!?`~ \t\n\r\x00\x1b\u202e\ufeff\U0001f4a5"
_PLAN, _EXPLAIN, _GENERATE, _RUN = ("plan",), ("check", "--explain"), ("generate",), ("run",)


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
        (*random.choice((_PLAN, _PLAN, _EXPLAIN)), "mine.toml"),
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
    command = random.choices((_PLAN, _EXPLAIN, _GENERATE, _RUN), (8, 4, 4, 1))[0]
    words = [*command, "mine", "--on", random.choice(("sqlite", "null"))]
    if command == _GENERATE:
        words = [*command, "mine", "--part", "1/1000000"]
    if command == _RUN:  # which may run for as long as the file says
        words += ["--duration", "0.05", "--clients", "2", "--bib", "small.bib", *_RECORDS]
        if name != "bibsql":
            words = [one for one in words if one not in ("--bib", "small.bib")]
    return Case("assay", tuple(words), files=files, may_go_on=command in (_RUN, _GENERATE))


def _script(random: Random) -> Case:
    name = random.choice(registry.workloads())
    scripts = [text for path, text in _folder(name).items() if path.endswith(".sql")]
    command = random.choices((_PLAN, _EXPLAIN, _RUN), (8, 4, 1))[0]
    words = [*command, "mine.sql", "--on", random.choice(("null", "sqlite"))]
    for variable in ("scale", "records", "groups"):
        if random.random() < 0.7:
            words += ["--set", f"{variable}=10"]
    if command == _RUN:
        words += ["--duration", "0.05", *_RECORDS]
    return Case(
        "assay",
        tuple(words),
        files={"mine.sql": mutated(random.choice(scripts), random)},
        may_go_on=command == _RUN,
    )


def _feed(random: Random) -> Case:
    command = random.choice((_PLAN, _EXPLAIN))
    words = (*command, "tpcb", "--on", "null,sqlite", "--feed", "mine")
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


def mutated(text: str, random: Random) -> bytes:
    """Changed in one place or a few; sometimes unchanged."""
    for _ in range(random.choice((1, 1, 1, 2, 3, 6))):
        text = random.choice(_WAYS)(text, random)
    content = text.encode("utf-8", "surrogateescape")
    if random.random() < 0.05 and content:
        at = random.randrange(len(content))
        content = content[:at] + bytes([random.randrange(256)]) + content[at + 1 :]
    return content


def _replace_one(pattern: re.Pattern[str], text: str, new: str, random: Random) -> str:
    found = list(pattern.finditer(text))
    if not found:
        return text + new
    one = random.choice(found)
    return text[: one.start()] + new + text[one.end() :]


def _number(text: str, random: Random) -> str:
    return _replace_one(_NUMBER, text, random.choice(NUMBERS), random)


def _quoted(text: str, random: Random) -> str:
    quote = random.choice("\"'")
    return _replace_one(_QUOTED, text, f"{quote}{random.choice(TEXTS + NUMBERS)}{quote}", random)


def _other_type(text: str, random: Random) -> str:
    new = random.choice(("[]", "{}", "true", "nan", "1", '"x"', "[[]]", "{a = 1}", "1979-05-27"))
    return _replace_one(random.choice((_NUMBER, _QUOTED)), text, new, random)


def _word(text: str, random: Random) -> str:
    words = _WORD.findall(text) or ["x"]
    return _replace_one(_WORD, text, random.choice([*words, *TEXTS]), random)


def _sign(text: str, random: Random) -> str:
    at = random.randrange(len(text) + 1)
    return text[:at] + random.choice(_SIGNS) + text[at + random.choice((0, 1)) :]


def _line_gone(text: str, random: Random) -> str:
    lines = text.splitlines(keepends=True)
    if lines:
        del lines[random.randrange(len(lines))]
    return "".join(lines)


def _line_twice(text: str, random: Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    line = random.choice(lines)
    lines.insert(random.randrange(len(lines) + 1), line * random.choice((1, 1, 1, 200)))
    return "".join(lines)


def _cut(text: str, random: Random) -> str:
    at = random.randrange(len(text) + 1)
    return random.choice((text[:at], text[at:]))


def _deep(text: str, random: Random) -> str:
    at = random.randrange(len(text) + 1)
    opened, closed = random.choice(("[]", "()", "{}", '""'))
    depth = random.choice((10, 500, 20_000))
    return text[:at] + opened * depth + closed * depth + text[at:]


def _long(text: str, random: Random) -> str:
    at = random.randrange(len(text) + 1)
    return text[:at] + random.choice(_SIGNS + "x1") * random.choice((1000, 100_000)) + text[at:]


_WAYS = (
    _number, _number, _number, _quoted, _quoted, _other_type, _other_type, _word, _word, _word,
    _sign, _sign, _sign, _line_gone, _line_gone, _line_twice, _cut, _deep, _long,
)  # fmt: skip
