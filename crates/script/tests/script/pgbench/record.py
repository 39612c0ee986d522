"""Records what pgbench makes of expressions.

    PGHOST=... PGPORT=... PGUSER=... python3 record.py > expressions.txt

One expression a line, a tab, and what `debug()` prints, or `error`. The first are those of
by_hand.txt; the others are put together at random, from one seed.
"""

import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

RANDOM = random.Random(831)
COUNT = 1100
INTEGERS = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "-1",
    "-2",
    "-7",
    "10",
    "63",
    "64",
    "100",
    "1000003",
    "9223372036854775807",
    "-9223372036854775808",
    "4611686018427387904",
    "12345678901",
]
DOUBLES = [
    "0.0",
    "0.5",
    "1.5",
    "2.5",
    "-0.5",
    "-1.5",
    "-2.5",
    "1e3",
    "1.0e-3",
    ".5",
    "3.75",
    "1e18",
    "1e19",
    "100.25",
]
SEEDS = ["0", "1", "-1", "5432", "9223372036854775807"]
HASHES = ["hash", "hash_fnv1a", "hash_murmur2"]
choice = RANDOM.choice


def maybe_in_parentheses(text: str) -> str:
    return f"({text})" if RANDOM.random() < 0.35 else text


def number(depth: int) -> str:
    if depth == 0 or RANDOM.random() < 0.25:
        kind = RANDOM.random()
        return choice(INTEGERS) if kind < 0.72 else choice(DOUBLES) if kind < 0.95 else "NULL"

    def part() -> str:
        return number(depth - 1)

    def side() -> str:
        return maybe_in_parentheses(part())

    forms = [
        *[lambda: f"{side()} {choice(list('+-*/%+-*'))} {side()}"] * 5,
        lambda: f"{side()} {choice(list('|#&'))} {side()}",
        lambda: f"{side()} {choice(['<<', '>>'])} {RANDOM.randrange(0, 64)}",
        lambda: f"{choice(list('-+~'))} {side()}",
        lambda: f"{choice(['abs', 'int', 'double', 'sqrt', 'exp', 'ln'])}({part()})",
        lambda: f"{choice(['greatest', 'least'])}({part()}, {part()}, {part()})",
        lambda: f"{choice(['mod', 'pow', 'power'])}({part()}, {part()})",
        lambda: f"{choice(HASHES)}({part()}, {choice(INTEGERS)})",
        lambda: f"CASE WHEN {truth(depth - 1)} THEN {part()} ELSE {part()} END",
        lambda: f"CASE WHEN {part()} THEN {part()} WHEN {truth(depth - 1)} THEN {part()} END",
    ]
    return choice(forms)()


def truth(depth: int) -> str:
    if depth == 0 or RANDOM.random() < 0.2:
        return choice(["TRUE", "FALSE", "NULL", "true", "False"])

    def part() -> str:
        return truth(depth - 1)

    comparisons = ["=", "<>", "!=", "<", "<=", ">", ">="]
    nulls = ["IS NULL", "IS NOT NULL", "ISNULL", "NOTNULL"]
    truths = ["IS TRUE", "IS FALSE", "IS NOT TRUE", "IS NOT FALSE"]
    forms = [
        *[lambda: f"{number(depth - 1)} {choice(comparisons)} {number(depth - 1)}"] * 3,
        lambda: f"{part()} AND {part()}",
        lambda: f"{part()} OR {part()}",
        lambda: f"NOT {part()}",
        lambda: f"{maybe_in_parentheses(number(depth - 1))} {choice(nulls)}",
        lambda: f"({part()}) {choice(truths)}",
    ]
    return choice(forms)()


def expressions() -> list[str]:
    found = Path(__file__).with_name("by_hand.txt").read_text().splitlines()
    found += [f"{name}({key}, {seed})" for key in INTEGERS for name in HASHES for seed in SEEDS]
    while len(found) < COUNT:
        depth = RANDOM.randrange(1, 4)
        made = number(depth) if RANDOM.random() < 0.7 else truth(depth)
        if len(made) < 90 and made not in found:
            found.append(made)
    return found


def printed(expression: str, script: Path) -> str:
    script.write_text(f"\\set x debug({expression})\n")
    command = ["pgbench", "-n", "-t1", "-f", str(script), "postgres"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.findall(r"debug\(script=0,command=1\): (.*)", ran.stderr)
    return found[-1] if found and ran.returncode == 0 else "error"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for expression in expressions():
            sys.stdout.write(f"{expression}\t{printed(expression, Path(folder, 'x.sql'))}\n")


main()
