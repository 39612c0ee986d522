"""bibtosql and bibsql as users run them: whole programs, real clients."""

from __future__ import annotations

import os
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import IO

import pytest

import forked_programs
from assay.cli.bibsql.options import Option, parse
from assay.errors import ArgumentError
from assay.systems.mariadb import system as mariadb
from assay.systems.postgresql.installation import PSQL
from assay.systems.sqlite.system import SHELL
from forked_programs import BIN
from programs import need_program

needs_sqlite3 = pytest.mark.skipif(not SHELL.find_in_path(), reason=f"no client: {SHELL.hint}")
BIB = """\
@String{j-TUGboat = "{\\TUB{}}"}

@Article{Beebe:2009:BMR,
  author =       "Nelson H. F. Beebe and D. E. Knuth",
  title =        "It's {{\\BibTeX}}'); drop table bibtab; --",
  journal =      j-TUGboat,
  pages =        "252--271",
  year =         "2009",
  bibdate =      "Fri Oct 23 16:59:25 2009",
}
"""


def program(
    name: str,
    *arguments: str,
    stdin: str | IO[str] = "",
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs the installed program; ``stdin`` is a text, or a file."""
    if isinstance(stdin, str):
        return forked_programs.run(name, arguments, folder=cwd, environment=env, stdin=stdin)
    command = [BIN / name, *arguments]
    return subprocess.run(
        command, stdin=stdin, cwd=cwd, capture_output=True, text=True, check=False
    )


@pytest.fixture
def bib(tmp_path: Path) -> Path:
    file = tmp_path / "some.bib"
    file.write_text(BIB)
    return file


@pytest.mark.parametrize("word", ["--remove-gnoe", "--removegone", "--forse", "--crate"])
def test_an_option_that_deletes_is_never_suggested(word: str) -> None:
    ended = program("bibtosql", word)
    assert ended.returncode == 2
    assert "unknown option" in ended.stderr
    assert not any(name in ended.stderr for name in ("remove-gone", "force", "create"))


@pytest.mark.parametrize("name", ["bibtosql", "bibsql"])
@pytest.mark.parametrize(
    ("word", "says"), [("-h", "Usage: "), ("--vers", "of Assay"), ("-a", "Beebe")]
)
def test_help_and_version_are_printed(name: str, word: str, says: str) -> None:
    ended = program(name, word)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert says in ended.stdout
    assert max(map(len, ended.stdout.splitlines())) <= 80


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a loaded database, another one, an empty one and a file."""
    folder = tmp_path_factory.mktemp("loaded")
    (folder / "a.bib").write_text("@Misc{a, title = {A}}\n")
    (folder / "empty.db").touch()
    with closing(sqlite3.connect(folder / "other.db")) as other:
        other.execute("CREATE TABLE bibtab (x)")
    load = ["--quiet", "--create", "--apply", "full.db", "a.bib"]
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    done = program("bibtosql", *load, cwd=folder, env=environment)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("-s oracle", "unknown server 'oracle'"),
        ("--sever m", "unknown option --sever"),
        ("none.bib", "none.bib: "),
        ("--encoding ascii", "unknown encoding 'ascii'"),
        ("--replicas 0", "--replicas: expected a whole number from 1"),
        ("-s m -c --option engine=Aria2", "unknown engine of"),
        ("-s m --option engine=Aria", "--option needs --create"),
        ("--seed 2", "--seed needs --replicas"),
        ("--force", "--force needs --output"),
        ("--output /no/such/folder/x.sql", "/no/such/folder/x.sql: cannot be written"),
        ("--newer-than x a.bib", "--newer-than needs --update"),
        ("--update --create a.bib", "expected one of them, found both"),
        ("--update", "--update needs the names of files"),
        ("--update --newer-than 2026-02-31 a.bib", "expected a date"),
        ("--update --newer-than no-such a.bib", "there is no such file"),
        ("--update --newer-than a.bib a.bib", "a stamp of its own"),
        ("--update --newer-than 20261123 a.bib", "a date and time"),
        ("--update --newer-than yesterday --apply full.db a.bib", "./yesterday is"),
        ("--update --newer-than 2999-01-01 --apply full.db a.bib", "in the future"),
        ("--wait 5 a.bib", "--wait needs --apply"),
        ("--update --apply x.db --wait soon a.bib", "--wait: expected"),
        ("--apply x.db a.bib", "expected --create or --update"),
        ("--update --apply x.db --output y a.bib", "no script is written"),
        ("--update --apply none.db a.bib", "bibtosql --create --apply none.db FILE"),
        ("--create --apply :memory: a.bib", "expected a file or a URL"),
        ("--create --apply sqlite:rel.db a.bib", "./sqlite:rel.db is a file"),
        ("--update --apply other.db a.bib", "its table bibtab has no column filename"),
        ("--update --apply empty.db a.bib", "has no table bibtab"),
        ("--create --apply full.db a.bib", "has a table bibtab with 1 row"),
        ("--update --apply x.db -s m a.bib", "expected the URL of a"),
        ("--reader guest --apply full.db", "has no users"),
        ("--reader '1; drop' -s p", "expected a name of letters"),
    ],
)
def test_what_cannot_be_done_is_refused(words: str, says: str, loaded: Path) -> None:
    environment = {**os.environ, "XDG_STATE_HOME": str(loaded / "state")}
    before = {file: file.read_bytes() for file in loaded.glob("*.*")}
    ended = program("bibtosql", *shlex.split(words), cwd=loaded, env=environment)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert says in ended.stderr
    assert {file: file.read_bytes() for file in loaded.glob("*.*")} == before


