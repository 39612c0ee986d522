"""Takes the words that start a program; returns words that confine the process first.

A process of Python does it and then becomes the program, as nothing may be done safely between fork
and exec beside threads.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.contracts.systems.protocol import ServerDirectory
from assay.provision.confinement import confinement

_PROGRAM = (
    "import json, sys; from assay import _engine; "
    "_engine.become_confined_program(*json.loads(sys.argv[1]), sys.argv[2:])"
)


def confined(words: Sequence[str], reads: Sequence[Path], writes: Sequence[Path]) -> list[str]:
    """The program keeps the user that it is started as: one that is to have no rights gives them
    up."""
    rules = json.dumps([confinement.readable(*reads), confinement.writable(*writes)])
    return [sys.executable, "-P", "-c", _PROGRAM, rules, *words]


def of_server(words: Sequence[str], directory: ServerDirectory, program: Path) -> list[str]:
    """``program``: that the words start, which finds its own files from its place."""
    own = (directory.root, directory.run, directory.log, directory.raw_device)
    places = [one.parent.parent for one in (program, program.resolve())]
    return confined(words, places, [one for one in own if one is not None])
