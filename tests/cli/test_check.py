"""``assay check`` names every mistake of a workload at once, each with its place, and tries its
statements on a system."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay import registry
from commands import Assay

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "writing-a-workload.md"
FILE = re.compile(r"```(?:toml|sql)\n(?:#|--) (shop/\S+)\n(.*?)```", re.DOTALL)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """The folder of the guide."""
    for name, text in FILE.findall(GUIDE.read_text(encoding="utf-8")):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return tmp_path / "shop"


def changed(file: Path, before: str, after: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after, 1), encoding="utf-8")


def line_of(file: Path, text: str) -> int:
    lines = file.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("named", ["shop", "shop/workload.toml"])
def test_a_right_workload_is_summed_up(assay: Assay, named: str) -> None:
    done = assay("check", named)
    assert done.status == 0, done.err
    assert "customers, orders, shelf_{instance}" in done.out
    assert "no mistake found" in done.err


def test_an_experiment_file_is_checked_as_a_run_would_read_it(assay: Assay, shop: Path) -> None:
    file = shop.parent / "choice.toml"
    file.write_text('workload = "tpcb"\ntests = ["select-only"]\nsystems = ["sqlite"]\n')
    right = assay("check", file.name)
    assert (right.status, right.out.splitlines()[0]) == (0, "tests       tpcb.select-only")
    for name in ("a.sql", "b.sql"):
        (shop.parent / name).write_text("SELECT 1;\n")
    assert "b.sql: no mistake found" in assay("check", "a.sql,b.sql").err
    file.write_text('workload = "tpcb"\ntests = ["selct-only"]\nsystems = ["sqlit"]\n')
    wrong = assay("check", file.name)
    assert (wrong.status, wrong.out) == (2, "")
    assert "choice.toml:2: unknown test" in wrong.err
    assert "choice.toml:3: unknown system" in wrong.err


@pytest.mark.parametrize("name", registry.workloads())
def test_built_in_workloads_are_right(assay: Assay, name: str) -> None:
    done = assay("check", name)
    assert done.status == 0, done.out


def test_overrides_for_a_dialect_that_is_a_file(assay: Assay, shop: Path) -> None:
    """Every command knows the dialect that the workload names."""
    name = next(shop.glob("*.sql")).name
    (shop / "overrides" / "lite").mkdir(parents=True)
    (shop / "overrides" / "lite" / name).write_text("-- an override\nSELECT 1;\n")
    unknown = assay("check", "shop")
    assert (unknown.status, "no dialect is called so" in unknown.out) == (2, True), unknown.out
    assert 'workload.toml: dialects = ["FILE.toml"]' in unknown.out
    changed(shop / "workload.toml", "default_test", 'dialects = ["lite.toml"]\ndefault_test')
    (shop / "lite.toml").write_text('name = "lite"\nquoot = "x"\n')
    misspelt = assay("check", "shop")
    assert "lite.toml:2" in misspelt.out and "did you mean 'quote'" in misspelt.out
    (shop / "lite.toml").write_text('name = "lite"\n')
    done = assay("check", "shop")
    assert done.status == 0, done.out
    assert assay("plan", "shop", "--on", "sqlite").status == 0


def test_ten_mistakes_are_named_at_once(assay: Assay, shop: Path) -> None:
    file = shop / "workload.toml"
    changed(file, 'indexes = ["joined desc, name"]', 'indexes = ["joined desc, nmae"]')
    changed(file, "foreign_keys = [", "foreing_keys = [")
    changed(file, 'email = "concat(', 'email = "concta(')
    changed(
        file,
        "[[tables]]",
        '[parameters.unheard]\ntype = "int"\ndefault = 1\nhelp = "x"\n\n[[tables]]',
    )
    more = """
checks = ["checks/oders.sql"]

[tests.mixed]
title = "Mixed"
help = "Two"
clients = [2]
transactions = "scael"
mix = { byu = 1 }

[tests.buy.defaults]
scale = [0]

