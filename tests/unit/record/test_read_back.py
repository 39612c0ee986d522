"""What a record keeps of a cell, an experiment, a workload and a data set is read back as what
wrote it: the same JSON, byte by byte. An earlier record may lack fields, a later one has further
ones."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

import invented_records as invented
from assay.contracts.documents import ShapeError
from assay.contracts.experiment import Experiment, ScriptFile, ServerMachine, StorageChoice
from assay.contracts.recorded import SheetRecord
from assay.load.dataset import Dataset
from assay.plan.fingerprint import fingerprint_of_cell
from assay.plan.values import Cell
from assay.record.file.kept_texts import json_text
from assay.text.secrets import HIDDEN
from assay.workload import reader
from assay.workload.derived_metrics import WorkloadRecord

MACHINE = ServerMachine(1 << 30, 2.0, 0.001, StorageChoice("log", "loop", "/mnt", {"fs": "xfs"}))
SYSTEM = replace(invented.MARIADB, machine=MACHINE, stands_on=invented.SSD, at_default=("engine",))
CELL = replace(
    invented.plan([SYSTEM], [invented.SSD], parameters={"scale": 10}).runs[0].cell,
    scripts=(ScriptFile("a.sql", 9, "digest"),),
    workload_content="of its scripts",
    group_clients={"readers": 4},
)
EXPERIMENT = Experiment(
    "w", ("t",), (SYSTEM,), (invented.SSD,), (1, 8),
    levels={
        "memory": (1 << 30, None), "rtt": (0.001,), "log_storage": (MACHINE.log_storage, None),
        "cache": ("cold", "warm"),
    },
    parameters={"scale": (1, 10)}, of_tests={"t": {"clients": [2], "memory_bytes": [None]}},
    offered_rates_per_s=(100.0, "0s:200,60s:800"), feed="f.sql",
)  # fmt: skip


def kept(value: Any) -> Any:
    return json.loads(json_text(value.for_record()))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (CELL, Cell.of_record(kept(CELL), "cell")),
        (EXPERIMENT, Experiment.of_record(kept(EXPERIMENT), "experiment")),
        (invented.dataset(), Dataset.of_record(kept(invented.dataset()), "data set")),
    ],
)
def test_what_was_written_is_read(written: Any, read: Any) -> None:
    assert read == written
    assert json_text(read.for_record()) == json_text(written.for_record())


@pytest.mark.parametrize("name", ["bibsql", "ssd", "tpcc"])
def test_what_reports_need_of_a_workload_is_read(name: str) -> None:
    written = reader.read(name).for_record()
    read = WorkloadRecord.of_record(kept(written))
    assert json_text(read.for_record()) == json_text(written.for_record())
    assert [one.variables for one in read.derived] == [one.variables for one in written.derived]


def test_a_table_without_rows_is_a_table() -> None:
    sheet = SheetRecord(title="t", columns=["a"], rows=[])
    assert WorkloadRecord.of_record({"sheets": [sheet]}).sheets == (sheet,)


def test_fields_of_another_version_change_nothing() -> None:
    document = kept(CELL)
    document["system"]["of_a_later_program"] = document["of_a_later_program"] = {"a": 1}
    del document["system"]["profile"], document["generators"]
    read = Cell.of_record(document, "cell")
    assert read == CELL and fingerprint_of_cell(read) == fingerprint_of_cell(CELL)
    assert Experiment.of_record({**kept(EXPERIMENT), "later": 1}, "experiment") == EXPERIMENT


def test_a_level_of_a_later_factor_tells_cells_apart() -> None:
    one, other = (Cell.of_record({**kept(CELL), "later": level}, "cell") for level in ("a", "b"))
    assert fingerprint_of_cell(one) != fingerprint_of_cell(other)


def test_a_secret_is_read_as_hidden() -> None:
    secret = replace(CELL, system=replace(SYSTEM, options={"password": "geheim"}))
    document = kept(secret)
    assert document["system"]["options"] == {"password": None}
    assert Cell.of_record(document, "cell").system.options == {"password": HIDDEN}


@pytest.mark.parametrize(
    ("place", "named"),
    [("clients", "clients"), ("system", "system"), ("scripts", "scripts"), ("cache", "levels")],
)
def test_a_wrong_shape_is_named(place: str, named: str) -> None:
    with pytest.raises(ShapeError, match=rf"^run 3: cell\.{named}"):
        Cell.of_record({**kept(CELL), place: [-1]}, "run 3: cell")