@pytest.mark.parametrize(
    ("name", "word", "proposal"),
    [("bibtosql", "my db", "mydb"), ("bibsql", "my db", "mydb"), ("bibtosql", "x.db", "x"),
     ("bibtosql", "!!!", "bibliography"), ("bibsql", "-x", "x"), ("bibtosql", "b\u00e9b", "bb"),
     ("bibtosql", "n" * 64, "n" * 63), ("bibsql", "a`b", "ab"), ("bibtosql", 'a"; drop', "adrop")],
)  # fmt: skip
def test_a_database_name_is_kept_exactly_or_refused(
    name: str, word: str, proposal: str, bib: Path
) -> None:
    words = ["--create", str(bib)] if name == "bibtosql" else []
    ended = program(name, "-s", "m", f"--database={word}", *words, stdin="select 1;")
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert f"--database {word!r}: expected a name" in ended.stderr
    assert f"hint: --database {proposal}\n" in ended.stderr


def test_a_file_in_place_of_a_database_name_has_a_way_that_works(tmp_path: Path) -> None:
    (tmp_path / "l.db").touch()
    ended = program("bibsql", "--database", "l.db", cwd=tmp_path, stdin="select 1;")
    assert ended.returncode == 2
    assert 'a profile, file = "l.db"; bibtosql: --apply l.db' in ended.stderr


@pytest.mark.parametrize(("server", "quoted"), [("p", '"Bib-1"'), ("m", "`Bib-1`")])
def test_only_a_database_of_exactly_that_name_is_dropped(
    server: str, quoted: str, bib: Path
) -> None:
    script = program("bibtosql", "-s", server, "--database", "Bib-1", "--create", str(bib)).stdout
    assert f"\nDROP DATABASE IF EXISTS {quoted};\n" in script
    assert script.count("DROP DATABASE") == 1


@pytest.mark.parametrize("name", ["bibtosql", "bibsql"])
def test_an_empty_argument_is_not_the_default(name: str, bib: Path) -> None:
    for words in (["-s", ""], ["--database", ""]):
        ended = program(name, *words, stdin=BIB)
        assert (ended.returncode, ended.stdout) == (2, "")
    for words in (["--encoding", ""], ["--replicas", ""], ["--output", ""]):
        assert program("bibtosql", *words, str(bib)).returncode == 2


