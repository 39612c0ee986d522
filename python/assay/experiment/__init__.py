"""Takes an experiment file or the words of a command line; returns an `Experiment`, or raises an
error with the line.

`assay.experiment.from_command_line` reads the command line, `assay.experiment.from_file` an
experiment file; both use `assay.experiment.choices.checked_choices`, which interprets settings.
"""

from assay.contracts.driving import AS_IS as AS_IS
from assay.contracts.driving import COLD as COLD
from assay.contracts.driving import COLD_CACHES as COLD_CACHES
from assay.contracts.driving import COLD_MACHINE as COLD_MACHINE
from assay.contracts.driving import NATIVE as NATIVE
from assay.contracts.driving import WARM as WARM
from assay.contracts.driving import Driving as Driving
from assay.contracts.experiment import MOST_REPETITIONS as MOST_REPETITIONS
from assay.contracts.experiment import Experiment as Experiment
from assay.contracts.experiment import ScriptFile as ScriptFile
from assay.contracts.experiment import StorageChoice as StorageChoice
from assay.contracts.experiment import StoragePrice as StoragePrice
from assay.contracts.experiment import SystemChoice as SystemChoice
from assay.contracts.experiment import SystemPrice as SystemPrice
from assay.contracts.experiment import shown_scripts as shown_scripts
from assay.contracts.factors import Scalar as Scalar
from assay.contracts.factors import ServerMachine as ServerMachine
