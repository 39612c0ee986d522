"""The real clients load bibtosql's scripts with the same rows as `assay run`."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from able import with_ability
from assay import registry
from assay.contracts.deployment import Address, Deployment
from assay.contracts.events import Events
from assay.contracts.systems.abilities import OwnClient
from assay.experiment import Experiment, StorageChoice, SystemChoice
from assay.load.bibsql.bibliography import Bibliography, resolve
from assay.load.load import load
from assay.load.tables import drop, table_digest
from assay.provision.engine.engine_calls import session
from assay.provision.running_system import provision
from assay.workload import reader
from commands import need
from forked_programs import BIN

WORKLOAD = reader.read("bibsql")
HOSTILE = r"""
@Article{Drop:2026:T,
  author =       "Bobby '); drop table bibtab; -- Tables",
  title =        "'); drop table bibtab; --",
  journal =      j-X,
  note =         "C:\temp\new \' \0 '' \\",
  remark =       "tab	and ""quotes"" and `back' 100\% $x_{i}$",
  year =         "2026",
}
""".replace('""', "''")


@pytest.fixture(scope="module", params=with_ability(OwnClient))
def deployment(request: pytest.FixtureRequest) -> Iterator[Deployment]:
    """Of each system one, which the tests share."""
    need(request.param)
    with provision(
        SystemChoice(request.param), StorageChoice("tmpfs", "tmpfs"), connections=4
    ) as started:
        yield started


def bibliography_of(files: list[Path]) -> Bibliography:
    experiment = Experiment("bibsql", (), (), input_paths=tuple(map(str, files)))
    return resolve(experiment, WORKLOAD, Events())


def digests(deployment: Deployment) -> dict[str, tuple[int, str]]:
    dialect = registry.system(deployment.system).dialect
    return {table.name: table_digest(deployment, dialect, table) for table in WORKLOAD.tables}


def load_by_client(address: Address, system: str, files: list[Path], script: Path) -> None:
    """``bibtosql … | client``, with a file in place of the pipe."""
    under_test = registry.system(system)
    command, environment = under_test.client_command(address)
    words = ["--server", under_test.dialect.server_names[0]]
    if address.database:
        words += ["--database", address.database]
    with script.open("wb") as out:
        subprocess.run(
            [BIN / "bibtosql", *words, *files], stdout=out, stderr=subprocess.DEVNULL, check=True
        )
    with script.open("rb") as text:
        done = subprocess.run(
            command, stdin=text, env={**os.environ, **environment}, capture_output=True, text=True
        )
    assert done.returncode == 0, done.stderr
    assert "error" not in done.stderr.lower(), done.stderr


@pytest.mark.parametrize("kind", ["real", "hostile", "carriage returns"])
def test_the_real_client_loads_what_assay_loads(
    beebe: Path, tmp_path: Path, deployment: Deployment, kind: str
) -> None:
    system = deployment.system
    files = sorted(beebe.glob("*.bib"))
    if kind != "real":
        files = [tmp_path / "hostile.bib"]
        line_end = "\r\n" if kind == "carriage returns" else "\n"
        files[0].write_text(HOSTILE, encoding="utf-8", newline=line_end)
    under_test = registry.system(system)
    load(deployment, under_test, WORKLOAD.tables, bibliography_of(files).request())
    ours = digests(deployment)
    drop(deployment, under_test.dialect, WORKLOAD.tables)
    with session(deployment.address) as opened:
        for table in WORKLOAD.tables:
            for statement in under_test.dialect.create_table(table, deployment.options):
                opened.execute(statement)
    load_by_client(deployment.address, system, files, tmp_path / "script.sql")
    assert digests(deployment) == ours
    if kind != "real":
        with session(deployment.address) as opened:
            (entry,) = opened.execute("SELECT entry FROM bibtab").rows[0]
        assert entry == "\n" + HOSTILE.strip().replace("\n", line_end)
    assert ours["bibtab"][0] == (9733 if kind == "real" else 1)
    drop(deployment, under_test.dialect, WORKLOAD.tables)


def test_a_fresh_file_by_the_shell(beebe: Path, tmp_path: Path) -> None:
    """The README's way: ``bibtosql --create … | sqlite3 f.db``."""
    need("sqlite")
    files = sorted(beebe.glob("*.bib"))
    made = subprocess.run([BIN / "bibtosql", "--create", *files], capture_output=True, check=True)
    subprocess.run(["sqlite3", tmp_path / "f.db"], input=made.stdout, check=True)
    counted = subprocess.run(
        ["sqlite3", "-json", tmp_path / "f.db",
         "select (select count(*) from bibtab) as bib, (select count(*) from strtab) as str"],
        capture_output=True, check=True,
    )  # fmt: skip
    assert json.loads(counted.stdout)[0]["bib"] == 9733


def test_a_failed_query_is_not_an_empty_answer_with_status_0(
    tmp_path: Path, deployment: Deployment
) -> None:
    address = deployment.address
    keys = {
        "socket": address.unix, "file": address.file, "user": address.user,
        "password": address.password, "database": address.database,
    }  # fmt: skip
    lines = [f"{key} = {json.dumps(str(value))}" for key, value in keys.items() if value]
    profiles = tmp_path / "profiles.toml"
    profiles.write_text("\n".join([f"[own.{deployment.system}]", *lines, ""]))
    for question, is_good in (("select 7;\n", True), ("select x from nowhere;\n", False)):
        answer = subprocess.run(
            [BIN / "bibsql", "-s", deployment.system, "--profile", "own"],
            input=question, capture_output=True, text=True,
            env={**os.environ, "ASSAY_BIBSQL_PROFILES": str(profiles)},
        )  # fmt: skip
        assert (answer.returncode == 0) is is_good, answer.stderr
        assert ("7" in answer.stdout) is is_good