def test_an_output_file_is_complete_and_replaces_nothing_without_force(
    bib: Path, tmp_path: Path
) -> None:
    script, link, hard = tmp_path / "x.sql", tmp_path / "link.bib", tmp_path / "hard.bib"
    assert program("bibtosql", "--output", str(script), str(bib)).returncode == 0
    first = script.read_text()
    assert first.endswith("COMMIT;\n")
    again = program("bibtosql", "--output", str(script), str(bib))
    assert again.returncode == 2
    assert "already exists" in again.stderr
    assert "--force" in again.stderr
    script.chmod(0o640)
    script.write_text("old")
    bad = tmp_path / "bad.bib"
    bad.write_text(BIB + "@Book{x, y}")
    assert program("bibtosql", "--force", "--output", str(script), str(bad)).returncode == 2
    assert script.read_text() == "old"
    assert program("bibtosql", "--force", "--output", str(script), str(bib)).returncode == 0
    assert script.read_text().splitlines()[-1] == "COMMIT;"
    assert script.stat().st_mode & 0o777 == 0o640
    link.symlink_to(bib)
    hard.hardlink_to(bib)
    for output in (bib, link, hard, tmp_path / "." / "some.bib"):
        ended = program("bibtosql", "--force", "--output", str(output), str(bib))
        assert ended.returncode == 2
        assert "is the input" in ended.stderr
    with bib.open("a") as out, bib.open() as given:
        for words, stdin in (([str(bib)], subprocess.DEVNULL), (["-o", str(bib), "-f"], given)):
            code = "from assay.cli.bibsql.bibtosql import main; main()"
            command = [sys.executable, "-c", code, *words]
            assert subprocess.run(command, stdin=stdin, stdout=out, check=False).returncode == 2
    assert bib.read_text() == BIB
    names = {"some.bib", "x.sql", "bad.bib", "link.bib", "hard.bib"}
    assert {one.name for one in tmp_path.iterdir()} == names


def test_carriage_returns_stay_through_the_client(tmp_path: Path) -> None:
    need_program(SHELL)
    (tmp_path / "dos.bib").write_bytes(b"@Misc{a,\r\n  note = {it's <CR>},\r\n}\r\n")
    script = program("bibtosql", "--create", "dos.bib", cwd=tmp_path).stdout
    subprocess.run(["sqlite3", "-bail", "x.db"], input=script, text=True, cwd=tmp_path, check=True)
    answer = program("bibsql", "--database", "x", "select hex(entry) from bibtab", cwd=tmp_path)
    assert bytes.fromhex(answer.stdout) == b"\n@Misc{a,\r\n  note = {it's <CR>},\r\n}"


@pytest.mark.parametrize("server", ["s", "P", "psql", "My", "sqlite"])
def test_a_script_has_the_order_of_the_original(server: str, bib: Path) -> None:
    ended = program("bibtosql", "--serv", server, "--create", str(bib))
    assert (ended.returncode, ended.stderr) == (0, "")
    text = ended.stdout.upper()
    words = [
        "-- SERVER:", "DROP TABLE IF EXISTS", "CREATE TABLE", "\nBEGIN" if server in "sqlite" else
        "START TRANSACTION", "INSERT INTO BIBTAB (AUTHORCOUNT, EDITORCOUNT,", "INSERT INTO STRTAB",
        "INSERT INTO NAMTAB", "COMMIT;", "INDEX BIBTAB_AUTHOR",
    ]  # fmt: skip
    places = [text.find(word) for word in words]
    assert -1 not in places
    assert places == sorted(places)
    assert "'j-TUGboat'" in ended.stdout


@needs_sqlite3
def test_script_through_a_real_client_and_back(bib: Path, tmp_path: Path) -> None:
    script = program("bibtosql", "-c", stdin=bib.read_text())
    assert "(standard input)" in script.stdout
    loaded = subprocess.run(
        ["sqlite3", "-bail", "bibtex.db"], input=script.stdout, text=True, cwd=tmp_path, check=True
    )
    assert loaded.returncode == 0
    question = "select label, authorcount, pagecount, bibtimestamp, title from bibtab;"
    answer = program("bibsql", "-s", "sqlite", "-separator", "|", stdin=question, cwd=tmp_path)
    assert (answer.returncode, answer.stderr) == (0, "")
    label, authors, pages, timestamp, title = answer.stdout.rstrip("\n").split("|")
    assert (label, authors, pages) == ("Beebe:2009:BMR", "2", "20")
    assert timestamp.startswith("2009.10.23 16:59:25")
    assert title.endswith("'); drop table bibtab; --")
    count = program("bibsql", "select count(*) from namtab", cwd=tmp_path)
    assert count.stdout == "2\n"


