"""Whatever the arguments, the programs end within 10 seconds, take less than 1 GB of memory, report
what is wrong with the arguments, and leave no process or folder behind: never a traceback, never
"internal error", and always an exit status of 0, 1, 2 or 3.

Tried with options taken from the programs' own declarations, and values that are plausible or
hostile: numbers beyond every range, text of every kind, and paths to unusual files.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import click

from assay import registry
from assay.cli.bibsql import bibsql, bibtosql
from assay.cli.bibsql.options import Option
from assay.cli.program import COMMANDS, command_of
from proofs._case import Case
from proofs._odd_files import PATHS
from proofs._proof import Found
from proofs._try import try_all
from proofs._values import NUMBERS, PLAUSIBLE, TEXTS, WIDTHS

CASES = 7_000
SHORT = 16

_WEIGHTS = {
    "run": 4, "plan": 8, "report": 4, "check": 6, "list": 4, "generate": 4, "measure client": 1,
}  # fmt: skip
_GO_ON = {"measure client", "serve null", "generate", "watch"}
"""Commands whose options set how long they run; `watch` waits for records."""
_LONG = {
    "on", "storage", "set", "script", "clients", "duration", "transactions", "warm_up", "ramp_up",
    "offered_rate", "think_time", "keying_time", "retries", "repetitions", "feed", "bib",
    "load_sessions", "allow_shell",
}  # fmt: skip
"""Options that set how long a run takes."""
_SHORT_RUN = {"on": "sqlite", "duration": "0.05", "clients": "2"}


def prove(cases: int, seed: int, timeout_s: float, first: int = 0) -> Found:
    """Starts the programs this many times."""
    return try_all(_cases(first, cases, seed), timeout_s, first=first)


def _cases(first: int, cases: int, seed: int) -> Iterator[Case]:
    for number in range(first, first + cases):
        random = Random(f"{seed}/{number}")
        program = random.choices(("assay", "bibtosql", "bibsql"), (20, 2, 1))[0]
        environment = {}
        if random.random() < 0.2:
            environment["COLUMNS"] = random.choice(WIDTHS)
        if program == "assay":
            arguments, may_go_on = _assay(random)
        else:
            options = bibtosql.OPTIONS if program == "bibtosql" else bibsql.OPTIONS
            arguments, may_go_on = _words_of(random, options), True
        yield Case(program, arguments, environment=environment, may_go_on=may_go_on)


def _assay(random: Random) -> tuple[list[str], bool]:
    """(arguments, whether it may run for long)."""
    if random.random() < 0.03:
        return [_text(random) for _ in range(random.randint(0, 2))], False
    names = list(COMMANDS)
    name = random.choices(names, [_WEIGHTS.get(one, 2) for one in names])[0]
    command = command_of(name)
    if isinstance(command, click.Group):
        return [name, _text(random)], False
    options = [one for one in command.params if isinstance(one, click.Option)]
    arguments = [one for one in command.params if isinstance(one, click.Argument)]
    chosen = random.sample(options, min(len(options), random.choice((0, 1, 1, 2, 2, 3, 6))))
    words = name.split()
    for option in chosen:
        words += _option(random, option)
    given = {str(one.name) for one in chosen}
    if name == "run":
        for option, value in _SHORT_RUN.items():
            if option not in given:
                words += [f"--{option}", value]
    if name == "serve null" and not given & {"port", "unix"}:
        words += ["--port", "0"]
    for argument in arguments:
        if random.random() < 0.97:
            words.append(_target(random, argument))
    if random.random() < 0.05:
        words.append(_text(random))
    return words, name in _GO_ON or (
        name == "run" and (bool(given & _LONG) or "tpcb" not in words[-1])
    )


def _option(random: Random, option: click.Option) -> list[str]:
    spelled = random.choice([*option.opts, *option.secondary_opts])
    if option.is_flag:
        return [spelled]
    words: list[str] = []
    for _ in range(random.choice((1, 1, 1, 2)) if option.multiple else 1):
        words += [spelled, _value(random, option)]
    return words


def _value(random: Random, option: click.Option) -> str:
    """Half of them are plausible."""
    if random.random() < 0.5:
        if isinstance(option.type, click.Choice):
            return random.choice(list(option.type.choices))
        if known := PLAUSIBLE.get(str(option.name)) or PLAUSIBLE.get(str(option.metavar)):
            return random.choice(known)
    return _text(random)


def _target(random: Random, argument: click.Argument) -> str:
    if isinstance(argument.type, click.Choice) and random.random() < 0.8:
        return random.choice(list(argument.type.choices))
    if random.random() < 0.3:
        return _text(random)
    if argument.name in ("target", "workload"):
        workload = random.choice(registry.workloads())
        return random.choice((workload, "tpcb", "tpcb", *PLAUSIBLE["target"]))
    return random.choice(PLAUSIBLE["run"])


def _words_of(random: Random, options: tuple[Option, ...]) -> list[str]:
    """Arguments for a program with the options of the originals."""
    words = []
    for option in random.sample(options, random.randint(0, 3)):
        spelled = random.choice(("-", "--")) + option.name[: random.choice((1, 3, 30))]
        words.append(spelled)
        if option.value:
            known = PLAUSIBLE.get(option.name, ("x",))
            words.append(random.choice(known) if random.random() < 0.5 else _text(random))
    if random.random() < 0.7:
        words.append(random.choice(("small.bib", "small.bib", random.choice(PATHS))))
    return words


def _text(random: Random) -> str:
    """Anything at all."""
    kind = random.random()
    if kind < 0.4:
        return random.choice(NUMBERS)
    if kind < 0.7:
        return random.choice(PATHS)
    if kind < 0.95:
        return random.choice(TEXTS)
    return "".join(chr(random.randint(1, 0x24FF)) for _ in range(random.randint(1, 30)))
