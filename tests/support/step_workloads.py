"""A small workload of one table, with a test given by the caller."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay.experiment.from_command_line import Words, experiment
from assay.lab import lab
from assay.record import ExperimentRecord, Store

TOP = """\
title = "Small"
source = "nowhere"
default_test = "t"

[data]
source = "generated"
"""
HEAD = f"""\
{TOP}
[[tables]]
name = "data"
rows = "10"
primary_key = ["id"]

[tables.columns]
id = "int not null"
value = "int not null"

[tables.values]
id = ":row + 1"
value = "0"

[tests.t]
title = "T"
help = "A test"
"""
READERS = """\

[parameters.readers]
type = "int"
default = 3
help = "Clients that read"
"""
SCRIPTS = {
    "read.sql": "\\set id random(1, 10)\nSELECT value FROM data WHERE id = :id;\n",
    "write.sql": "\\set id random(1, 10)\nUPDATE data SET value = value + 1 WHERE id = :id;\n",
    "all.sql": "SELECT id, value FROM data ORDER BY id;\n",
    "index.sql": "CREATE INDEX data_by_value ON data (value);\n",
}


def folder_of(folder: Path, test: str, **scripts: str) -> Path:
    """The workload's folder; ``scripts``: further or other ones, by name. It has the parameter
    ``readers`` where the test names it."""
    folder.mkdir(exist_ok=True)
    whole = HEAD + test + (READERS if "readers" in test else "")
    (folder / "workload.toml").write_text(whole, encoding="utf-8")
    for name, text in {**SCRIPTS, **{f"{one}.sql": text for one, text in scripts.items()}}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def ran(folder: Path, *on: str, records: Path | None = None, **words: Any) -> ExperimentRecord:
    """Runs the test by `lab.run` like the command line; returns its record."""
    records = records or folder / "records.sqlite"
    asked, _ = experiment(Words(str(folder), on=on or ("null",), **words))
    result = lab.run(asked, records=records)
    with Store(records, must_exist=True) as store:
        return store.experiment(result.experiment_id)
