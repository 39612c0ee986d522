"""bibtosql and bibsql as a person uses them: whole programs, real clients."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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


def program(name: str, *arguments: str, **given: object) -> subprocess.CompletedProcess[str]:
    """The program as it is installed, without depending on where; it reads nothing by default."""
    if "input" not in given:
        given.setdefault("stdin", subprocess.DEVNULL)
    code = f"from assay.cli.{name} import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **given,  # type: ignore[call-overload]
    )


@pytest.fixture
def bib(tmp_path: Path) -> Path:
    file = tmp_path / "some.bib"
    file.write_text(BIB)
    return file


@pytest.mark.parametrize("name", ["bibtosql", "bibsql"])
@pytest.mark.parametrize(
    ("word", "says"), [("-h", "Usage: "), ("--vers", "of Assay"), ("-a", "Beebe")]
)
def test_they_speak_of_themselves(name: str, word: str, says: str) -> None:
    ended = program(name, word)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert says in ended.stdout
    assert max(map(len, ended.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-s", "oracle"], "unknown server 'oracle'"),
        (["--sever", "m"], "unknown option --sever"),
        (["none.bib"], "none.bib: "),
        (["--encoding", "ascii"], "unknown encoding 'ascii'"),
        (["--replicas", "0"], "--replicas: expected a whole number from 1"),
        (["-s", "m", "-c", "--option", "engine=Aria2"], "unknown engine of"),
        (["-s", "m", "--option", "engine=Aria"], "--option means nothing without --create"),
        (["--seed", "2"], "--seed means nothing without replicas"),
        (["--output", "/no/such/folder/x.sql"], "/no/such/folder/x.sql: cannot be written"),
    ],
)
def test_what_bibtosql_cannot_do_ends_with_2_before_any_sql(words: list[str], message: str) -> None:
    ended = program("bibtosql", *words)
    assert ended.returncode == 2
    assert message in ended.stderr
    assert "INSERT" not in ended.stdout


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


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="the client sqlite3 is not here")
def test_script_through_a_real_client_and_back(bib: Path, tmp_path: Path) -> None:
    script = program("bibtosql", "-c", input=bib.read_text())
    assert "(standard input)" in script.stdout
    loaded = subprocess.run(
        ["sqlite3", "-bail", "bibtex.db"], input=script.stdout, text=True, cwd=tmp_path, check=True
    )
    assert loaded.returncode == 0
    question = "select label, authorcount, pagecount, bibtimestamp, title from bibtab;"
    answer = program("bibsql", "-s", "sqlite", "-separator", "|", input=question, cwd=tmp_path)
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
    ended = program("bibtosql", str(bad))
    assert ended.returncode == 2
    assert f"{bad}:" in ended.stderr
    assert "COMMIT" not in ended.stdout
    assert "ROLLBACK;" in ended.stdout
    assert program("bibtosql", "--create", str(bad)).stdout == ""
    kept = program("bibtosql", "--keep-going", str(bad), str(bib))
    assert kept.returncode == 0
    assert kept.stdout.count("INSERT INTO bibtab") == 2
    assert "1 errors" in kept.stderr


def test_bibsql_says_what_it_lacks(tmp_path: Path) -> None:
    nothing = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path)}
    ended = program("bibsql", "-s", "s", cwd=tmp_path, env=nothing, input="select 1;")
    assert ended.returncode in (2, 3)
    assert "there is no database bibtex.db" in ended.stderr or "not on this machine" in ended.stderr
    ended = program("bibsql", "--profile", "ssd", cwd=tmp_path, env=nothing, input="")
    assert ended.returncode == 2
    assert "no profile 'ssd'" in ended.stderr


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="the client sqlite3 is not here")
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
    answer = program("bibsql", "-prof=ssd", env=env, input="select x from t;")
    assert (answer.stdout, answer.stderr) == ("7\n", "")
    outdone = ("--user", "you", "--database", "yours")
    answer = program("bibsql", "-prof=ssd", *outdone, env=env, input="select x from t;")
    assert (answer.stdout, answer.stderr) == ("7\n", "")
    wrong = program("bibsql", "--profile", "odd", env=env, input="")
    assert wrong.returncode == 2
    assert "unknown key 'fiel'" in wrong.stderr
    wrong = program("bibsql", "--profile", "sdd", env=env, input="")
    assert "did you mean 'ssd'" in wrong.stderr
