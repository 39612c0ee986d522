"""Runs proofs and writes their pages: ``make prove``, or ``python -m proofs NAME``."""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path

from assay import _engine
from proofs._proof import NAMES, SHORT_TIMEOUT_S, TIMEOUT_S, Found

FOLDER = Path(__file__).parents[1] / "docs" / "proofs"
MOST_FAULTS = 50
"""How many faults are listed."""


def main() -> int:
    """Exit status 1 if a case failed."""
    parser = argparse.ArgumentParser(prog="python -m proofs", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(NAMES)}")
    parser.add_argument("--cases", type=int, metavar="N", help="number of cases")
    parser.add_argument(
        "--first",
        type=int,
        default=0,
        metavar="N",
        help="number of the first case; from another than 0 no page is written",
    )
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="seed of all random choices"
    )
    parser.add_argument("--short", action="store_true", help="few cases, and write no page")
    given = parser.parse_args()
    for name in given.names:
        if name not in NAMES:
            parser.error(f"there is no proof {name!r}; known: {', '.join(NAMES)}")
    is_broken = False
    for name in given.names or NAMES:
        proof = importlib.import_module(f"proofs.{name}")
        began_s = time.monotonic()
        cases = given.cases or (proof.SHORT if given.short else proof.CASES)
        timeout_s = SHORT_TIMEOUT_S if given.short else TIMEOUT_S
        found = proof.prove(cases, given.seed, timeout_s, given.first)
        is_broken = is_broken or bool(found.faults)
        took_s = time.monotonic() - began_s
        line = f"{name}: {found.cases} cases, {len(found.faults)} with faults, {took_s:.0f} s"
        if given.short or given.first:
            print(line, *found.faults, sep="\n\n", flush=True)
            continue
        FOLDER.mkdir(exist_ok=True)
        file = FOLDER / f"{name}.md"
        file.write_text(page(name, proof.__doc__ or "", found, seed=given.seed), "utf-8")
        print(f"{line}: {file}", flush=True)
    return 1 if is_broken else 0


def page(name: str, description: str, found: Found, *, seed: int) -> str:
    """The page: command, number of cases, versions, exit statuses."""
    build = json.loads(_engine.build_info())
    outcomes = [f"| {one} | {count:,} |" for one, count in sorted(found.outcomes.items())]
    faults = [f"```text\n{one}\n```\n" for one in found.faults[:MOST_FAULTS]]
    left_out = len(found.faults) - len(faults)
    return "\n".join(
        [
            f"# {name.replace('_', ' ').capitalize()}\n",
            "<!-- Written by make prove; not edited by hand. -->\n",
            f"{description.strip()}\n",
            f"- Command: `python -m proofs {name} --cases {found.cases} --seed {seed}`",
            f"- Cases: {found.cases:,}",
            f"- Faults: {len(found.faults):,}",
            f"- Versions: Assay {version('assay-db')}, engine {_engine_name(build)}, "
            f"Python {platform.python_version()}, {platform.system()} {platform.machine()}\n",
            "| how cases ended | cases |",
            "|---|---:|",
            *outcomes,
            "",
            *found.sections,
            *(["## Faults\n", *faults] if faults else []),
            *([f"and {left_out} more\n"] if left_out else []),
        ]
    )


def _engine_name(build: dict[str, str]) -> str:
    return " ".join(str(value) for value in build.values())


if __name__ == "__main__":
    sys.exit(main())
