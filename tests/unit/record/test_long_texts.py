"""A statement of megabytes is kept once, however many runs sent it, and read as it was."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest

from assay.contracts.observation import ShapeError
from assay.experiment.from_command_line import Words, experiment
from assay.lab import lab
from assay.record import Store, merging
from assay.record.file import kept_texts
from assay.record.file.kept_texts import LongTexts

TEXT_BYTES = 400_000


def _measured(folder: Path) -> tuple[Path, str]:
    """A record of four runs of a statement that cannot be compressed to less than a half."""
    statement = f"SELECT length('{random.Random(1).randbytes(TEXT_BYTES // 2).hex()}')"
    script = folder / "long.sql"
    script.write_text(f"{statement};\n")
    asked, _ = experiment(
        Words(str(script), on=("sqlite",), repetitions=4, transactions=1, warm_up_s=0, clients="1")
    )
    records = folder / "r.sqlite"
    lab.run(asked, records=records)
    return records, statement


def test_each_is_kept_once_and_merged(tmp_path: Path) -> None:
    records, statement = _measured(tmp_path)
    merged = tmp_path / "merged.sqlite"
    merging.merge(records, merged, waiting=print)
    for path in (records, merged):
        with sqlite3.connect(path) as connection:
            assert connection.execute("SELECT count(*) FROM scripts").fetchone() == (4,)
            assert 1 <= connection.execute("SELECT count(*) FROM texts").fetchone()[0] <= 2
            (apart,) = connection.execute("SELECT sum(length(document)) FROM observations")
            assert apart[0] < TEXT_BYTES
        connection.close()
        assert path.stat().st_size < 2 * TEXT_BYTES
        with Store(path, must_exist=True) as store:
            runs = store.latest().runs
        assert len(runs) == 4
        for run in runs:
            assert [statement in script.text for script in run.scripts] == [True]
            assert run.driven is not None
            assert [answer.text for answer in run.driven.answers] == [statement]


def test_a_text_that_is_not_there_is_named(tmp_path: Path) -> None:
    records, statement = _measured(tmp_path)
    digest = kept_texts.digest_of(statement)
    with sqlite3.connect(records) as connection:
        assert LongTexts(connection).text(digest) == statement
        connection.execute("UPDATE texts SET content = x'00' WHERE digest = ?", (digest,))
        with pytest.raises(ShapeError, match=digest[:12]):
            LongTexts(connection).text(digest)
        connection.execute("DELETE FROM texts")
        with pytest.raises(ShapeError, match="expected it in the table texts"):
            LongTexts(connection).text(digest)
    connection.close()
