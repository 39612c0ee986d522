"""Observations that are kept are read with their numbers, and damaged ones are named."""

from __future__ import annotations

import json
import lzma
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from assay.contracts.observation import Observation, ShapeError, read_observation

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
        written = read_observation(document).document
        assert {key: written[key] for key in document} == document


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
    text = {**whole, "elapsed_ns": "soon"}
    cases = [
        (_without(whole, "outcomes", "ok"), "observation.outcomes: ok is missing"),
        (
            _without(whole, "transactions", 0, "latency", "p50_ns"),
            "observation.transactions[0].latency: p50_ns is missing",
        ),
        (text, "observation.elapsed_ns: expected a whole number, found a text"),
        ({**whole, "colour": 1}, "observation: unknown field colour"),
        ({**whole, "version": 99}, "made by a newer Assay"),
    ]
    for document, sentence in cases:
        with pytest.raises(ShapeError) as raised:
            read_observation(document)
        assert sentence in str(raised.value)


def test_typed_values_do_not_change(kept: list[dict[str, Any]]) -> None:
    found: Observation = read_observation(kept[0])
    with pytest.raises(AttributeError):
        found.elapsed_ns = 1  # type: ignore[misc]
