"""Scripts and checks are named in one way wherever a workload file names them, and no name is
overlooked."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import ExperimentError
from assay.workload import reader
from assay.workload.values import Workload

HEAD = """\
title = "Small"
source = "nowhere"
default_test = "t"

[data]
source = "none"

[tests.t]
title = "T"
help = "A test"
transactions = 1
"""
FILES = (
    "buy.sql",
    "reads/one.sql",
    "reads/two.sql",
    "checks/lines.sql",
    "checks/orders.sql",
    "checks/rows.json",
)


def workload(folder: Path, test: str) -> Workload:
    for path in FILES:
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text("select 1;\n")
    (folder / "workload.toml").write_text(HEAD + test, encoding="utf-8")
    return reader.read(str(folder))


@pytest.mark.parametrize(
    ("lines", "line", "word", "nearest"),
    [
        ('scripts = ["buy.sql"]\nchecks = ["checks/linse.sql"]', 13, "checks/linse.sql", "lines"),
        ('scripts = ["buy.sql"]\nchecks = ["linse"]', 13, "linse", "'lines'"),
        ('scripts = ["buy.sql"]\ncounted_checks = ["checks/oders*"]', 13, "oders", "orders"),
        ('scripts = ["byu"]', 12, "byu", "'buy'"),
        ('[tests.t.mix]\nbuy = 1\n"reads/on.sql" = 1', 14, "reads/on.sql", "reads/one.sql"),
        ('scripts = ["buy.sql"]\n[not_expressible.json]\nbyu = "no"', 14, "byu", "'buy'"),
        (
            'steps = [{ do = "load" }, { do = "ddl", script = "byu.sql" }]',
            12, "byu.sql", "'buy.sql'",
        ),
    ],
)  # fmt: skip
def test_an_unknown_name_is_refused_with_the_nearest(
    tmp_path: Path, lines: str, line: int, word: str, nearest: str
) -> None:
    with pytest.raises(ExperimentError) as caught:
        workload(tmp_path, lines + "\n")
    assert word in caught.value.message
    assert nearest in (caught.value.hint or "")
    assert caught.value.line == line


@pytest.mark.parametrize("word", ["buy", "buy.sql", "bu*.sql"])
def test_every_list_takes_names_paths_and_globs(tmp_path: Path, word: str) -> None:
    listed = workload(tmp_path, f'scripts = ["{word}"]\n').test("t")
    weighed = workload(tmp_path, f'[tests.t.mix]\n"{word}" = 3\n').test("t")
    assert (listed.scripts, weighed.mix) == (("buy",), {"buy": 3})
    in_steps = (
        f'scripts = ["buy"]\nsteps = [{{ do = "ddl", script = "{word}" }}, {{ do = "drive" }}]\n'
    )
    assert workload(tmp_path, in_steps).test("t").named_scripts == ("buy", "buy")


def test_a_glob_in_a_mix_weighs_each_script_and_none_twice(tmp_path: Path) -> None:
    found = workload(tmp_path, '[tests.t.mix]\n"reads/*.sql" = 2\nbuy = 1\n').test("t")
    assert found.mix == {"one": 2, "two": 2, "buy": 1}
    with pytest.raises(ExperimentError, match="one has two weights"):
        workload(tmp_path, '[tests.t.mix]\n"reads/*.sql" = 2\none = 1\n')


def test_checks_are_all_those_named_or_none(tmp_path: Path) -> None:
    def chosen(line: str) -> list[str]:
        found = workload(tmp_path, f'scripts = ["buy"]\n{line}\n')
        return [name for name in found.checks if name in found.test("t").checks]

    assert chosen("") == ["lines", "orders", "rows"]
    assert chosen('checks = ["*"]') == ["lines", "orders", "rows"]
    assert chosen('checks = ["checks/o*.sql", "lines"]') == ["lines", "orders"]
    assert chosen("checks = []") == []


def test_a_check_of_another_language_alone_is_one_of_its_systems(tmp_path: Path) -> None:
    found = workload(tmp_path, 'scripts = ["buy"]\n')
    assert found.checks["rows"].language == "json"
    assert "checks/rows.json" in found.texts
