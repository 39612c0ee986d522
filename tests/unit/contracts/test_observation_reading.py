"""Observations that are kept are read with their numbers, and damaged ones are named: from their
text as from a document."""

from __future__ import annotations

import json
import lzma
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import invented_records as invented
from assay import registry
from assay.contracts.observation import (
    Observation,
    ShapeError,
    decode_observed,
    read_observation,
    read_observed,
)

KEPT_RECORD = Path(__file__).parents[2] / "data" / "records" / "version-25.sqlite.xz"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """All observations of clients in a record of an earlier version, as stored."""
    path = tmp_path_factory.mktemp("kept") / "records.sqlite"
    path.write_bytes(lzma.decompress(KEPT_RECORD.read_bytes()))
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT document FROM observations ORDER BY run_id").fetchall()
    return [one for (text,) in rows if "outcomes" in (one := json.loads(text))]


def test_every_kept_observation_is_read_and_written_as_it_was(kept: list[dict[str, Any]]) -> None:
    assert len(kept) > 20
    for document in kept:
        found: Observation = read_observation(document)
        assert {key: found.document[key] for key in document} == document
        with pytest.raises(AttributeError):
            found.elapsed_ns = 1  # type: ignore[misc]


def _without(document: dict[str, Any], *path: str | int) -> dict[str, Any]:
    copy: Any = json.loads(json.dumps(document))
    *way, last = path
    place = copy
    for step in way:
        place = place[step]
    del place[last]
    return dict(copy)


def test_a_damaged_document_is_a_sentence_that_names_the_key(kept: list[dict[str, Any]]) -> None:
    whole = kept[0]
    for document, sentence in (
        (_without(whole, "outcomes", "ok"), "observation.outcomes: ok is missing"),
        (_without(whole, "transactions", 0, "latency", "p50_ns"),
         "observation.transactions[0].latency: p50_ns is missing"),
        ({**whole, "elapsed_ns": "soon"},
         "observation.elapsed_ns: expected a whole number, found a text"),
        ({**whole, "colour": 1}, "observation: unknown field colour"),
        ({**whole, "version": 99}, "made by a newer Assay"),
    ):  # fmt: skip
        with pytest.raises(ShapeError) as raised:
            read_observation(document)
        assert sentence in str(raised.value)


(RUN,) = invented.plan([invented.POSTGRESQL]).runs
OBSERVATION = invented.report_of(RUN.cell, 5 * invented.S).document


def test_an_observation_and_a_report_of_a_step_are_read_alike() -> None:
    for document in (OBSERVATION, {"kind": "limit", "x": 1}, {"kind": "of no package"}):
        text = json.dumps(document)
        try:
            directly = decode_observed(text, registry.step_reports())
        except ShapeError:
            with pytest.raises(ShapeError):
                read_observed(document, registry.step_reports())
        else:
            assert directly == read_observed(json.loads(text), registry.step_reports())


def test_what_is_wrong_is_said_in_the_same_words() -> None:
    for changes in ({"version": 99}, {"elapsed_ns": "long"}, {"unknown": 1}, {"clients": None}):
        wrong: dict[str, Any] = {**OBSERVATION, **changes}
        with pytest.raises(ShapeError) as by_document:
            read_observed(wrong, registry.step_reports())
        with pytest.raises(ShapeError) as directly:
            decode_observed(json.dumps(wrong), registry.step_reports())
        assert str(directly.value) == str(by_document.value)
