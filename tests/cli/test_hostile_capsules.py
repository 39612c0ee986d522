"""A capsule of a stranger harms nothing: what it may not have is refused, and what it runs is
confined."""

from __future__ import annotations

import re
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import packed_members
from assay import registry
from assay.contracts.storage_facts import StorageFacts
from assay.record import Store
from assay.record.capsule import capsule_file
from commands import run_in
from packed_members import RUN, with_file, with_record
from servers import provisioned, url_of

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
SCRIPT = "experiment/scripts/one.sql"


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Of an honest capsule."""
    folder = tmp_path_factory.mktemp("honest")
    (folder / "one.sql").write_text("SELECT 1;\n")
    words = ("run", "one.sql", "--on", "sqlite", "--transactions", "5", *RUN)
    assert run_in(folder, *words).returncode == 0
    assert run_in(folder, "capsule", "pack", "1", "-o", "one.assay").returncode == 0
    with zipfile.ZipFile(folder / "one.assay") as file:
        return {name: file.read(name) for name in file.namelist() if name != capsule_file.MANIFEST}


def packed(members: dict[str, bytes], folder: Path) -> str:
    (folder / "evil.assay").write_bytes(packed_members.packed(members, "1"))
    return "evil.assay"


def insist_on_refusal(folder: Path, words: tuple[str, ...], said: str) -> None:
    done = run_in(folder, *words)
    assert done.returncode == 2, done.stderr + done.stdout
    assert said in done.stderr and "Traceback" not in done.stderr
    assert "root:" not in done.stderr and "/assay-" not in done.stderr
    assert not (folder / "assay-records.sqlite").exists()
    assert not (folder / "reached.db").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"systems": ["sqlite:///reached.db"]}, "systems: expected ['sqlite']"),
        ({"systems": ["postgresql://127.0.0.1:1/shop"]}, "systems: expected ['sqlite']"),
        ({"systems": ["mysql://127.0.0.1:1/shop"]}, "systems: expected ['sqlite']"),
        ({"systems": ["mine=duckdb:///reached.db"]}, "systems: expected ['sqlite']"),
        ({"systems": ["dbapi:sqlite3[database=reached.db]"]}, "systems: expected ['sqlite']"),
        ({"systems": ["sqlite", "duckdb"]}, "systems: expected ['sqlite']"),
        ({"system": {"sqlite": {"synchronous": "off"}}}, "system: expected nothing"),
        ({"storages": ["here:/tmp"]}, "storages: expected ['tmpfs']"),
        ({"log_storage": ["here:/tmp"]}, "log_storage: expected nothing"),
        ({"drive": {"transactions": 6}}, "drive: expected {'transactions': 5}"),
        ({"script": ["/etc/passwd"]}, "script: expected the name of a file in the capsule"),
        ({"script": ["../../one.sql"]}, "script: expected the name of a file in the capsule"),
        ({"feed": "/etc/passwd"}, "feed: expected nothing"),
        ({"input": ["/etc/passwd"]}, "input: expected nothing"),
        ({"workload": "/etc"}, "workload: expected nothing"),
    ],
    ids=str,
)
def test_a_file_that_declares_another_experiment_than_the_record_is_refused(
    members: dict[str, bytes], tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    evil = packed(with_file(members, change), tmp_path)
    insist_on_refusal(tmp_path, ("capsule", "rerun", evil), said)


def test_verify_capsule_says_it_and_the_site_leaves_it_out(
    members: dict[str, bytes], tmp_path: Path
) -> None:
    evil = packed(with_file(members, {"systems": ["sqlite:///reached.db"]}), tmp_path)
    said = f"{evil}:{capsule_file.EXPERIMENT}: systems: expected ['sqlite']"
    insist_on_refusal(tmp_path, ("capsule", "verify", evil), said)
    insist_on_refusal(tmp_path, ("capsule", "site", "."), said)


def test_a_script_of_another_text_than_the_record_is_refused(
    members: dict[str, bytes], tmp_path: Path
) -> None:
    evil = packed({**members, SCRIPT: b"DELETE FROM shop;\n"}, tmp_path)
    insist_on_refusal(
        tmp_path, ("capsule", "verify", evil), "script: expected scripts/one.sql with"
    )


HOSTILE = "\x1b]0;owned\x07\x1b[31mred\x9b2J\r\u202egnp"


def test_control_characters_of_a_manifest_or_a_record_are_not_printed(
    members: dict[str, bytes], tmp_path: Path
) -> None:
    file = tmp_path / "record.sqlite"
    file.write_bytes(members[capsule_file.RECORD])
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE runs SET system_label = ?, storage = ?", (HOSTILE, HOSTILE))
        connection.execute("UPDATE experiments SET title = ?", (HOSTILE,))
        connection.execute("UPDATE steps SET reason = ?", (HOSTILE,))
        connection.commit()
    evil = {**members, capsule_file.RECORD: file.read_bytes()}
    (tmp_path / "evil.assay").write_bytes(packed_members.packed(evil, f"1{HOSTILE}"))
    for words in (
        ("capsule", "verify", "evil.assay"),
        ("report", "record.sqlite:1", "--detail"),
        ("report", "run:1", "--raw", "--records", "record.sqlite"),
        ("merge", "record.sqlite", "--records", "mine.sqlite"),
        ("capsule", "site", "."),
    ):
        done = run_in(tmp_path, *words)
        assert done.returncode == 0, done.stderr
        assert not CONTROL.search(done.stdout + done.stderr), words
    assert not CONTROL.search((tmp_path / "site" / "index.html").read_text())


WORKLOAD = (
    'title = "T"\nsource = "a test"\ndefault_test = "read"\n{}\n[data]\nsource = "none"\n\n'
    '[tests.read]\ntitle = "Read"\nhelp = "Reads"\norder = "sequence"\n'
    'scripts = ["scripts/read.sql"]\n'
)


@pytest.mark.parametrize("key", ['extends = "../../../outside"', 'dialects = ["/etc/passwd"]'])
def test_a_workload_that_reads_another_folder_is_refused(
    members: dict[str, bytes], tmp_path: Path, key: str
) -> None:
    own = {
        "experiment/workloads/w/workload.toml": WORKLOAD.format(key).encode(),
        "experiment/workloads/w/scripts/read.sql": b"SELECT 1;\n",
    }
    asked = {"workload": "workloads/w", "tests": ["read"]}
    evil = {**with_file(members, asked), **own}
    recorded = {"workload": "workloads/w", "tests": ["read"], "is_ad_hoc": False}
    evil = with_record(evil, {**recorded, "workload_content": "0"}, tmp_path)
    insist_on_refusal(
        tmp_path,
        ("capsule", "rerun", packed(evil, tmp_path)),
        f"{key.partition(' ')[0]}: expected what is in the capsule",
    )


@pytest.mark.parametrize(
    ("recorded", "asked", "said"),
    [
        (
            {"systems": [{"name": "sqlite", "url": "sqlite:///reached.db"}]},
            {"systems": ["sqlite:///reached.db"]},
            "name all its systems: --on sqlite:///reached.db",
        ),
        (
            {"systems": [{"name": "mysql", "url": "mysql://me:***@h/shop"}]},
            {"systems": ["mysql://me:***@h/shop"]},
            "name all its systems: --on mysql://me@h/shop",
        ),
        ({"input_paths": ["/data/papers.bib"]}, {}, "rows were read from papers.bib"),
        (
            {"driving": {"transactions": 5, "allow_shell": True}},
            {"drive": {"transactions": 5, "allow_shell": True}},
            "--allow-shell lets them",
        ),
        (
            {"systems": [{"name": "postgresql", "programs": "/opt/x", "build": "1" * 64}]},
            {"systems": ["postgresql:/opt/x"]},
            "the capsule names a directory of programs, /opt/x: Assay starts only programs that",
        ),
        (
            {"storages": [{"name": "here:/tmp", "kind": "here", "directory": "/tmp"}]},
            {"storages": ["here:/tmp"]},
            "the capsule names the directory or device /tmp (storage here:/tmp)",
        ),
        (
            {
                "workload": "elsewhere",
                "workload_content": "",
                "is_ad_hoc": False,
                "tests": ["read"],
                "scripts": [],
            },
            {"workload": "elsewhere", "script": None, "tests": ["read"]},
            "unknown workload 'elsewhere'",
        ),
    ],
    ids=str,
)
def test_what_the_record_declares_too_is_reached_only_where_the_user_names_it(
    members: dict[str, bytes],
    tmp_path: Path,
    recorded: dict[str, Any],
    asked: dict[str, Any],
    said: str,
) -> None:
    """Who packs a capsule may write its record as well."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "workload.toml").write_text(WORKLOAD.format(""))
    (tmp_path / "elsewhere" / "scripts").mkdir()
    (tmp_path / "elsewhere" / "scripts" / "read.sql").write_text("SELECT 1;\n")
    changed = with_record(with_file(members, asked), recorded, tmp_path)
    evil = packed(changed, tmp_path)
    insist_on_refusal(tmp_path, ("capsule", "rerun", evil), said)


