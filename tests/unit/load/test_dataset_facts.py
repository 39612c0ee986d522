"""Runs that used one load are known as such, however their rows are listed."""

from __future__ import annotations

from assay.load.dataset_facts import DatasetFacts


def _facts(rows: dict[str, int], load_ns: int = 100) -> DatasetFacts:
    return DatasetFacts("f", "generated", "", 1, rows, 1, "", 0, load_ns, 0, 0, 4096)


def test_a_restored_copy_is_of_the_load_it_is_a_copy_of() -> None:
    loaded, restored = _facts({"b": 1, "a": 2}), _facts({"a": 2, "b": 1})
    assert loaded.one_load == restored.one_load
    assert loaded.one_load != _facts({"b": 1, "a": 2}, load_ns=101).one_load
