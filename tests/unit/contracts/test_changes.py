"""What may be set in place of a field has the name and the type of the field."""

from __future__ import annotations

from typing import get_type_hints

from assay.contracts.driving import Driving, DrivingChanges
from assay.contracts.experiment import Experiment, ExperimentChanges, LevelsOfTest


def test_changes_of_the_driving_are_its_fields() -> None:
    assert get_type_hints(DrivingChanges) == get_type_hints(Driving)


def test_changes_of_an_experiment_are_its_fields() -> None:
    fields = get_type_hints(Experiment)
    for changes in (ExperimentChanges, LevelsOfTest):
        assert get_type_hints(changes).items() <= fields.items()