[report.buy]
rows = "sytem"
"""
    file.write_text(file.read_text(encoding="utf-8") + more, encoding="utf-8")
    override = shop / "overrides" / "postgres" / "buy.sql"
    override.parent.mkdir(parents=True)
    override.write_text("-- why\nselect 1;\n")
    changed(shop / "buy.sql", "\\set at random(0, 99)", "\\set at random(0, :shelfs)")
    done = assay("check", "shop")
    assert done.status == 2
    mistakes = {
        "unknown column 'nmae'": f"shop/workload.toml:{line_of(file, 'nmae')}",
        "unknown key 'foreing_keys'": f"shop/workload.toml:{line_of(file, 'foreing_keys')}",
        "concta": f"shop/workload.toml:{line_of(file, 'concta')}",
        "nothing uses the parameter unheard": f"shop/workload.toml:{line_of(file, 'unheard')}",
        "no check is called 'checks/oders.sql'": f"shop/workload.toml:{line_of(file, 'oders')}",
        "scael": f"shop/workload.toml:{line_of(file, 'scael')}",
        "no script is called 'byu'": f"shop/workload.toml:{line_of(file, 'byu')}",
        "scale: expected": f"shop/workload.toml:{line_of(file, 'scale = [0]')}",
        "'sytem'": f"shop/workload.toml:{line_of(file, 'sytem')}",
        "'postgres'": "shop/overrides/postgres/buy.sql",
        "shelfs": "shop/buy.sql:3",
    }
    lines = done.out.splitlines()
    for words, place in mistakes.items():
        assert any(place in line and words in line for line in lines), (words, done.out)
    said = [line for line in lines if line.startswith("shop/")]
    assert len(said) == len(mistakes), done.out
    assert sum(line.startswith("  fix: ") for line in lines) >= len(mistakes) - 2


def test_statements_are_prepared_on_a_system(assay: Assay, shop: Path) -> None:
    changed(shop / "buy.sql", "select credit from", "select credti from")
    changed(shop / "checks" / "orders.sql", "left join customers", "left join custmers")
    done = assay("check", "shop", "--on", "sqlite")
    assert done.status == 2, done.err
    assert re.search(r"^shop/buy\.sql:6:1: sqlite refuses the statement: .*credti", done.out, re.M)
    assert re.search(r"^shop/checks/orders\.sql:1:1: sqlite .*custmers", done.out, re.M)


def test_a_name_that_the_system_reserves_is_to_be_quoted(assay: Assay, shop: Path) -> None:
    for file in shop.rglob("*"):
        if file.suffix in {".toml", ".sql"}:
            file.write_text(re.sub(r"\borders\b", "order", file.read_text(encoding="utf-8")))
    done = assay("check", "shop", "--on", "sqlite")
    assert done.status == 2, done.err
    assert '  fix: sqlite reserves order: write "order"\n' in done.out
    for file in shop.rglob("*.sql"):
        file.write_text(re.sub(r"\b(into|from|join) order\b", r'\1 "order"', file.read_text()))
    done = assay("check", "shop", "--on", "sqlite")
    assert done.status == 0, done.out


@pytest.mark.usefixtures("shop")
def test_a_system_that_cannot_prepare_is_named(assay: Assay) -> None:
    done = assay("check", "shop", "--on", "dbapi:sqlite3[database=:memory:]")
    assert "cannot prepare statements: only its tables were created" in done.err, done.err
    assert done.status == 0


def test_a_script_file_is_checked_as_a_run_would_see_it(assay: Assay, tmp_path: Path) -> None:
    file = tmp_path / "s.sql"
    file.write_text("SELECT :n;\n")
    unset = assay("check", "s.sql")
    assert unset.status == 2
    assert "s.sql:1:8: nothing sets the variable :n" in unset.out
    assert "--set n=VALUE" in unset.out
    done = assay("check", "s.sql", "--set", "n=1", "--on", "sqlite")
    assert (done.status, "prepared the statements of 1 file" in done.err) == (0, True), done.err
    file.write_text("SELECT 1;\nSELECT 1 FROM nowhere;\nSELECT * FROM nothing;\n")
    refused = assay("check", "s.sql", "--on", "sqlite")
    assert refused.status == 2
    places = [line.split(": ")[0] for line in refused.out.splitlines() if "refuses" in line]
    assert places == ["s.sql:2:1", "s.sql:3:1"]
    assert assay("check", "nowhere.sql").status == 2
    assert "--set is for a script file" in assay("check", "tpcb", "--set", "n=1").err


def test_what_follows_from_a_mistake_is_no_mistake_of_its_own(assay: Assay, shop: Path) -> None:
    """Without the parameter, nothing would set the variable that formulas and scripts use."""
    file = shop / "workload.toml"
    changed(file, "[parameters.", "[parameters.size]\ntype = \"int\"\ndefault = 1\nleast = 5\n"
            'help = "Rows"\n\n[parameters.')  # fmt: skip
    script = next(shop.glob("*.sql"))
    script.write_text(f"\\set size_of_all :size * 2\n{script.read_text('utf-8')}", encoding="utf-8")
    done = assay("check", "shop")
    line = line_of(file, "default = 1")
    assert done.out.splitlines() == [
        f"shop/workload.toml:{line}: size: expected a whole number from 5 to "
        "9,223,372,036,854,775,807, found 1"
    ]


def test_a_statement_that_is_not_prepared_is_not_said_to_be_right(
    assay: Assay, tmp_path: Path
) -> None:
    (tmp_path / "s.sql").write_text("SELECT 1;\nSELEKT 2;\n", encoding="utf-8")
    done = assay("check", "s.sql", "--on", "sqlite")
    assert done.status == 0
    assert "s.sql:2: not tried, as only statements with rows or values are prepared" in done.err


def test_scripts_of_a_test_that_a_system_cannot_express_are_no_mistakes(assay: Assay) -> None:
    """SQLite has no stored procedures: `tpcc.procedures` is refused there, and is no fault."""
    done = assay("check", "tpcc", "--on", "sqlite")
    assert (done.status, done.out.count("refuses")) == (0, 0), done.out
