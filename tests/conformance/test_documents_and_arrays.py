"""Columns of documents and arrays: generated, verified, read and changed on every system alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from able import able, beside_their_line
from commands import Assay, need
from step_workloads import TOP

WORKLOAD = f"""\
{TOP}
[[tables]]
name = "data"
rows = "20"
primary_key = ["id"]

[tables.columns]
id = "int not null"
d = "json"
n = "int[]"
t = "text[]"

[tables.values]
id = ":row"
d = "document('id', :row, 'in', document('x', :row / 2.0, 'tags', list('a', :row)))"
n = "list(:row, null, -1)"
t = "list(concat('it''s \\"', :row), '')"

[tests.t]
title = "T"
help = "Reads and changes documents"
scripts = ["read", "write"]
passes = 5
"""
CHECK = """
\\if :d -> 'id' <> :id OR :d -> 'in' -> 'x' <> :id / 2.0 OR :d -> 'in' -> 'tags' ISNULL
\\abort
\\endif
\\if :n -> 0 <> :id OR :n -> -1 <> -1 OR :n -> 3 NOTNULL
\\abort
\\endif
\\if :t -> 0 <> concat('it''s "', :id)
\\abort
\\endif
"""
WRITE = """
\\set id random(0, 19)
\\set d document('id', :id, 'in', document('tags', list(document('y', 1)), 'x', :id / 2.0))
\\set n list(:id, -1)
\\set t list(concat('it''s "', :id))
"""
SCRIPTS = {
    "read.sql": f"\\set id random(0, 19)\nSELECT d, n, t FROM data WHERE id = :id \\gset{CHECK}",
    "read.json": "\\set id random(0, 19)\n"
    '{"find": "data", "filter": {"id": :id},\n'
    ' "projection": {"_id": 0, "d": 1, "n": 1, "t": 1}} \\gset' + CHECK,
    "write.sql": WRITE + "UPDATE data SET d = :d, n = :n, t = :t WHERE id = :id;\n"
    "\\if :rows_changed <> 1\n\\abort\n\\endif\n",
    "write.json": WRITE + '{"update": "data",\n'
    ' "updates": [{"q": {"id": :id}, "u": {"$set": {"d": :d, "n": :n, "t": :t}}}]}\n'
    "\\if :rows_changed <> 1\n\\abort\n\\endif\n",
}


_SYSTEMS = [name for language in ("sql", "json") for name in able("documents", language=language)]
_ANOTHER = beside_their_line(_SYSTEMS)


@pytest.mark.parametrize(
    ("system", "protocol"),
    [
        pytest.param(
            name,
            protocol,
            marks=[
                *((pytest.mark.same_line,) if name in _ANOTHER and protocol == "extended" else ())
            ],
        )
        for name in _SYSTEMS
        for protocol in ("prepared", "extended")
    ],
)
def test_a_workload_of_documents_is_the_same_on_every_system(
    system: str, protocol: str, assay: Assay, tmp_path: Path
) -> None:
    need(system)
    (tmp_path / "workload.toml").write_text(WORKLOAD)
    for name, text in SCRIPTS.items():
        (tmp_path / name).write_text(text)
    ended = assay("run", tmp_path, "--on", system, "--verify", "--protocol", protocol)
    assert ended.status == 0, ended.out + ended.err
    (run,) = ended.runs
    assert run.observation is not None
    outcomes = run.observation.outcomes
    assert (outcomes.ok, outcomes.aborted, outcomes.failed) == (10, 0, 0), ended.out
