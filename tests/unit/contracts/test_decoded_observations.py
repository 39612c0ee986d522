"""The text of an observation is read directly, with the same result and the same errors."""

from __future__ import annotations

import json
from typing import Any

import pytest

import invented_records as invented
from assay import registry
from assay.contracts.observation import ShapeError, decode_observed, read_observed

(RUN,) = invented.plan([invented.POSTGRESQL]).runs
OBSERVATION = invented.report_of(RUN.cell, 5 * invented.S).document


def read_both(document: Any) -> tuple[Any, Any]:
    text = json.dumps(document)
    return decode_observed(text, registry.step_reports()), read_observed(
        json.loads(text), registry.step_reports()
    )


def test_an_observation_and_a_report_of_a_step_are_read_alike() -> None:
    for document in (OBSERVATION, {"kind": "limit", "x": 1}, {"kind": "of no package"}):
        try:
            directly, by_document = read_both(document)
        except ShapeError:
            with pytest.raises(ShapeError):
                read_observed(document, registry.step_reports())
        else:
            assert directly == by_document


@pytest.mark.parametrize(
    "changes", [{"version": 99}, {"elapsed_ns": "long"}, {"unknown": 1}, {"clients": None}]
)
def test_what_is_wrong_is_said_in_the_same_words(changes: dict[str, Any]) -> None:
    wrong = {**OBSERVATION, **changes}
    with pytest.raises(ShapeError) as by_document:
        read_observed(wrong, registry.step_reports())
    with pytest.raises(ShapeError) as directly:
        decode_observed(json.dumps(wrong), registry.step_reports())
    assert str(directly.value) == str(by_document.value)