def test_a_program_that_its_workload_names_is_not_started_unasked(
    members: dict[str, bytes], tmp_path: Path
) -> None:
    program = 'package = "rowgen==1.2.0"\ncommand = ["rowgen"]\nfiles = "{table}.txt"\n'
    text = WORKLOAD.format("").replace('source = "none"\n', f'source = "program"\n{program}')
    own = {
        "experiment/workloads/w/workload.toml": f"{text}passes = 1\n".encode(),
        "experiment/workloads/w/scripts/read.sql": b"SELECT 1;\n",
    }
    asked = {"workload": "workloads/w", "script": None, "tests": ["read"]}
    recorded = {"workload": "workloads/w", "workload_content": "", "is_ad_hoc": False}
    recorded |= {"tests": ["read"], "scripts": []}
    evil = with_record({**with_file(members, asked), **own}, recorded, tmp_path)
    insist_on_refusal(
        tmp_path, ("capsule", "rerun", packed(evil, tmp_path)), "--allow-shell lets it"
    )


def test_a_storage_that_the_user_names_is_used(members: dict[str, bytes], tmp_path: Path) -> None:
    recorded = {"storages": [{"name": "here:/tmp", "kind": "here", "directory": "/tmp"}]}
    changed = with_record(with_file(members, {"storages": ["here:/tmp"]}), recorded, tmp_path)
    done = run_in(tmp_path, "capsule", "rerun", packed(changed, tmp_path), *RUN)
    assert done.returncode == 0, done.stderr


