"""How far apart clients start, and how many run at the same time."""

from __future__ import annotations

import pytest

from assay.drive.pacing import Pace, at_work, found_pace


def test_clients_that_end_when_the_third_after_them_starts_are_three_at_a_time() -> None:
    # starts 0, 10, 20, 30, 40; each takes 30
    assert at_work([30, 40, 50, 60, 70], 10, 3) == [3, 3, 3]


def test_faster_clients_overlap_less() -> None:
    assert at_work([15, 25, 35, 45], 10, 3) == [2, 2]


def test_slower_clients_overlap_more() -> None:
    assert at_work([100, 110, 120, 130], 10, 3) == [3, 4]


def test_concurrent_clients_load_the_system_no_more_than_one_without_pauses() -> None:
    pace = found_pace(Pace(), 3.0, 1000, 3, 0.2)
    own_s = 3.0 + 1000 * pace.pause_s
    assert (pace.stagger_s, own_s) == (4.0, 12.0)
    assert (3 + 1) * 3.0 / own_s == 1.0


def test_starts_of_fast_clients_have_a_minimum_distance() -> None:
    pace = found_pace(Pace(), 0.01, 100, 3, 0.2)
    assert pace.stagger_s == 0.2
    assert 0.01 + 100 * pace.pause_s == pytest.approx(3 * pace.stagger_s)


def test_a_given_pace_is_kept() -> None:
    assert found_pace(Pace(0.5, 0.01), 0.1, 100, 3, 0.2) == Pace(0.5, 0.01)
