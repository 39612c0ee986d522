"""No password in a message, a label, a record or a file, and output files are whole."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import assay
from assay.contracts.server_url import without_password
from assay.errors import ArgumentError, InputError, SystemUnderTestError
from assay.experiment.choices.checked_choices import system_choice
from assay.registry import workload_folder
from assay.text import output_file
from assay.text.secrets import (
    has_password,
    line_with_password,
    without_file_passwords,
    without_secrets,
)
from waiting import HANG_S


@pytest.mark.parametrize(
    "text",
    [
        "unknown 'host=h user=me password=geheim dbname=shop'",
        "host=h passwd = 'ge heim geheim' dbname=shop",
        "found postgresql://me:ge@heim@host/db",
        "found postgresql://me:ge heim@host/db",
        "found 'postgresql://me:ge\theim @geheim@host/db': refused",
        'host=h password="ge heim" dbname=shop',
        "there is no file postgresql:/me:geheim@host/db",
        "postgresql://h/db?options=-c%20my.password%3Dgeheim&sslmode=require",
        "postgresql://h/db?options=-c%20password%3dgeheim",
        "postgresql://h/db?options=-c my.password=geheim",
        "SELECT set_config('my.password', 'ge''heim', false)",
        "my.password = 'geheim''heim'",
        "ERROR at ALTER ROLE r PASSWORD 'ge''heim' VALID UNTIL 'infinity'",
        "ALTER ROLE r PASSWORD 'geheim",  # cut within
        "ALTER ROLE r PASSWORD 'ge'\n  'heim'",
        "CREATE ROLE r ENCRYPTED PASSWORD $x$geheim$x$",
        "CREATE USER u IDENTIFIED BY 'geheim'",
        "CREATE USER u IDENTIFIED WITH mysql_native_password AS PASSWORD('geheim')",
        "SET PASSWORD FOR u@h = PASSWORD('geheim')",
        "SET PASSWORD = 'geheim'",
    ],
)
def test_a_password_is_hidden(text: str) -> None:
    hidden = without_secrets(text)
    assert "heim" not in hidden
    assert "***" in hidden


@pytest.mark.parametrize(
    "word",
    [
        f"{before}{scheme}://{rest}"
        for before in ("", "mine=")
        for scheme in ("postgresql", "mysql", "mongodb", "cassandra", "null")
        for rest in (
            "me:ge heim@h/db", "me:ge\theim@h/db", "me:ge heim geheim @h/db", "me:ge\nheim@h/db",
            "me:ge,he im@h/db", "me:ge heim@h/db[storage=ssd]", "me:ge heim@",
            "h/db?password=ge heim",
        )
    ],
)  # fmt: skip
def test_a_blank_in_a_password_is_refused_without_showing_it(word: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        system_choice(word)
    assert "blank" in refused.value.message or "parameter" in refused.value.message
    assert "heim" not in refused.value.message + str(refused.value.hint)
    assert "heim" not in without_password(word.removeprefix("mine="))


@pytest.mark.parametrize("word", ["postgresql://me:geheim@host/db", "host=h password=geheim"])
def test_a_server_in_place_of_a_workload_is_refused_with_the_place_for_it(word: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        workload_folder(word)
    assert "found a URL or a connection string" in refused.value.message
    assert "after --on" in str(refused.value.hint)
    assert "geheim" not in refused.value.message


WORKLOADS = Path(assay.__file__).parent / "workloads"


@pytest.mark.parametrize(
    "text",
    [
        "\\connect postgresql://me:geheim@db/shop",
        "url = {https://me:s%40geheim@x.org/}",
        "-- of postgresql://h/db?user=me&password=geheim",
        "postgresql://h/db?options=-c%20my.password%3Dgeheim&sslmode=require",
        "SELECT * FROM dblink('host=h user=me password=geheim', 'SELECT 1') AS t(a int);",
        "SELECT dblink_connect('one', 'password=''geheim'' dbname=shop');",
        "-- run with: host=h user=me password=geheim",
        "Server=h;Database=d;User Id=me;Password=geheim;",
        "CREATE USER me\n  WITH LOGIN -- he\n  PASSWORD 'geheim';",
        "create role me with password = 'geheim' and login = true;",
        "ALTER LOGIN me WITH PASSWORD = N'geheim';",
        "CREATE USER 'me'@'%' IDENTIFIED BY 'geheim';",
        "CREATE USER me IDENTIFIED WITH plain BY 'geheim';",
        "CREATE USER me IDENTIFIED BY geheim;",
        "GRANT ALL ON shop.* TO me IDENTIFIED BY 'geheim';",
        "SET PASSWORD FOR 'me'@'h' = PASSWORD('geheim');",
        "\\begin\nSET my.password TO 'geheim';",
        "SELECT set_config('my.password', 'geheim', false);",
        "CREATE USER MAPPING FOR me SERVER s OPTIONS (user 'me', password 'geheim');",
        "DO $$ BEGIN EXECUTE 'ALTER USER me PASSWORD ''geheim'''; END $$;",
        "\\shell PGPASSWORD=geheim psql -c 'SELECT 1'",
        "\\set password 'geheim'",
        '{"createUser": "me", "pwd": "geheim", "roles": []}',
        "CREATE USER me PASSWORD E'geheim';",
        "CREATE USER me PASSWORD U&'geheim';",
        "ALTER ROLE me ENCRYPTED PASSWORD $$geheim$$;",
        "ALTER ROLE me PASSWORD $tag$geheim$tag$;",
        "CREATE USER MAPPING FOR me SERVER s OPTIONS (user 'me', password $$geheim$$);",
        "ALTER USER me IDENTIFIED VIA mysql_native_password USING PASSWORD('geheim');",
        "CHANGE MASTER TO MASTER_HOST='h', MASTER_PASSWORD='geheim', MASTER_PORT=3306;",
        "CHANGE REPLICATION SOURCE TO SOURCE_USER='r', SOURCE_PASSWORD = 'geheim';",
        "START REPLICA USER='r' PASSWORD='geheim';",
        "CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'geheim';",
        "EXEC sp_addlinkedsrvlogin 's', 'false', NULL, 'me', @rmtpassword = N'geheim';",
        "INSERT INTO mysql.user (user, authentication_string) VALUES ('me', PASSWORD('geheim'));",
        "PRAGMA key = 'geheim';",
        "ATTACH 'a.db' AS a (ENCRYPTION_KEY 'geheim');",
        "CREATE SECRET (TYPE s3, KEY_ID 'me', SECRET 'geheim');",
        "SET s3_secret_access_key='geheim';",
        "CREATE DATABASE SCOPED CREDENTIAL c WITH IDENTITY = 'me', SECRET = 'geheim';",
        "SELECT pgp_sym_decrypt(mail, 'geheim') FROM users;",
        "CONNECT scott/geheim@db",
        "CREATE SUBSCRIPTION s CONNECTION 'host=h user=me password=geheim' PUBLICATION p;",
        "CREATE TABLE t (a int) ENGINE=FEDERATED CONNECTION='mysql://me:geheim@h/d/t';",
        'SELECT http_post(\'{"user": "me", "password": "geheim"}\');',
        "{'client_secret': 'geheim'}",
        'SELECT \'{\\"api_key\\": \\"geheim\\"}\';',
        "INSTALL x FROM 'https://x.org/a?token=geheim&b=1';",
        "COPY t FROM 'https://h/c?sv=2024&sig=geheim%3D';",
        "COPY t FROM 'https://h/b?X-Amz-Signature=geheim';",
        "SELECT http_get('https://h', 'Authorization: Bearer geheim');",
        "CREATE SECRET h (TYPE http, EXTRA_HTTP_HEADERS MAP {'Authorization': 'Basic geheim'});",
        "COPY t FROM 's3://b' CREDENTIALS 'aws_secret_access_key=geheim/geheim+geheim';",
        "-- DefaultEndpointsProtocol=https;AccountName=a;AccountKey=geheimgeheimgeheim==",
        "\\setenv PGPASSWORD geheim",
        "-- export MYSQL_PWD=geheim",
        "\\shell psql --password=geheim",
        "\\shell mysql -u me -pgeheim shop",
        "\\shell curl -u me:geheim https://h/",
        "\\shell sqlplus scott/geheim@db",
        "-- jdbc:sqlserver://h;user=me;password=geheim;",
        "postgresql://me:geheim ge heim@db/shop",
    ],
)
def test_a_password_is_found_and_not_shown(text: str) -> None:
    lines = text.split("\n")
    (line,) = (number for number, one in enumerate(lines, 1) if "geheim" in one)
    assert line_with_password(f"SELECT 1;\n\n{text}\n") == line + 2
    shown = without_file_passwords(text)
    assert "heim" not in shown and "***" in shown


@pytest.mark.parametrize(
    "text",
    [
        "AKIA" + "ABCDEFGHIJKLMNOP",
        "ghp_" + "a1" * 18,
        "xoxb-" + "12345678901-abcdef",
        "AIza" + "b" * 35,
        "eyJhbGciOiJI.eyJzdWIiOiIx.abc-def",
        "curl -H 'X: Bearer " + "abc123DEF456" * 2 + "'",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA",
    ],
)
def test_a_token_or_a_key_is_found_in_scripts_and_in_prose(text: str) -> None:
    assert line_with_password(f"SELECT 1;\n-- {text}\n") == 2
    assert "***" in without_file_passwords(text)
    assert has_password(text) or "PRIVATE KEY" in text


@pytest.mark.parametrize(
    "text",
    [
        "SELECT token FROM sessions WHERE token = 'abcdefgh' AND api_key = 'abcd';",
        "UPDATE t SET secret = 'x', key = 'y' WHERE session_token = :token;",
        "CREATE TABLE t (token text DEFAULT 'x', secret text, PRIMARY KEY (token));",
        "SELECT 'https://x.org/?token=:token', 'https://x.org/?key=papers&page=2';",
        "SELECT http_get('https://h', 'Authorization: Bearer :token');",
        "ALTER ROLE me PASSWORD $$:p$$;",
        "-- the bearer of this certificate; keys are connected by tokens",
        "CONNECT BY PRIOR id = parent;",
        "PRAGMA foreign_keys = 'on';",
        "\\shell mysql -u me -P 3306 -pPASSWORD",
        "postgresql://me:PASSWORD@db/shop",
        "url = {http://www.x.org:8080/~me@home}",
        "UPDATE users SET password = :p WHERE mail = 'a@b';",
        "UPDATE users\n  SET password = 'x', user = 'y';",
        "SELECT 1 FROM users WHERE user = 'a:b@c' AND password = 'x';",
        "INSERT INTO users (name, password) VALUES ('me', 'x');",
        "CREATE TABLE users (name TEXT, password TEXT DEFAULT 'x' NOT NULL);",
        "CREATE VIEW logins AS SELECT name FROM users WHERE password = 'x';",
        "SELECT password 'their word' FROM users;",
        "-- the password = that of the user; a USER may change PASSWORD 'x' here",
        "-- CREATE USER me PASSWORD 'x'",
        "CREATE USER me PASSWORD :'p';",
        "CREATE USER me IDENTIFIED BY ':p';",
        "ALTER ROLE me PASSWORD NULL;",
        "SELECT dblink_connect('host=h user=me password=:p');",
        "SELECT format('user=%s password=%L', 'a', 'b');",
        "SELECT 'password=' || :p;",
        "# don't: `psql 'host=h user=me password=…'`, PGPASSWORD=<yours>",
        'help = "rows are identified by their key, words by password"',
        "SELECT current_setting('my.password');",
        '{"insert": "users", "documents": [{"name": "me", "password": "x"}]}',
        "\\set password random(1, 9)",
        "\\shell PGPASSWORD=$WORD psql",
    ],
)
def test_a_column_a_parameter_or_a_remark_is_none(text: str) -> None:
    assert line_with_password(text) is None
    assert without_file_passwords(text) == text


def _in_scripts_of_packages() -> list[Path]:
    """Of those that packages of systems have put on this machine; none where there are none."""
    found = [one for one in Path("/usr/share").glob("*sql*/**/*.sql") if one.is_file()]
    return [one for one in found if line_with_password(one.read_text(errors="replace"))]


@pytest.mark.slow
def test_no_workload_has_one() -> None:
    texts = [*WORKLOADS.rglob("*.sql"), *WORKLOADS.rglob("*.toml")]
    assert len(texts) > 100
    assert not [one for one in texts if line_with_password(one.read_text()) is not None]
    assert not _in_scripts_of_packages()
    for page in WORKLOADS.rglob("*.md"):
        assert not [line for line in page.read_text().splitlines() if has_password(line)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "part",
    [
        "CREATE USER x ", "host=h user=u ", "'", "pwd", "OPTIONS (", "Bearer ", "$$", "EXEC ",
        "mysql ", "curl ", "http://a:b ", "?token=",
    ],
)  # fmt: skip
def test_a_long_text_of_one_kind_is_read_in_time(part: str) -> None:  # fmt: skip
    """Where what is looked for would be sought anew from each place to the end, it takes hours."""
    assert line_with_password(part * 5_000 + " password") is None


def write(file: Path, text: str = "new", *, force: bool = False) -> None:
    with output_file.written_file(file, force=force) as descriptor:
        os.write(descriptor, text.encode())
        assert not file.exists() or file.read_text() != text, "it appears when it is complete"


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


@pytest.fixture(params=["without a name", "hidden"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways of writing a file that appears when it is complete."""
    if request.param == "hidden":
        monkeypatch.setattr(output_file, "_DESCRIPTORS", Path("/nothing/like/this"))