def test_an_error_names_the_capsule_and_no_temporary_file(
    members: dict[str, bytes], tmp_path: Path
) -> None:
    evil = packed({**members, capsule_file.RECORD: b"no record" * 1000}, tmp_path)
    for command in ("rerun", "verify", "site"):
        done = run_in(tmp_path, "capsule", command, "." if command == "site" else evil)
        assert done.returncode == 2, done.stderr
        assert "evil.assay:assay-records.sqlite" in done.stderr and "/assay-" not in done.stderr


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
    packed = run_in(tmp_path, "capsule", "pack", "latest", "-o", "a.assay")
    assert packed.returncode == 0, packed.stderr

    elsewhere = tmp_path_factory.mktemp("elsewhere")
    again = run_in(elsewhere, "capsule", "rerun", str(tmp_path / "a.assay"), *PLAIN)
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
    assert run_in(tmp_path, "capsule", "pack", "latest", "-o", "a.assay").returncode == 0
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    again = run_in(elsewhere, "capsule", "rerun", str(tmp_path / "a.assay"), "--on", url, *PLAIN)
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
        assert run_in(tmp_path, "capsule", "pack", "latest", "-o", "a.assay").returncode == 0
        file = str(tmp_path / "a.assay")
        again = run_in(elsewhere, "capsule", "rerun", file, "--on", url, *PLAIN)
        assert "rights by which a capsule's scripts could run programs" in again.stderr
        trusted = run_in(elsewhere, "capsule", "rerun", file, "--on", url, "--trust", *PLAIN)
        assert trusted.returncode == 0, trusted.stderr


FILES = {
    "script": ('script = ["{secret}"]\nsystems = ["sqlite"]', "is outside the capsule"),
    "script above": (
        'script = ["../../secret.csv"]\nsystems = ["sqlite"]',
        "is outside the capsule",
    ),
    "server": ('script = ["one.sql"]\nsystems = ["postgresql://u@127.0.0.1:9/d"]', "by URL"),
    "programs": (
        'script = ["one.sql"]\nsystems = ["postgresql:./bin"]',
        "names a directory of programs",
    ),
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
