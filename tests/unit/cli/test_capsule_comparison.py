"""What `assay rerun` says beside the ratios: how many cells have which verdict, and when a
difference is that of the machine alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from assay.cli.output.capsule_comparison import _verdicts
from assay.comparison.sides.values import Comparison, Difference, Direction

SEED = Difference("seed", "seed", "1", "2")
VERSION = Difference("system", "version of the system", "1.0", "1.1")
MEMORY = Difference("machine", "memory", "1 GB", "2 GB")


def compared(
    *cells: tuple[str, Direction], differences: Any = (), machines: Any = ()
) -> Comparison:
    made = [
        SimpleNamespace(
            primary=SimpleNamespace(verdict=verdict, direction=direction), differences=differences
        )
        for verdict, direction in cells
    ]
    return cast(Comparison, SimpleNamespace(cells=made, machines=machines, between=""))


SAME = ("no difference seen", Direction.NONE)
BUSY = ("not decided: other programs used 23 % of the processors", Direction.NONE)
FASTER = ("faster", Direction.BETTER)


def test_verdicts_are_counted_without_their_reasons() -> None:
    (line,) = _verdicts(compared(SAME, BUSY, SAME))
    assert line == "cells: 2 no difference seen, 1 not decided"


@pytest.mark.parametrize(
    ("differences", "machines", "is_machine_alone"),
    [((), (), True), ((SEED,), (), True), ((VERSION,), (), False), ((), (MEMORY,), False)],
)
def test_a_difference_is_the_machine_s_where_nothing_else_differs(
    differences: Any, machines: Any, is_machine_alone: bool
) -> None:
    lines = list(_verdicts(compared(SAME, FASTER, differences=differences, machines=machines)))
    said = any("differ in nothing that is recorded" in line for line in lines)
    assert said is is_machine_alone


def test_nothing_is_said_of_no_cells() -> None:
    assert not list(_verdicts(compared()))