@pytest.mark.usefixtures("kind")
def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write(tmp_path / "x")
    finally:
        os.umask(before)
    assert (tmp_path / "x").read_text() == "new"
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o640
    assert names(tmp_path) == ["x"]


@pytest.mark.usefixtures("kind")
def test_an_error_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")
    for file in (tmp_path / "old", tmp_path / "new"):
        with pytest.raises(ZeroDivisionError), output_file.written_file(file, force=True) as opened:
            os.write(opened, b"half")
            raise ZeroDivisionError
    assert names(tmp_path) == ["old"]
    assert (tmp_path / "old").read_text() == "old"


@pytest.mark.usefixtures("kind")
def test_force_replaces_and_keeps_mode_and_link(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    file.chmod(0o604)
    link.symlink_to("file")
    with pytest.raises(InputError, match="already exists"):
        write(link)
    write(link, force=True)
    assert file.read_text() == "new"
    assert file.stat().st_mode & 0o777 == 0o604
    assert link.is_symlink()
    assert names(tmp_path) == ["file", "link"]


@pytest.mark.usefixtures("kind")
def test_a_file_created_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with (
        pytest.raises(InputError, match="already exists"),
        output_file.written_file(file, force=False),
    ):
        file.write_text("of somebody else")
    assert file.read_text() == "of somebody else"
    assert names(tmp_path) == ["file"]


def test_a_full_disk_is_reported(tmp_path: Path) -> None:
    with (
        pytest.raises(SystemUnderTestError, match="No space left"),
        output_file.written_file(tmp_path / "x", force=False),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with pytest.raises(InputError, match="found a folder"):
        write(tmp_path)
    with pytest.raises(InputError, match="cannot be written: No such file"):
        write(tmp_path / "none" / "x")
    assert names(tmp_path) == []


def test_a_pipe_is_written_to_as_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    with output_file.written_file(pipe, force=False) as descriptor:
        os.write(descriptor, b"text")
    reader.join(HANG_S)
    assert read == [b"text"]
    with output_file.written_file(os.devnull, force=False) as descriptor:
        os.write(descriptor, b"text")


def test_a_program_that_is_killed_leaves_nothing(tmp_path: Path) -> None:
    code = (
        "import os, signal\nfrom assay.text import output_file\n"
        "with output_file.written_file('x', force=False) as descriptor:\n"
        "    os.write(descriptor, b'half')\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False)
    assert done.returncode == -signal.SIGKILL
    if not hasattr(os, "O_TMPFILE") or not _knows_nameless_files(tmp_path):
        pytest.skip("this file system knows no files without names")
    assert names(tmp_path) == []


def _knows_nameless_files(folder: Path) -> bool:
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
    except OSError:
        return False
    return True
