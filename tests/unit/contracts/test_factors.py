"""The list of factors agrees with what has their levels and with the settings that ask for them."""

from __future__ import annotations

from dataclasses import fields

from assay.contracts import factors
from assay.contracts.driving import Driving
from assay.contracts.experiment import Experiment
from assay.contracts.factors import (
    FACTORS,
    NAMES,
    OF_LEVELS,
    OF_MACHINE,
    VARIED,
    Part,
    ServerMachine,
)
from assay.contracts.setting import Levels
from assay.experiment.settings.catalogue import SETTINGS
from assay.plan.values import Cell
from assay.text.field_names import field_names


def test_what_a_server_is_given_is_a_factor() -> None:
    plain = ServerMachine()
    given = {one.name: getattr(plain, one.name) for one in fields(ServerMachine)}
    assert {one.column: one.default for one in OF_MACHINE.values()} == given


def test_the_part_of_a_cell_has_the_level() -> None:
    parts = {Part.DRIVING: Driving, Part.CELL: Cell}
    for factor in FACTORS:
        if kind := parts.get(factor.part):
            assert factor.column in (field_names(kind) or ()), factor.name
    assert not set(OF_LEVELS) & {one.name for one in fields(Cell)}, "it would have two levels"


def test_every_setting_with_levels_is_a_factor_and_can_be_asked_for() -> None:
    asked = {one.asked for one in FACTORS if one.asked}
    with_levels = {
        one.experiment_field or name
        for name, one in SETTINGS.items()
        if isinstance(one.kind, Levels)
    }
    assert with_levels <= asked
    with_options = {one.factor.name for one in SETTINGS.values() if one.factor}
    assert set(VARIED) <= with_options, "no option asks for it"
    known = {one.name for one in fields(Experiment)}
    assert asked - {one.asked for one in VARIED.values()} <= known
    assert len(NAMES) == len(set(NAMES))


def test_the_word_before_a_level_is_known_of_parameters_too() -> None:
    assert (factors.placed("storage"), factors.placed("records")) == ("on", "with")
