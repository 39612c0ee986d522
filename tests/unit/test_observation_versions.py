"""Observations of older versions are read as those of today, and damaged ones are named."""

from __future__ import annotations

import json
import lzma
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from assay.contracts.observation import VERSION, Observation, ShapeError, newest, read_observation

OLD_RECORD = Path(__file__).parents[1] / "data" / "records" / "step-6.sqlite.xz"


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """All observations in a record of an older version, as stored."""
    path = tmp_path_factory.mktemp("old") / "records.sqlite"
    path.write_bytes(lzma.decompress(OLD_RECORD.read_bytes()))
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT document FROM observations ORDER BY run_id").fetchall()
    return [one for (text,) in rows if "outcomes" in (one := json.loads(text))]


def test_every_observation_of_version_1_reads_with_its_numbers(old: list[dict[str, Any]]) -> None:
    assert len(old) > 20
    for document in old:
        found = read_observation(document)
        assert found.version == VERSION
        assert found.outcomes.document == document["outcomes"]
        for one, before in zip(found.transactions, document["transactions"], strict=True):
            times = before["response_time"]
            assert (one.count, one.latency.p99_ns) == (before["count"], times["p99_ns"])
            assert one.latency.histogram == times["histogram"]
            assert one.latency.sum_ns == round(times["mean_ns"] * one.count)
        assert [line.ok for line in found.intervals] == [one["ok"] for one in document["intervals"]]
        (group,) = found.groups
        assert (group.name, group.outcomes) == ("", found.outcomes)
        law = document["littles_law"]
        assert law is None or found.littles_law is not None
        if found.littles_law is not None:
            assert found.littles_law.latency_ns == law["response_time_ns"]


def test_an_error_after_which_a_commit_is_possible_has_an_unknown_effect(
    old: list[dict[str, Any]],
) -> None:
    error = {
        "code": "",
        "message": "…",
        "count": 1,
        "retried": 0,
        "transaction": None,
        "first_at_ns": 0,
    }
    classes = ("lost connection", "protocol", "deadlock")
    document = {**old[0], "errors": [{**error, "class": one} for one in classes]}
    found = [(one.class_, one.certainty) for one in read_observation(document).errors]
    assert found == [
        ("lost connection", "unknown"),
        ("protocol", "unknown"),
        ("deadlock", "undone"),
    ]


def test_an_observation_of_the_newest_version_is_unchanged(old: list[dict[str, Any]]) -> None:
    document = newest(old[0])
    assert newest(document) == document
    assert read_observation(document).document == read_observation(old[0]).document
    other = {"kind": "update", "equals_fresh_load": True}
    assert newest(other) == other


def test_percentiles_of_an_open_loop_of_version_2_are_of_all_that_was_due(
    old: list[dict[str, Any]],
) -> None:
    before = next(newest(one) for one in old if read_observation(one).all_ok.count > 1000)
    before = json.loads(json.dumps(before))
    answered = before["outcomes"]["ok"]
    (first, *_) = before["transactions"]
    for one in (before, *before["groups"]):
        one["arrival"] = {"kind": "constant", "offered_rate_per_s": 1000.0}
        one["outcomes"]["skipped"] = answered
        one["outcomes_by_transaction"] = [{**one["outcomes"], "name": first["name"]}]
    found = read_observation({**before, "version": 2})
    for times in (found.all_ok.latency, found.groups[0].all_ok.latency):
        assert (times.count, times.unanswered) == (answered, answered)
        assert (times.p90_ns, times.p99_ns) == (None, None)
        assert times.p50_ns is not None and times.p50_ns >= before["all_ok"]["latency"]["p99_ns"]
    closed = {**before, "version": 2, "arrival": {"kind": "closed", "offered_rate_per_s": None}}
    closed["groups"] = [{**one, "arrival": closed["arrival"]} for one in before["groups"]]
    assert read_observation(closed).all_ok.latency == read_observation(before).all_ok.latency


def _without(document: dict[str, Any], *path: str | int) -> dict[str, Any]:
    copy: Any = json.loads(json.dumps(document))
    *way, last = path
    place = copy
    for step in way:
        place = place[step]
    del place[last]
    return dict(copy)


def test_a_damaged_document_is_a_sentence_that_names_the_key(old: list[dict[str, Any]]) -> None:
    whole = newest(old[0])
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


def test_typed_values_do_not_change(old: list[dict[str, Any]]) -> None:
    found: Observation = read_observation(old[0])
    with pytest.raises(AttributeError):
        found.elapsed_ns = 1  # type: ignore[misc]
