"""Finds CUBRID's programs where its own environment variable says, and its Python driver."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from msgspec import Struct

from assay.env_vars import EnvVar
from assay.errors import SystemMissing
from assay.provision.machine.program import Program
from assay.text.mentions import phrase

HOME = EnvVar("CUBRID", "The folder of CUBRID's programs, with bin and lib in it.")

MODULE = "pycubrid"

PROGRAMS = tuple(
    Program(name, None)
    for name in ("cubrid", "cub_master", "cub_server", "cub_admin", "cub_broker", "cub_cas")
)


class Installation(Struct, frozen=True):
    """The server's programs, which belong together."""

    folder: Path

    def program(self, name: str) -> Path:
        return self.folder / "bin" / name


def find_server(programs: str = "") -> Installation:
    """In the folder ``programs``, or the one that the environment names. Raises
    `SystemMissing`."""
    chosen = programs or HOME.get()
    if chosen is None:
        raise SystemMissing(
            f"the environment variable {HOME.name} names no folder of CUBRID's programs",
            hint=phrase(
                "unpack CUBRID and set {} to its folder; or reach a server by its URL: {--on "
                "cubrid://USER@HOST:PORT/DATABASE}",
                HOME.name,
            ),
        )
    folder = Path(chosen).absolute()
    missing = [one.name for one in PROGRAMS if not os.access(folder / "bin" / one.name, os.X_OK)]
    if missing:
        raise SystemMissing(
            f"{HOME.name}: there is no program {missing[0]} in {folder / 'bin'}",
            hint=f"set {HOME.name} to the folder that has bin, lib and conf in it",
        )
    return Installation(folder)


def insist_on_the_driver() -> None:
    """Raises `SystemMissing` where Python does not have CUBRID's driver."""
    if importlib.util.find_spec(MODULE) is None:
        raise SystemMissing(
            f"CUBRID is reached through the Python module {MODULE}, which is not installed",
            hint=f"install it into the environment that Assay runs in: pip install {MODULE}",
        )
