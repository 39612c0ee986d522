"""A seed determines everything that is random: the same in each run, different for each client."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from known_systems import PROTOCOLS, NullSystem, drive

DRAWS = """\\set uniform random(1, 1000000000)
\\set skewed random_zipfian(1, 1000000, 1.2)
INSERT INTO drawn VALUES (:client_id, :uniform, :skewed);
"""
Draws = dict[int, list[tuple[int, int]]]


def drawn(folder: Path, seed: int) -> Draws:
    """Client → what it drew, in order."""
    file = folder / f"{len(list(folder.iterdir()))}.sqlite"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE drawn (client, uniform, skewed)")
        deployment = {"driver": "sqlite", "file": str(file)}
        drive(deployment, DRAWS, clients=4, seed=seed, stop={"transactions": 25})
        found: Draws = {}
        for client, *numbers in connection.execute("SELECT * FROM drawn ORDER BY rowid"):
            found.setdefault(client, []).append(tuple(numbers))
    return found


def test_equal_seeds_give_equal_data_and_different_clients_never_the_same(tmp_path: Path) -> None:
    first, second, other = drawn(tmp_path, 7), drawn(tmp_path, 7), drawn(tmp_path, 8)
    assert first == second
    assert sorted(map(len, first.values())) == [25] * 4
    every = [number for found in (first, other) for one in found.values() for number, _ in one]
    assert len(set(every)) == len(every), "of a thousand million numbers none came twice"


def choices(null_system: NullSystem, seed: int) -> dict[str, int]:
    """How often each transaction type was chosen."""
    scripts = {"a": "SELECT 1;", "b": "SELECT 2;", "c": "SELECT 3;"}
    with null_system(PROTOCOLS[0]) as deployment:
        observation = drive(
            deployment, scripts, order="mix", clients=3, seed=seed, stop={"transactions": 400}
        )
    return {one["name"]: one["count"] for one in observation["transactions"]}


def test_equal_seeds_give_equal_choices(null_system: NullSystem) -> None:
    assert choices(null_system, 1) == choices(null_system, 1)
    assert choices(null_system, 1) != choices(null_system, 2)
