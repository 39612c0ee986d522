"""`assay install`, `assay uninstall` and `assay list systems`."""

from __future__ import annotations

import pytest

from assay import registry
from assay.contracts.capabilities import CAPABILITIES
from commands import Assay


def test_the_list_says_what_is_here_and_what_was_verified(assay: Assay) -> None:
    listed = assay("list", "systems", "--format", "json")
    assert listed.status == 0, listed.err
    rows = {row["system"]: row for row in listed.document}
    members = [name for name in rows if ":" in name]
    assert tuple(rows) == (*registry.systems(), *members)
    assert "dbapi:sqlite3" in members
    for row in rows.values():
        assert row["available"] in {"found", "installable", "by URL", "missing"}
        assert row["verified"]
        assert bool(row["place"]) is (row["available"] == "found")
        assert not any("=|" in option for option in row["options"]), "no level without a word"
        assert set(row["capabilities"]) <= set(CAPABILITIES)
        assert bool(row["version"]) is (row["available"] == "found")
    assert rows["sqlite"]["available"] == "found"


def test_the_short_list_leaves_capabilities_to_the_detail(assay: Assay) -> None:
    assert "bulk load" not in assay("list", "systems").out
    detail = assay("list", "systems", "--detail").out
    assert "bulk load" in detail
    assert "versions" in detail


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("install", "sqlit"), "unknown system 'sqlit'"),
        (("install", "sqlite"), "sqlite cannot be installed by Assay"),
        (("install", "sqlite"), "it is on this machine: `assay run WORKLOAD --on sqlite`"),
        (("install", "nosuch"), "cassandra, duckdb, ferretdb, mariadb, mysql, postgresql"),
        (("install", "sqlite@"), "expected SYSTEM@VERSION"),
        (("install", "duckdb://me:geheim@x"), "expected SYSTEM@VERSION, found a URL"),
        (("uninstall", "sqlite"), "sqlite was not installed by Assay in"),
        (("plan", "tpcb", "--on", "sqlite@3"), "there is one version of sqlite here"),
        (("plan", "tpcb", "--on", "mysql@"), "mysql@: expected a version behind the @"),
        (("plan", "tpcb", "--on", "mysql@new"), "the beginning of one, found 'new'"),
        (("plan", "tpcb", "--on", "mysql@9[version=8]"), "expected one version, found two"),
        (("plan", "tpcb", "--on", "duckdb@0.9"), "or later, which Assay can run, found 0.9"),
        (("plan", "tpcb", "--on", "postgresql@15://u:geheim@h/d"), "has the version that it has"),
        (
            ("plan", "tpcb", "--on", "mysql://u@h/d", "--set", "mysql.version=9"),
            "mysql at h: a server by URL has the version that it has",
        ),
        (("list", "workloads", "--detail"), "--detail does not apply to `assay list workloads`"),
    ],
)
def test_what_cannot_be_installed_is_refused(
    assay: Assay, words: tuple[str, ...], message: str
) -> None:
    ended = assay(*words)
    assert ended.status == 2
    assert message in ended.err
    assert "geheim" not in ended.err
