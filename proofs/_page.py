"""Takes the results of a proof; returns its page of ``docs/proofs``."""

from __future__ import annotations

import json
import platform
from importlib.metadata import version

from assay import _engine
from proofs._proof import Found

MOST_FAULTS = 50
"""How many faults are listed."""


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
            *(["## Faults\n", *faults] if faults else []),
            *([f"and {left_out} more\n"] if left_out else []),
        ]
    )


def _engine_name(build: dict[str, str]) -> str:
    return " ".join(str(value) for value in build.values())
