"""A file that is given to others: which passwords are found in it, and what is taken for none."""

from __future__ import annotations

from pathlib import Path

import pytest

import assay
from assay.text.secrets_in_files import has_password, line_with_password, without_file_passwords

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


def test_prose_has_those_of_urls_and_connection_strings_alone() -> None:
    assert has_password("say `psql postgresql://me:geheim@db/shop`")
    assert has_password("and host=h user=me password=geheim")
    assert not has_password("a connection string (`host=h user=u password=…`)")
    assert not has_password("CREATE USER test PASSWORD 'test' makes it")


def test_no_workload_has_one() -> None:
    texts = [*WORKLOADS.rglob("*.sql"), *WORKLOADS.rglob("*.toml")]
    assert len(texts) > 100
    assert not [one for one in texts if line_with_password(one.read_text()) is not None]
    for page in WORKLOADS.rglob("*.md"):
        assert not [line for line in page.read_text().splitlines() if has_password(line)]


@pytest.mark.parametrize("part", ["CREATE USER x ", "host=h user=u ", "'", "pwd", "OPTIONS ("])
def test_a_long_text_of_one_kind_is_read_in_time(part: str) -> None:
    """Where what is looked for would be sought anew from each place to the end, it takes hours."""
    assert line_with_password(part * 5_000 + " password") is None