def test_a_bad_file_leaves_no_commit(tmp_path: Path, bib: Path) -> None:
    bad = tmp_path / "bad.bib"
    bad.write_text(BIB + '@Book{no-end,\n  title = "x\n')
    for words, given in (
        ((str(bad),), {}),
        (("--create", str(bad)), {}),
        ((), {"stdin": bad.read_text()}),
    ):
        ended = program("bibtosql", *words, **given)
        assert ended.returncode == 2
        assert "never ends" in ended.stderr
        assert ended.stdout == "", "nothing is written before all of the input is known to be good"
    kept = program("bibtosql", "--keep-going", str(bad), str(bib))
    assert kept.returncode == 0
    assert kept.stdout.count("INSERT INTO bibtab") == 2
    assert "1 error, " in kept.stderr
    assert "left out: 1 entry (27 bytes)" in kept.stderr


def test_bibsql_names_what_is_missing(tmp_path: Path) -> None:
    nothing = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path)}
    ended = program("bibsql", "-s", "s", cwd=tmp_path, env=nothing, stdin="select 1;")
    assert ended.returncode in (2, 3)
    assert "there is no database bibtex.db" in ended.stderr or "not on this machine" in ended.stderr
    ended = program("bibsql", "--profile", "ssd", cwd=tmp_path, env=nothing, stdin="")
    assert ended.returncode == 2
    assert "no profile 'ssd'" in ended.stderr
    hint = ended.stderr.partition("hint: ")[2].splitlines()
    assert hint == [
        "a profile says how to reach a server, for example:",
        "    [ssd.sqlite]",
        '    database = "bibtex"',
    ]


@needs_sqlite3
def test_bibsql_does_not_succeed_with_an_empty_answer(tmp_path: Path) -> None:
    subprocess.run(["sqlite3", "bibtex.db", "create table t (x)"], cwd=tmp_path, check=True)
    (tmp_path / "questions.sql").write_text("select 1;\n")
    (tmp_path / "empty.sql").touch()
    named = program("bibsql", "questions.sql", cwd=tmp_path)
    assert named.returncode == 2
    assert "bibsql … < questions.sql" in named.stderr
    for file in (os.devnull, "empty.sql", "a pipe"):
        if file == "a pipe":
            ended = program("bibsql", cwd=tmp_path, stdin="")
        else:
            with (tmp_path / file).open() as stdin:
                ended = program("bibsql", cwd=tmp_path, stdin=stdin)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert "expected SQL on standard input, found none" in ended.stderr
    code = "from assay.cli.bibsql.bibsql import main; main()"
    command = [sys.executable, "-c", code, "select 1"]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path, check=False
        )
    assert ended.returncode == 3
    assert "No space left" in ended.stderr


@pytest.mark.skipif(not mariadb.CLIENT.find_in_path(), reason=f"no client: {mariadb.CLIENT.hint}")
def test_a_server_without_a_port_is_the_client_s_own(tmp_path: Path) -> None:
    env = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path)}
    ended = program("bibsql", "-s", "mysql", "--version-of-nothing", env=env, stdin="select 1;")
    assert "None" not in ended.stderr
    assert "version-of-nothing" in ended.stderr
    env["ASSAY_BIBSQL_PROFILES"] = str(tmp_path / "profiles.toml")
    for server in ("mysql", "postgresql"):
        if {"mysql": mariadb.CLIENT, "postgresql": PSQL}[server].find_in_path() is None:
            continue
        for keys in ('host = "nowhere.invalid"', 'user = "me"', 'socket = "/no/such/socket"'):
            (tmp_path / "profiles.toml").write_text(f"[own.{server}]\n{keys}\n")
            words = ("-s", server, "--profile", "own")
            ended = program("bibsql", *words, env=env, stdin="select 1;")
            assert ended.returncode != 0
            assert ended.stderr
            assert "None" not in ended.stderr


