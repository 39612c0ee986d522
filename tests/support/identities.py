"""Takes an experiment as a person asks for it; gives what identifies its cells."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import assay
from assay.api import running
from assay.cli.commands.run import command
from assay.cli.program import HELP_NAMES
from assay.experiment import SystemChoice
from assay.experiment.choices import identity
from assay.experiment.from_command_line import Words, asked
from assay.lab.refusal import plan_here


class SAME:
    """Both experiments have a cell in common, with the seed of its runs."""


@dataclass(frozen=True)
class Other:
    """They have none."""

    names: tuple[str, ...]
    """Of their systems, shown together; empty: not looked at."""

    def __init__(self, *names: str) -> None:
        object.__setattr__(self, "names", names)


@dataclass(frozen=True)
class Refused:
    """The first is refused with these words."""

    by: str


@dataclass(frozen=True)
class Identities:
    seeds_of_cells: Mapping[str, int]
    """Fingerprint of each cell → the seed of its first run."""
    systems: tuple[SystemChoice, ...]


def identities(said: str) -> Identities:
    """``said``: words of a command line, the text of an experiment file, or a call of
    `assay.run`."""
    plan = plan_here(*asked(_words(said)))
    return Identities(
        {run.cell.fingerprint: run.seed for run in plan.runs if run.repetition == 1},
        tuple({run.cell.system.label: run.cell.system for run in plan.runs}.values()),
    )


def names_of(*shown: Identities) -> list[str]:
    """Of their systems, shown together."""
    choices = [choice for one in shown for choice in one.systems]
    return [" ".join((one.shown, *one.machine.words)) for one in identity.named_systems(choices)]


def _words(said: str) -> Words:
    if said.startswith("assay.run("):
        taken: list[Words] = []
        with patch.object(running, "_result", lambda words, *_: taken.append(words)):
            eval(said, {"assay": assay})
        return taken[0]
    if "\n" in said:
        file = Path("asked.toml")
        file.write_text(said)
        said = str(file)
    context = command.make_context("run", shlex.split(said), help_option_names=HELP_NAMES)
    given: dict[str, Any] = {name: context.params[name] for name in Words.__struct_fields__}
    return Words(**given)
