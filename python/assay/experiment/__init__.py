"""Takes a file or a command line's words; returns an `Experiment`, or says which line is wrong.

`assay.experiment.words` reads the command line, `assay.experiment.file` an experiment file; both
end in `assay.experiment.settings`, which knows what a setting may mean.
"""

from assay.experiment.values import (
    Driving,
    Experiment,
    Scalar,
    ScriptFile,
    StorageChoice,
    SystemChoice,
)

__all__ = ["Driving", "Experiment", "Scalar", "ScriptFile", "StorageChoice", "SystemChoice"]
