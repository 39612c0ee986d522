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


def test_prose_has_those_of_urls_and_connection_strings_alone() -> None:
    assert has_password("say `psql postgresql://me:geheim@db/shop`")
    assert has_password("and host=h user=me password=geheim")
    assert not has_password("a connection string (`host=h user=u password=…`)")
    assert not has_password("CREATE USER test PASSWORD 'test' makes it")


def _in_scripts_of_packages() -> list[Path]:
    """Of those that packages of systems have put on this machine; none where there are none."""
    found = [one for one in Path("/usr/share").glob("*sql*/**/*.sql") if one.is_file()]
    return [one for one in found if line_with_password(one.read_text(errors="replace"))]


def test_no_workload_has_one() -> None:
    texts = [*WORKLOADS.rglob("*.sql"), *WORKLOADS.rglob("*.toml")]
    assert len(texts) > 100
    assert not [one for one in texts if line_with_password(one.read_text()) is not None]
    assert not _in_scripts_of_packages()
    for page in WORKLOADS.rglob("*.md"):
        assert not [line for line in page.read_text().splitlines() if has_password(line)]


@pytest.mark.parametrize(
    "part",
    [
        "CREATE USER x ",
        "host=h user=u ",
        "'",
        "pwd",
        "OPTIONS (",
        "Bearer ",
        "$$",
        "EXEC ",
        "mysql ",
        "curl ",
        "http://a:b ",
        "?token=",
    ],
)
def test_a_long_text_of_one_kind_is_read_in_time(part: str) -> None:  # fmt: skip
    """Where what is looked for would be sought anew from each place to the end, it takes hours."""
    assert line_with_password(part * 5_000 + " password") is None
