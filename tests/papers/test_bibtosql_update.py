"""`bibtosql --update` on real databases: as a fresh load, all or nothing, one at a time.

Long because each promise is tried on several systems with the same databases and files.
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import quote

import pytest
from msgspec import structs

import forked_programs
from able import one_of_each_line, with_ability
from assay import _engine, registry
from assay.cli.bibsql import applying, bibtosql
from assay.cli.bibsql.updating import update_lock
from assay.contracts.deployment import Deployment
from assay.contracts.dialects import LocksTables
from assay.contracts.systems.abilities import OwnClient
from assay.errors import ArgumentError, AssayError
from assay.experiment import StorageChoice, SystemChoice
from assay.load.tables import drop, table_digest
from assay.provision.engine.engine_calls import session
from assay.provision.running_system import provision
from assay.workload import reader
from commands import need
from forked_programs import BIN

TABLES = reader.read("bibsql").tables
SYSTEMS = with_ability(OwnClient, "sql")
Digests = dict[str, tuple[int, str]]


@dataclass(frozen=True)
class Database:
    deployment: Deployment
    folder: Path
    """Where commands run, and locks are."""

    @property
    def url(self) -> str:
        """What `--apply` takes."""
        address = self.deployment.address
        if address.file:
            return address.file
        assert address.unix is not None
        user = "root" if address.driver == "mysql" else address.user
        place = f"{self.deployment.system}://{user}@/{address.database}"
        if address.driver == "mysql":
            return f"{place}?socket={quote(address.unix)}"
        folder, _, port = address.unix.rpartition("/.s.PGSQL.")
        return f"{place}?host={quote(folder)}&port={port}"

    @property
    def stamp(self) -> Path:
        return self.folder / "last-update"

    def bibtosql(self, *words: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
        return forked_programs.run(
            "bibtosql", words, folder=self.folder, environment=self._environment(**more)
        )

    def started(self, *words: str | Path) -> forked_programs.Started:
        return forked_programs.start(
            "bibtosql", words, folder=self.folder, environment=self._environment()
        )

    def digests(self) -> Digests:
        dialect = registry.system(self.deployment.system).dialect
        return {one.name: table_digest(self.deployment, dialect, one) for one in TABLES}

    def fresh(self, files: Path) -> Digests:
        """What a new load of the files holds; the tables are replaced by it."""
        drop(self.deployment, registry.system(self.deployment.system).dialect, TABLES)
        done = self.bibtosql("--create", "--quiet", "--apply", self.url, files)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        return self.digests()

    def run_script(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """``bibtosql … | client``."""
        system, address = registry.system(self.deployment.system), self.deployment.address
        command, environment = system.client_command(address)
        named = ["--database", address.database] if address.database else []
        script = self.bibtosql("--server", system.name, *named, *words)
        assert script.returncode == 0, script.stderr
        return subprocess.run(
            command, input=script.stdout, capture_output=True, text=True, timeout=200,
            env={**os.environ, **environment},
        )  # fmt: skip

    def _environment(self, **more: str) -> dict[str, str]:
        return {**os.environ, "XDG_STATE_HOME": str(self.folder / "state"), **more}


Databases = Callable[[str], Database]


@pytest.fixture(scope="module")
def deployments() -> Iterator[Callable[[str], Deployment]]:
    """A server of each system, which the tests share: each of them loads its own tables."""
    with ExitStack() as stack:

        @cache
        def deployment(name: str) -> Deployment:
            need(name)
            storage = StorageChoice("tmpfs", "tmpfs")
            return stack.enter_context(provision(SystemChoice(name), storage, connections=6))

        yield deployment


@pytest.fixture
def database(deployments: Callable[[str], Deployment], tmp_path: Path) -> Databases:
    return lambda name: Database(deployments(name), tmp_path)


@pytest.fixture
def files(beebe: Path, tmp_path: Path) -> Path:
    """A collection of three small files, written long ago."""
    folder = tmp_path / "collection"
    folder.mkdir()
    for name in ("serif.bib", "type.bib", "texnique.bib"):
        shutil.copy(beebe / name, folder)
        os.utime(folder / name, (1e9, 1e9))
    return folder


def edit(file: Path) -> None:
    """An entry goes, another is new."""
    text = file.read_text(encoding="utf-8")
    at = text.index("\n@", text.index("\n}\n"))
    end = text.index("\n}\n", at) + 3
    file.write_text(text[:at] + text[end:] + '\n@Misc{new, author = "An O\'Ne", title = "New"}\n')


@pytest.mark.parametrize("name", one_of_each_line(SYSTEMS))
def test_an_update_leaves_what_a_fresh_load_holds(
    files: Path, database: Databases, tmp_path: Path, name: str
) -> None:
    base = database(name)
    words = ("--update", "--newer-than", base.stamp, "--apply")
    base.fresh(files)
    first = base.bibtosql(*words, base.url, files)
    assert "3 of 3 files read: 147 rows deleted, 147 inserted" in first.stderr
    began = base.stamp.stat().st_mtime
    edit(files / "serif.bib")
    again = base.bibtosql(*words, base.url, files)
    assert "1 of 3 files read: 67 rows deleted, 67 inserted" in again.stderr
    assert began < base.stamp.stat().st_mtime <= time.time()
    updated = base.digests()
    assert "no file of 3 has changed" in base.bibtosql(*words, base.url, files).stderr
    # By the system's own client, twice: a second run changes nothing.
    edit(files / "type.bib")
    for _ in range(2):
        done = base.run_script("--update", "--newer-than", base.stamp, files)
        assert done.returncode == 0, done.stderr
    by_script = base.digests()
    edited = shutil.copytree(files, tmp_path / "edited")
    # A file that is gone: refused by both ways, and nothing changes; then deleted.
    (files / "texnique.bib").unlink()
    refused = base.bibtosql(*words, base.url, files)
    assert refused.returncode == 2
    assert "holds rows of 1 file not named here: texnique.bib" in refused.stderr
    assert base.run_script("--update", files).returncode != 0
    assert base.digests() == by_script
    gone = base.bibtosql(*words, base.url, "--remove-gone", files)
    assert "1 of 2 files read, 1 file removed: 80 rows deleted, 32 inserted" in gone.stderr
    without = base.digests()
    assert without == base.fresh(files)
    assert by_script == base.fresh(edited)
    assert by_script != updated
    (edited / "texnique.bib").unlink()
    done = base.run_script("--update", "--remove-gone", edited)
    assert done.returncode == 0, done.stderr
    assert base.digests() == without


@pytest.mark.parametrize("name", one_of_each_line(SYSTEMS))
def test_a_failed_or_killed_update_changes_nothing(
    beebe: Path, database: Databases, tmp_path: Path, name: str
) -> None:
    files = shutil.copytree(beebe, tmp_path / "all")
    base = database(name)
    words = ("--update", "--newer-than", base.stamp, "--quiet", "--apply")
    old = base.fresh(files)
    assert old["bibtab"][0] == 9733
    assert base.bibtosql(*words, base.url, files).returncode == 0
    began = base.stamp.stat().st_mtime_ns
    for file in files.glob("*.bib"):
        edit(file)
    (files / "type.bib").write_text("@Book{never, title = {ends\n")
    assert base.bibtosql(*words, base.url, files).returncode == 2
    assert (base.digests(), base.stamp.stat().st_mtime_ns) == (old, began)
    shutil.copy(beebe / "type.bib", files)
    left: list[tuple[bool, Digests]] = []
    for delay_s in (0.0, 0.1, 0.3):
        update = base.started("--update", "--newer-than", base.stamp, "--apply", base.url, files)
        assert update.stderr is not None
        with update:
            while "load 13 files" not in update.stderr.readline():
                assert update.poll() is None
            time.sleep(delay_s)
            update.kill()
        left.append((base.stamp.stat().st_mtime_ns == began, base.digests()))
    # Nothing of the killed ones is in the way.
    assert base.bibtosql(*words, base.url, files).returncode == 0
    new = base.digests()
    assert new == base.fresh(files)
    for is_old_stamp, found in left:
        # Killed between the commit and the base.stamp, it is done a second time.
        assert found == new or (found == old and is_old_stamp)
    assert (True, old) in left, "none of them was in time"


def test_two_updates_run_one_after_the_other(
    files: Path, database: Databases, tmp_path: Path
) -> None:
    words = ("--update", "--apply")
    held = tmp_path / "held"
    code = (
        "import sys, time; from pathlib import Path\n"
        "from assay.cli.bibsql.updating import update_lock\n"
        "with update_lock(sys.argv[1], 0): Path(sys.argv[2]).touch(); time.sleep(600)\n"
    )
    base = database("sqlite")
    fresh = base.fresh(files)
    holder = subprocess.Popen(
        [sys.executable, "-c", code, base.url, held],
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")},
    )
    with holder:
        while not held.exists():
            assert holder.poll() is None
            time.sleep(0.05)
        refused = base.bibtosql(*words, base.url, "--wait", "0.2", files)
        waiting = base.started(*words, base.url, files)
        time.sleep(0.5)
        assert waiting.poll() is None
        holder.kill()
    assert refused.returncode == 1
    assert f"another update of {base.url} is running (process {holder.pid}," in refused.stderr
    waiting.communicate()
    both = [base.started(*words, base.url, files) for _ in range(2)]
    for one in both:
        one.communicate()
    assert [one.returncode for one in (waiting, *both)] == [0, 0, 0]
    assert base.digests() == fresh


@pytest.mark.parametrize(
    ("call", "number"), [("fcntl.flock", errno.ENOLCK), ("os.open", errno.EROFS)]
)
def test_a_state_directory_without_locks_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def fails(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(f"assay.cli.bibsql.updating.{call}", fails)
    with pytest.raises(ArgumentError, match=os.strerror(number)) as raised, update_lock("x", 1):
        pass
    assert "ASSAY_STATE_DIRECTORY" in str(raised.value.hint)


@pytest.mark.parametrize("name", one_of_each_line(SYSTEMS))
def test_an_update_from_elsewhere_is_waited_for_and_no_longer_than_said(
    files: Path, database: Databases, name: str
) -> None:
    """Our lock does not reach it: it is of another user or another machine."""
    base = database(name)
    fresh = base.fresh(files)
    dialect = registry.system(name).dialect
    rows = "INSERT INTO bibtab (bibtype, filename, entry) VALUES ('Misc', 'serif.bib', 'x')"
    with session(base.deployment.address) as opened:
        for statement in (*dialect.begin(), *dialect.delete_all("bibtab"), rows):
            opened.execute(statement)
        waiting = base.started("--update", "--apply", base.url, files)
        assert waiting.stderr is not None
        with waiting:
            while "load 3 files" not in waiting.stderr.readline():
                assert waiting.poll() is None
            time.sleep(1.5)
            assert waiting.poll() is None
            for statement in dialect.commit():
                opened.execute(statement)
    assert waiting.returncode == 0
    assert base.digests() == fresh
    base.bibtosql("--update", "--remove-gone", "--apply", base.url, files / "type.bib")
    before = base.digests()
    lock = (  # also where no row is there that could be locked
        dialect.lock_table("bibtab")
        if isinstance(dialect, LocksTables)
        else dialect.delete_where("bibtab", "filename", ["none"])
    )
    locks = [(*dialect.begin(), *lock)]
    if name == "sqlite":  # as of an update whose changes are more than its cache holds
        locks.append(("BEGIN EXCLUSIVE",))
    for statements in locks:
        with session(base.deployment.address) as opened:
            for statement in statements:
                opened.execute(statement)
            ended = base.bibtosql("--update", "--wait", "1", "--apply", base.url, files)
        assert ended.returncode == 1, ended.stderr
        assert "has locked what is needed, for longer than 1 s" in ended.stderr
        assert base.digests() == before
    assert base.bibtosql("--update", "--apply", base.url, files).returncode == 0


def test_a_file_with_an_old_time_is_found_and_a_stamp_in_the_future_refused(
    files: Path, database: Databases, tmp_path: Path
) -> None:
    base = database("sqlite")
    words = ("--update", "--newer-than", base.stamp, "--apply")
    base.fresh(files)
    base.bibtosql(*words, base.url, files)
    edited = tmp_path / "edited.bib"
    shutil.copy(files / "serif.bib", edited)
    edit(edited)
    os.utime(edited, (1e9, 1e9))
    edited.replace(files / "serif.bib")
    assert "1 of 3 files read" in base.bibtosql(*words, base.url, files).stderr
    os.utime(files / "type.bib", (4e9, 4e9))
    assert "1 of 3 files read" in base.bibtosql(*words, base.url, files).stderr
    assert "no file of 3 has changed" in base.bibtosql(*words, base.url, files).stderr
    edit(files / "type.bib")
    os.utime(base.stamp, (4e9, 4e9))
    for more in (["--apply", base.url], []):
        refused = base.bibtosql("--update", "--newer-than", base.stamp, *more, files)
        assert refused.returncode == 2
        assert "is in the future, 2096-10-02" in refused.stderr
    assert base.stamp.stat().st_mtime == 4e9
    os.utime(base.stamp, (0, 0))
    assert "3 of 3 files read" in base.bibtosql(*words, base.url, files).stderr
    assert base.digests() == base.fresh(files)
    os.mkfifo(files / "a.bib")
    refused = base.bibtosql("--update", files)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "a.bib: expected a file, found a pipe" in refused.stderr


def test_a_file_without_a_good_entry_keeps_its_rows(files: Path, database: Databases) -> None:
    base = database("sqlite")
    words = ("--update", "--keep-going", "--quiet", "--newer-than", base.stamp)
    base.fresh(files)
    assert base.bibtosql(*words, "--apply", base.url, files).returncode == 0
    before, began = base.digests(), base.stamp.stat().st_mtime_ns
    (files / "type.bib").write_text('@Article{a,\n  title = "never ends,\n}\n')
    ended = base.bibtosql(*words, "--apply", base.url, files)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "error: " in ended.stderr
    assert "the rows that are there are kept: " in ended.stderr
    found = (base.digests()["bibtab"], base.stamp.stat().st_mtime_ns)
    assert found == (before["bibtab"], began)
    script = base.bibtosql(*words, files)
    assert script.returncode == 1
    assert "DELETE FROM bibtab" not in script.stdout


@pytest.mark.parametrize("target", [[], ["--apply", "new.db"]])
def test_warnings_are_counted_and_those_of_unchanged_files_are_not_repeated(
    target: list[str], tmp_path: Path
) -> None:
    """A folder stands for its files, also with `--create`."""
    (tmp_path / "all").mkdir()
    for name, entries in (("a.bib", 35), ("b.bib", 1)):
        (tmp_path / "all" / name).write_text(
            "".join(
                f"@Misc{{{name[0]}{n}, title = {name[0]}undefined{n}}}\n" for n in range(entries)
            )
        )

    def warned(*words: str) -> list[str]:
        done = forked_programs.run("bibtosql", [*words, *target, "all"], folder=tmp_path)
        assert done.returncode == 0, done.stderr
        return [line for line in done.stderr.splitlines() if "warning" in line]

    *lines, total = warned("--create")
    assert len(lines) == 20 and "36 warnings; the first 20 are shown: --all-warnings" in total
    time.sleep(0.05)
    (tmp_path / "stamp").touch()
    time.sleep(0.05)
    (tmp_path / "all" / "b.bib").touch()
    *lines, total = warned("--update", "--newer-than", "stamp")
    assert ["b.bib" in line for line in lines] == [True] and total == "0 errors, 1 warning"
    assert len(warned("--update", "--all-warnings")) == 37


@pytest.mark.parametrize("server", ["psql", "mariadb"])
def test_a_script_takes_the_lock_before_it_deletes(files: Path, server: str) -> None:
    lines = forked_programs.run("bibtosql", ["-s", server, "--update", files]).stdout.splitlines()
    begin = lines.index("START TRANSACTION;")
    assert "LOCK" in lines[begin + 1]
    assert not any("DELETE" in line for line in lines[:begin])


def test_tables_that_another_program_made_meanwhile_are_not_dropped(
    files: Path, database: Databases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    base = database("sqlite")
    fresh = base.fresh(files)
    monkeypatch.setattr(applying, "_empty_tables", lambda *_: [])
    with pytest.raises(AssayError, match="already exists"):
        bibtosql.run(["--create", "--quiet", "--apply", base.url, str(files)])
    assert base.digests() == fresh


def test_an_update_whose_server_is_lost_can_be_run_again(files: Path, database: Databases) -> None:
    base = database("postgresql")
    base.fresh(files)
    with session(base.deployment.address) as opened:
        for statement in ("BEGIN", "LOCK TABLE bibtab IN EXCLUSIVE MODE"):
            opened.execute(statement)
        waiting = base.started("--update", "--apply", base.url, files)
        question = (
            "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            " AND pid <> pg_backend_pid()"
        )
        while not (found := opened.execute(question).rows):
            assert waiting.poll() is None
            opened.execute("SELECT pg_stat_clear_snapshot()")
        opened.execute(f"SELECT pg_terminate_backend({found[0][0]})")
        _, said = waiting.communicate()
    assert waiting.returncode == 3
    assert "run this again: all of it is done, or nothing" in said


def test_what_fails_after_the_commit_is_not_said_to_undo_it(
    files: Path, database: Databases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = database("postgresql")
    base.fresh(files)
    edit(files / "serif.bib")
    with session(base.deployment.address) as opened:
        # What another GRANT has to wait for, and no update of rows.
        for statement in ("BEGIN", "GRANT SELECT ON bibtab TO PUBLIC"):
            opened.execute(statement)
        ended = base.bibtosql(
            "--update", "--reader", "late", "--wait", "1", "--apply", base.url, files,
            ASSAY_READER_PASSWORD="secret",
        )  # fmt: skip
    assert ended.returncode == 3, ended.stderr
    assert "the tables are up to date, but late may not read all" in ended.stderr
    assert "bibtosql --reader late --apply" in ended.stderr
    assert "nothing has changed" not in ended.stderr
    assert base.digests() == base.fresh(files)
    need("sqlite")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    dialect = registry.system("sqlite").dialect
    monkeypatch.setattr(type(dialect), "after_load", lambda *_: ["ANALYZE absent"])
    made = tmp_path / "made.db"
    with pytest.raises(AssayError, match="no such table") as raised:
        bibtosql.run(["--create", "--quiet", "--apply", str(made), str(files)])
    assert "the tables are loaded, but without statistics" in raised.value.message
    with closing(sqlite3.connect(made)) as opened:
        assert opened.execute("SELECT count(*) FROM bibtab").fetchone() == (147,)


@pytest.mark.parametrize("name", ["postgresql", "mariadb"])
def test_a_reader_can_read_and_do_nothing_else(files: Path, database: Databases, name: str) -> None:
    password = "it's \\ secret"
    base = database(name)
    words = ("--reader", "guest", "--apply", base.url)
    without = base.bibtosql("--create", *words, files)
    assert without.returncode == 2
    assert "ASSAY_READER_PASSWORD" in without.stderr
    # That is said before anything is loaded.
    drop(base.deployment, registry.system(name).dialect, TABLES)
    assert "has no table" in base.bibtosql("--update", "--apply", base.url, files).stderr
    assert base.fresh(files)
    made = base.bibtosql(*words, ASSAY_READER_PASSWORD=password)
    assert (made.returncode, made.stderr) == (0, "guest, a new user, may read the tables\n")
    assert "guest, who was there and keeps" in base.bibtosql(*words).stderr
    # Letter case matters: this is another user, who is not made without a password.
    other = ("--reader", "Guest", "--apply", base.url)
    assert "needs a password" in base.bibtosql(*other).stderr
    assert base.bibtosql(*other, ASSAY_READER_PASSWORD=password).returncode == 0
    # Who may write is named, and who may not log in is refused.
    admin = base.deployment.address
    if name == "mariadb":
        admin = structs.replace(admin, user="root", password=None)
    account = "'Guest'@'%'" if name == "mariadb" else '"Guest"'
    with session(admin) as opened:
        opened.execute(f"GRANT DELETE ON strtab TO {account}")
        warned = base.bibtosql(*other, ASSAY_READER_PASSWORD=password)
        assert "warning: Guest may change the tables as well" in warned.stderr
        assert "(the one given is not used)" in warned.stderr
        if name == "postgresql":
            opened.execute("CREATE ROLE several")
            refused = base.bibtosql("--reader", "several", "--apply", base.url)
            assert refused.returncode == 2
            assert "may not log in" in refused.stderr
    if name == "mariadb":
        for user in ("guest", "Guest"):
            nothing = structs.replace(base.deployment.address, user=user, password="")
            with pytest.raises(AssayError, match="denied"), session(nothing):
                pass
        root = structs.replace(base.deployment.address, user="root", password=None)
        with session(root) as opened:
            # For local sessions MariaDB prefers this anonymous account to 'barred'@'%'.
            opened.execute("CREATE USER ''@localhost")
            barred = ("--reader", "barred", "--apply", base.url)
            warned = base.bibtosql(*barred, ASSAY_READER_PASSWORD=password)
            assert "barred, a new user, may read the tables\nwarning: barred cannot log in" in (
                warned.stderr
            )
            assert "'barred'@'localhost'" in warned.stderr
            opened.execute("DROP USER ''@localhost")
            [*rights] = registry.system(name).dialect.grant_reading("absent", ["bibtab"])
            opened.execute(rights[0])
            with pytest.raises(_engine.EngineError, match="any matching row"):
                opened.execute(rights[1])
    guest = structs.replace(base.deployment.address, user="guest", password=password)
    with session(guest) as opened:
        for table in TABLES:
            assert opened.execute(f"SELECT count(*) FROM {table.name}").rows != [("0",)]
        for statement in (
            "DELETE FROM bibtab", "INSERT INTO namtab VALUES ('a', 1)", "DROP TABLE strtab",
            "UPDATE namtab SET count = 1", "CREATE TABLE mine (a INT)",
        ):  # fmt: skip
            with pytest.raises(_engine.EngineError, match=r"denied|owner"):
                opened.execute(statement)


def test_a_script_with_a_password_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "reader.sql"
    words = [BIN / "bibtosql", "-s", "psql", "--reader", "guest", "--output", file]
    subprocess.run(words, check=True, env={**os.environ, "ASSAY_READER_PASSWORD": "secret"})
    assert "PASSWORD" in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