@needs_sqlite3
def test_a_profile_says_where_the_database_is(tmp_path: Path) -> None:
    database = tmp_path / "fast.db"
    subprocess.run(
        ["sqlite3", str(database), "create table t (x); insert into t values (7)"], check=True
    )
    profiles = tmp_path / "profiles.toml"
    profiles.write_text(
        f'[ssd.SQLite]\nfile = "{database}"\nuser = "me"\ndatabase = "mine"\n'
        '[odd.sqlite]\nfiel = "x"\n'
    )
    env = {**os.environ, "ASSAY_BIBSQL_PROFILES": str(profiles)}
    answer = program("bibsql", "-prof=ssd", env=env, stdin="select x from t;")
    assert (answer.stdout, answer.stderr) == ("7\n", "")
    outdone = ("--user", "you", "--database", "yours")
    answer = program("bibsql", "-prof=ssd", *outdone, env=env, stdin="select x from t;")
    assert (answer.stdout, answer.stderr) == ("7\n", "")
    wrong = program("bibsql", "--profile", "odd", env=env, stdin="")
    assert wrong.returncode == 2
    assert "unknown key 'fiel'" in wrong.stderr
    wrong = program("bibsql", "--profile", "sdd", env=env, stdin="")
    assert "did you mean 'ssd'" in wrong.stderr


def test_a_signal_ends_the_wait_for_a_pipe_without_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    code = "from assay.cli.bibsql.bibtosql import main; print('begun', flush=True); main()"
    started = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "pipe")], stdout=subprocess.PIPE
    )
    assert started.stdout is not None
    with started:
        assert started.stdout.readline() == b"begun\n"
        time.sleep(0.5)
        started.terminate()
        assert started.wait() in (-signal.SIGTERM, 128 + signal.SIGTERM)


OPTIONS = (
    Option("author", ""), Option("create", ""), Option("database", "", "NAME"),
    Option("server", "", "NAME"), Option("strict", "", is_original=False),
    Option("replicas", "", "N", is_original=False), Option("report", "", is_original=False),
)  # fmt: skip


@pytest.mark.parametrize("spelling", ["-s m", "--s m", "-serv m", "--server m", "--serv=m", "-s=m"])
def test_one_or_two_hyphens_and_any_unique_beginning(spelling: str) -> None:
    parsed = parse([*spelling.split(), "a.bib"], OPTIONS, pass_unknown=False)
    assert (parsed.last("server"), parsed.rest) == ("m", ["a.bib"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--re"], "may mean --replicas or --report"),
        (["--sever"], "unknown option --sever"),
        (["--server"], "--server needs a value"),
        (["--create=yes"], "--create takes no value"),
        (["-="], "unknown option -="),
    ],
)
def test_a_wrong_option_is_named(words: list[str], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        parse(words, OPTIONS, pass_unknown=False)


def test_client_options_are_passed_on_in_order() -> None:
    words = ["-N", "-e", "select 1", "-d", "bib", "--", "-s", "x"]
    parsed = parse(words, OPTIONS, pass_unknown=True)
    assert parsed.rest == ["-N", "-e", "select 1", "-s", "x"]
    assert (parsed.last("database"), parsed.last("server")) == ("bib", None)


@pytest.mark.parametrize("word", ["-h", "-v", "-a", "-p", "-v=1"])
def test_a_single_letter_beside_others_is_the_client_s(word: str) -> None:
    """``-h HOST`` that printed the help with status 0 would be a job that does nothing."""
    more_options = (Option("help", ""), Option("version", ""), Option("profile", "", "NAME", False))
    options = (*OPTIONS, *more_options)
    for more in (["dbhost"], ["-s", "m"]):
        parsed = parse([word, *more], options, pass_unknown=True)
        assert parsed.given == set()
        assert parsed.rest == [word, *(more if more == ["dbhost"] else [])]
    assert parse(["--help", "-s", "m"], options, pass_unknown=True).given == {"help"}
