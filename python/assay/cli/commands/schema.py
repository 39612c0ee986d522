"""``assay schema``: prints the JSON Schema of the files that people write."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from assay import experiment, workload

_BESIDE = {"experiment": experiment, "workload": workload}
"""Kind of file → the room that reads it, in whose folder the schema is."""


@click.command("schema")
@click.argument("kind", type=click.Choice(tuple(_BESIDE)))
def command(kind: str) -> None:
    """Print the JSON Schema of experiment files or of workload.toml.

    Editors use it to complete keys, to show what they mean, and to mark
    mistakes while a file is written.

    \b
    Example:
      assay schema experiment > experiment.schema.json
      taplo check --schema "file://$PWD/experiment.schema.json" two-sizes.toml
    """
    folder = Path(str(_BESIDE[kind].__file__)).parent
    sys.stdout.write((folder / f"{kind}.schema.json").read_text(encoding="utf-8"))
