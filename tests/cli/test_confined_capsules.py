"""What a capsule runs has no rights on this machine: each attack is first seen to work where a user
runs it, then packed, and run again as anyone's."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay import registry
from assay.contracts.storage_facts import StorageFacts
from assay.record import Store
from commands import run_in
from servers import provisioned, url_of

ONCE = ("--clients", "1", "--transactions", "2", "--warm-up", "0", "--storage", "tmpfs")
PLAIN = ("--no-probe", "--no-durability", "--progress", "0")
SECRET = "a line that no capsule may read"


@dataclass(frozen=True)
class Attack:
    name: str
    system: str
    script: str
    """``{made}``: a file that it makes; ``{secret}``: one that it reads."""
    settings: tuple[str, ...] = ()

    @property
    def reads(self) -> bool:
        return "{secret}" in self.script


WRITING_LOG = ("general_log=ON", "general_log_file={made}")
ATTACKS = (
    Attack("program", "postgresql", "COPY (SELECT 1) TO PROGRAM 'touch {made}';"),
    Attack("file", "postgresql", "COPY (SELECT 1) TO '{made}';"),
    Attack("read", "postgresql", "SELECT pg_read_file('{secret}');"),
    Attack(
        "setting",
        "postgresql",
        "SELECT pg_switch_wal();\nSELECT pg_sleep(0.5);",
        ("archive_mode=on", "archive_command=touch {made}"),
    ),
    Attack("file", "duckdb", "COPY (SELECT 1) TO '{made}';"),
    Attack("read", "duckdb", "SELECT * FROM read_csv('{secret}', header = false);"),
    Attack("attach", "sqlite", "ATTACH '{made}' AS o;\nCREATE TABLE o.t (a);\nDETACH o;"),
    Attack("vacuum", "sqlite", "VACUUM INTO '{made}';"),
    Attack("file", "mariadb", "SELECT 1 INTO OUTFILE '{made}';"),
    Attack(
        "read",
        "mariadb",
        "CREATE TEMPORARY TABLE IF NOT EXISTS r (a text);\n"
        "LOAD DATA INFILE '{secret}' INTO TABLE r;",
    ),
    Attack("setting", "mariadb", "SELECT 1;", WRITING_LOG),
)


@pytest.fixture
def outside() -> Iterator[Path]:
    """Where all users may write, so that nothing but the confinement keeps one out."""
    with tempfile.TemporaryDirectory(prefix="assay-outside-", dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o777)
        (folder / "secret.csv").write_text(f"{SECRET}\n")
        (folder / "secret.csv").chmod(0o644)
        yield folder


def committed(record: Path) -> int:
    """Transactions of the last experiment that were answered without an error."""
    with Store(record, must_exist=True) as store:
        runs = store.latest().runs
    return sum(run.driven.outcomes.ok for run in runs if run.driven)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda one: f"{one.system}-{one.name}")
def test_a_capsule_reaches_nothing_outside(
    attack: Attack, outside: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = outside / "made"
    places = {"made": made, "secret": outside / "secret.csv"}
    (tmp_path / "attack.sql").write_text(attack.script.format(**places) + "\n")
    settings = [
        word
        for one in attack.settings
        for word in ("--set", f"{attack.system}.{one.format(**places)}")
    ]
    words = ("run", "attack.sql", "--on", attack.system, *settings, *ONCE, *PLAIN)
    own = run_in(tmp_path, *words)
    if not attack.reads:
        assert made.exists(), f"the attack does not work at all: {own.stderr}"
        made.unlink()
    else:
        assert committed(tmp_path / "assay-records.sqlite"), own.stderr
    packed = run_in(tmp_path, "pack", "latest", "-o", "a.assay")
    assert packed.returncode == 0, packed.stderr

    elsewhere = tmp_path_factory.mktemp("elsewhere")
    again = run_in(elsewhere, "rerun", str(tmp_path / "a.assay"), *PLAIN)
    assert not made.exists(), again.stderr
    assert SECRET not in again.stdout + again.stderr
    if attack.settings:
        assert again.returncode == 2 and "--trust" in again.stderr, again.stderr
        return
    assert not committed(elsewhere / "assay-records.sqlite"), again.stdout

    # What was unpacked for it stays a capsule's.
    (file,) = elsewhere.glob("assay-records.capsules/*/experiment/experiment.toml")
    kept = run_in(elsewhere, "run", str(file), "--new", *PLAIN)
    assert not made.exists(), kept.stderr
    assert not committed(elsewhere / "assay-records.sqlite"), kept.stdout


def test_a_file_that_the_user_names_is_used(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """It is the user's own, in a folder that no other user may enter."""
    (tmp_path / "one.sql").write_text("INSERT INTO kept VALUES (1);\n")
    with closing(sqlite3.connect(tmp_path / "own.db")) as opened:
        opened.execute("CREATE TABLE kept (a)")
    url = f"sqlite:///{tmp_path}/own.db"
    words = ("--clients", "1", "--transactions", "2", "--warm-up", "0", *PLAIN)
    assert run_in(tmp_path, "run", "one.sql", "--on", url, *words).returncode == 0
    assert run_in(tmp_path, "pack", "latest", "-o", "a.assay").returncode == 0
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    again = run_in(elsewhere, "rerun", str(tmp_path / "a.assay"), "--on", url, *PLAIN)
    assert committed(elsewhere / "assay-records.sqlite") == 2, again.stderr
    shown = " ".join(run_in(elsewhere, "report", "latest").stdout.split())
    assert "it was run as a capsule: its servers and scripts had no rights" in shown


