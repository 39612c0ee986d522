"""Runs every benchmark of Assay itself: ``make bench``, or ``python -m benches NAME``."""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
from pathlib import Path

NAMES = sorted(
    path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_")
)


def main() -> None:
    """Runs those named on the command line, or all, with the options that each has. Exits with 1 if
    one returns bounds that were missed."""
    parser = argparse.ArgumentParser(prog="python -m benches", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(NAMES)}")
    parser.add_argument("--rounds", type=int, help="how often each side is measured")
    parser.add_argument(
        "--seconds", type=int, help="of each measurement that has no end of its own"
    )
    parser.add_argument(
        "--only",
        action="append",
        metavar="CASE",
        help="this case of a benchmark alone; may be repeated (loading: a system; client_cost and "
        "sysbench_cost: the work and its clients, as 'select only, 8')",
    )
    given = vars(parser.parse_args())
    asked = given.pop("names") or NAMES
    for name in asked:
        if name not in NAMES:
            sys.exit(
                f"error: no benchmark is called {name!r}\n\nhint: there are {', '.join(NAMES)}"
            )
    missed: list[str] = []
    for name in asked:
        print(f"\n## {name}\n", flush=True)
        run = importlib.import_module(f"benches.{name}").main
        known = inspect.signature(run).parameters
        options = {key: value for key, value in given.items() if value is not None and key in known}
        missed += [f"{name}: {bound}" for bound in run(**options) or ()]
    if missed:
        sys.exit("\n".join(["", "missed:", *missed]))


if __name__ == "__main__":
    main()
