"""Commands of MongoDB that only read are distinguished from those that can write."""

from __future__ import annotations

import pytest

from assay.dialects.mongodb import MONGODB


@pytest.mark.parametrize(
    "statement",
    [
        '{"find": "jobs", "filter": {"user": :user}}',
        ' { "aggregate" : "jobs", "pipeline": [{"$match": {"out": 1}}], "cursor": {}}',
        '{"count": "jobs"}',
    ],
)
def test_a_command_that_only_reads(statement: str) -> None:
    assert MONGODB.only_reads(statement)


@pytest.mark.parametrize(
    "statement",
    [
        '{"insert": "find", "documents": [{"find": 1}]}',
        '{"aggregate": "jobs", "pipeline": [{"$out": "other"}], "cursor": {}}',
        '{"aggregate": "jobs", "pipeline": [{"\\u0024merge": {"into": "other"}}], "cursor": {}}',
        '{"findAndModify": "jobs", "remove": true}',
        "",
    ],
)
def test_a_command_that_can_write(statement: str) -> None:
    assert not MONGODB.only_reads(statement)
