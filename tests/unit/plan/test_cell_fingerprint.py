"""Fingerprints of version 2 never change: records of many years are compared by them. (That of a
storage with a name of its own did, when names became labels.)"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace
from typing import Any

import pytest

from assay.contracts.factors import OF_LEVELS, levels
from assay.experiment import Driving, ScriptFile, StorageChoice, SystemChoice
from assay.plan import Cell, fingerprint
from assay.record.file.json_text import json_text

PLAIN = Cell(
    workload="tpcb",
    test="tpcb-like",
    system=SystemChoice("postgresql"),
    storage=StorageChoice(),
    clients=8,
    parameters={"scale": 10},
    levels=levels({"protocol": "prepared", "threads": 0}),
)
RICH = Cell(
    workload="mine.sql",
    test="script",
    system=SystemChoice(
        "mariadb",
        url="mariadb://me:secret@db:3306/shop",
        options={"engine": "MyISAM"},
        settings={"max_connections": "500"},
    ),
    storage=StorageChoice("ssd", "here", "/mnt/ssd", {"size": "1GB"}),
    clients=32,
    parameters={"copies": 10, "share": 0.5, "kind": "wide"},
    levels=levels({"protocol": "simple", "threads": 2}),
    feed="statements.sql",
    scripts=(ScriptFile("read.sql", 9), ScriptFile("write.sql")),
    driving=Driving(
        duration_s=60.0,
        warm_up_s=5,
        arrival="poisson",
        offered_rate_per_s=500.0,
        latency_limit_s=0.05,
        retries=3,
        isolation="serializable",
        per_statement=True,
    ),
)
GOLDEN = {
    "plain": "60cbf6daae976ffe114f664da71d0edf65ae6c3c8711bc8fd4674c53f99164d0",
    "rich": "2b572a364511e093d6b63e0776de91783bc737e6a8ee331a4817ef2bd532af57",
}
CELLS = {"plain": PLAIN, "rich": RICH}


@pytest.mark.parametrize("name", CELLS)
def test_the_fingerprint_is_unchanged(name: str) -> None:
    assert fingerprint.of_cell(CELLS[name]) == GOLDEN[name]


@pytest.mark.parametrize("name", CELLS)
def test_a_recorded_cell_has_the_fingerprint_of_the_planned_one(name: str) -> None:
    recorded = json.loads(json_text(CELLS[name].for_record()))
    assert "secret" not in str(recorded)
    assert fingerprint.of_document(recorded) == GOLDEN[name]


@pytest.mark.parametrize("cell", CELLS)
def test_fields_at_their_defaults_change_nothing(cell: str) -> None:
    """As in a record without these fields, or a program with new ones."""
    document: dict[str, Any] = CELLS[cell].for_record()
    of_driving = document["driving"]
    for name, default in zip(Driving.__struct_fields__, Driving.__struct_defaults__, strict=True):
        if of_driving[name] == default:
            del of_driving[name]
    for field in dataclasses.fields(Cell):
        if field.default is not dataclasses.MISSING and document[field.name] == field.default:
            del document[field.name]
    for factor in OF_LEVELS.values():
        if factor.default is not None and document[factor.name] == factor.default:
            del document[factor.name]
    document["driving"]["of_a_later_program"] = None
    assert fingerprint.of_document(document) == GOLDEN[cell]


@pytest.mark.parametrize(
    "other",
    [
        replace(PLAIN, clients=9),
        replace(PLAIN, levels={**PLAIN.levels, "cache": "cold"}),
        replace(PLAIN, parameters={"scale": 11}),
        replace(PLAIN, driving=Driving(drain_s=5)),
        replace(PLAIN, system=SystemChoice("postgresql", settings={"fsync": "off"})),
        replace(PLAIN, storage=StorageChoice("here", "here", "/mnt/ssd")),
        replace(PLAIN, scripts=(ScriptFile("read.sql"),)),
        replace(PLAIN, scripts=(ScriptFile("read.sql", 2),)),
    ],
)
def test_a_different_cell_has_a_different_fingerprint(other: Cell) -> None:
    assert fingerprint.of_cell(other) != GOLDEN["plain"]


def test_a_number_is_the_same_however_it_is_written() -> None:
    assert fingerprint.of_cell(replace(PLAIN, parameters={"scale": 10.0})) == GOLDEN["plain"]


def test_a_password_is_no_part_of_it() -> None:
    other = replace(RICH.system, url="mariadb://me:other@db:3306/shop")
    assert fingerprint.of_cell(replace(RICH, system=other)) == GOLDEN["rich"]


def test_the_origin_of_an_address_is_no_part_of_a_cell() -> None:
    system = replace(RICH.system, url_origins={"host": "MYSQL_HOST", "user": "URL"})
    assert fingerprint.of_cell(replace(RICH, system=system)) == GOLDEN["rich"]
