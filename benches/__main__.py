"""Every benchmark of the tool itself, in turn: ``make bench``, or ``python -m benches NAME``."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

NAMES = sorted(
    path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_")
)


def main() -> None:
    """Runs those named on the command line, or all."""
    asked = sys.argv[1:] or NAMES
    for name in asked:
        if name not in NAMES:
            sys.exit(
                f"error: no benchmark is called {name!r}\n\nhint: there are {', '.join(NAMES)}"
            )
    for name in asked:
        print(f"\n## {name}\n", flush=True)
        importlib.import_module(f"benches.{name}").main()


main()
