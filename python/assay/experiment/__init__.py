"""Takes an experiment file or the words of a command line; returns an `Experiment`, or raises an
error with the line.

`assay.experiment.from_command_line` reads the command line, `assay.experiment.from_file` an
experiment file; both use `assay.experiment.choices.checked_choices`, which interprets settings.
"""

from assay.contracts.driving import (
    AS_IS,
    CACHES,
    CLIENT_PROGRAMS,
    COLD,
    COLD_CACHES,
    COLD_MACHINE,
    ENGINE,
    NATIVE,
    WARM,
    Driving,
)
from assay.contracts.experiment import (
    MOST_REPETITIONS,
    Experiment,
    ScriptFile,
    StorageChoice,
    StoragePrice,
    SystemChoice,
    SystemPrice,
    shown_scripts,
)
from assay.contracts.factors import Scalar, ServerMachine

__all__ = [
    "AS_IS",
    "CACHES",
    "CLIENT_PROGRAMS",
    "COLD",
    "COLD_CACHES",
    "COLD_MACHINE",
    "ENGINE",
    "MOST_REPETITIONS",
    "NATIVE",
    "WARM",
    "Driving",
    "Experiment",
    "Scalar",
    "ScriptFile",
    "ServerMachine",
    "StorageChoice",
    "StoragePrice",
    "SystemChoice",
    "SystemPrice",
    "shown_scripts",
]