@pytest.mark.parametrize("name", ["postgresql", "mariadb"])
def test_rights_of_a_user_by_url_are_not_lent(
    name: str, storage: StorageFacts, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    system = registry.system(name)
    (tmp_path / "one.sql").write_text("SELECT 1;\n")
    words = ("--clients", "1", "--transactions", "2", "--warm-up", "0", *PLAIN)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    with provisioned(system, storage, options={"transport": "tcp"}) as deployment:
        url = url_of(system, deployment)
        own = run_in(tmp_path, "run", "one.sql", "--on", url, *words)
        assert own.returncode == 0, own.stderr
        assert run_in(tmp_path, "pack", "latest", "-o", "a.assay").returncode == 0
        file = str(tmp_path / "a.assay")
        again = run_in(elsewhere, "rerun", file, "--on", url, *PLAIN)
        assert "rights by which a capsule's scripts could run programs" in again.stderr
        trusted = run_in(elsewhere, "rerun", file, "--on", url, "--trust", *PLAIN)
        assert trusted.returncode == 0, trusted.stderr


FILES = {
    "script": ('script = ["{secret}"]\nsystems = ["sqlite"]', "is outside the capsule"),
    "script above": (
        'script = ["../../secret.csv"]\nsystems = ["sqlite"]',
        "is outside the capsule",
    ),
    "server": ('script = ["one.sql"]\nsystems = ["postgresql://u@127.0.0.1:9/d"]', "by URL"),
    "storage": (
        'script = ["one.sql"]\nsystems = ["sqlite"]\nstorages = ["here:{folder}"]',
        "directory or device",
    ),
    "setting": (
        'script = ["one.sql"]\nsystems = ["postgresql"]\n'
        '[system.postgresql]\nconfig_file = "{secret}"',
        "a program, a library or a path",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_an_unpacked_capsule_reaches_what_is_in_it_alone(
    name: str, outside: Path, tmp_path: Path
) -> None:
    """Also where it was unpacked by hand, and edited."""
    text, why = FILES[name]
    folder = tmp_path / "un" / "experiment"
    folder.mkdir(parents=True)
    (folder.parent / "manifest.json").write_text('{"format": 1, "assay": "0.1.0", "members": {}}')
    (folder / "one.sql").write_text("SELECT 1;\n")
    (tmp_path / "secret.csv").write_text(f"{SECRET}\n")
    places = {"secret": outside / "secret.csv", "folder": outside}
    (folder / "experiment.toml").write_text(f"{text.format(**places)}\n[drive]\ntransactions = 2\n")
    ended = run_in(tmp_path, "run", "un/experiment/experiment.toml", *PLAIN)
    assert ended.returncode == 2 and why in " ".join(ended.stderr.split()), ended.stderr
    assert SECRET not in ended.stdout + ended.stderr
    assert {one.name for one in outside.iterdir()} == {"secret.csv"}
