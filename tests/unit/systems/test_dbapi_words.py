"""How systems through DB-API modules are named, and what exceptions of modules mean."""

from __future__ import annotations

import re
from typing import Any

import pytest

from able import able
from assay import registry
from assay.contracts.systems.validation import validate
from assay.dialects.mysql import MYSQL
from assay.dialects.sqlite import SQLITE
from assay.errors import ArgumentError
from assay.experiment.choices.checked_choices import apply, system_choice
from assay.experiment.choices.written_systems import split_systems
from assay.provision.engine.dbapi import Describer, describer
from assay.record.file.kept_texts import json_text
from assay.systems.dbapi import system as keywords
from assay.systems.dbapi.dialects import DIALECTS
from assay.systems.dbapi.system import DbapiSystem
from assay.workload import reader

PASSWORD = "a secret"


def test_brackets_become_keyword_arguments_of_their_types() -> None:
    choice = system_choice('dbapi:pymysql[host=db.example,port=3307,user=u,ssl=true,x="a,b"]')
    assert choice.name == "dbapi:pymysql"
    assert choice.url is not None
    assert keywords.keywords_of_url(choice.url) == {
        "host": "db.example", "port": 3307, "user": "u", "ssl": True, "x": "a,b",
    }  # fmt: skip
    assert choice.label == "dbapi:pymysql at db.example"
    file = system_choice("dbapi:sqlite3[database=/tmp/a b%?.db]")
    assert keywords.keywords_of_url(file.url or "") == {"database": "/tmp/a b%?.db"}
    assert file.label == "dbapi:sqlite3 at /tmp/a b%?.db"


def test_a_typed_password_is_in_no_text_that_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    from assay.contracts import server_url

    url = server_url.with_password(keywords.url_of_keywords({"user": "u", "host": "h"}), PASSWORD)
    assert keywords.password_of_keywords(url) == PASSWORD
    assert keywords.keywords_of_url(url) == {"user": "u", "host": "h"}
    assert "secret" not in server_url.without_password(url)
    monkeypatch.setenv("ASSAY_DBAPI_PASSWORD", "of the environment")
    assert keywords.password_of_keywords(keywords.url_of_keywords({})) == "of the environment"


@pytest.mark.parametrize(
    "words",
    [
        "password=secret1", "pwd=secret1", 'dsn="host=h;PWD=secret1"', "user_password=secret1",
        "dsn=host=h user=u password=secret1", "dsn=host=h password = secret1",
        "dsn=postgresql://u:secret1@h/d", "dsn=u/secret1@h", "access_token=secret1",
        "api_key=secret1", "auth=u:secret1",
    ],
)  # fmt: skip
def test_a_password_among_the_keywords_is_refused_and_not_repeated(words: str) -> None:
    with pytest.raises(ArgumentError, match="password") as raised:
        system_choice(f"dbapi:pymysql[{words}]")
    assert "secret1" not in str(raised.value) + str(raised.value.hint)
    assert "ASSAY_DBAPI_PASSWORD" in str(raised.value.hint)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("dbapi:", r"'dbapi:': expected the name of a Python module"),
        ('dbapi:a[x="a,b]', "x: double quotes must enclose the whole value"),
        ('dbapi:a["x=a,b"]', "x: double quotes must enclose the whole value"),
        ("dbapi:a b", "name of a Python module"),
        ("dbapi:sqlite3+sqlit", "unknown dialect 'sqlit'"),
        ("dbapi:sqlite3[database=/x", "bracket is not closed"),
    ],
)
def test_a_word_that_cannot_be_a_module_is_refused(word: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        system_choice(word)


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("dbapi:a[x=1,x=2]", "--on 'dbapi:a[x=A],dbapi:a[x=B]' measures each"),
        ("dbapi:a[x=1,2]", "'dbapi:a[KEY=\"a,b\"]'"),
        ("dbapi:a[x=]", "'dbapi:a[x=VALUE]'"),
    ],
)
def test_what_brackets_cannot_hold_is_shown_as_they_can(word: str, hint: str) -> None:
    with pytest.raises(ArgumentError) as raised:
        system_choice(word)
    assert hint in str(raised.value.hint)


def test_an_option_of_a_module_whose_name_has_dots_is_varied() -> None:
    chosen = (system_choice("dbapi:pg8000.dbapi[host=h]"),)
    words = ["dbapi:pg8000.dbapi.client_processes=1,2"]
    varied, _ = apply(words, chosen, reader.read("tpcb"))
    assert [one.options["client_processes"] for one in varied] == ["1", "2"]


@pytest.mark.parametrize(
    "words",
    [
        "wallet=geheim7",
        "options=-c a.b=geheim7",
        "dsn=scott/geheim7",
        "user=scott/geheim7",
        'wallet_location="geheim7&x=1"',
    ],
)
def test_of_a_keyword_that_may_be_a_secret_only_the_name_is_kept(words: str) -> None:
    choice = system_choice(f"dbapi:pymysql[{words},database=d]")
    assert "geheim7" in str(keywords.keywords_of_url(choice.url or "").values())
    system = registry.system(choice.name)
    assert isinstance(system, DbapiSystem)
    address = system._address(choice.url or "")
    assert "geheim7" in address.for_engine().json
    kept = [choice.label, choice.url_without_password, json_text(choice), address.for_record()]
    assert "geheim7" not in str(kept) + repr(address) + repr(address.for_engine())
    assert str(choice.url_without_password).count("***") == 1
    secret = next(iter(keywords.hidden_keywords(choice.url or "").values()))
    describe = describer(address.for_engine().options, None)
    assert describe(ValueError(f"wrong: {secret}"), None)[2] == "wrong: ***"


def test_a_module_without_passwords_is_given_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_DBAPI_PASSWORD", PASSWORD)
    for member, expected in (("sqlite3", None), ("pymysql", PASSWORD)):
        system = registry.system(f"dbapi:{member}")
        assert isinstance(system, DbapiSystem)
        assert system._address("dbapi:///x?database=x").password == expected


def test_a_list_of_systems_is_divided_at_members_of_families() -> None:
    words = ["postgresql://u@h/d", "dbapi:pg8000.dbapi[host=h,port=1]", "sqlite", "dbapi:a+mysql"]
    assert split_systems(",".join(words)) == words


@pytest.mark.parametrize("member", registry.family("dbapi").known_members)
def test_each_known_module_is_a_system(member: str) -> None:
    validate(registry.system(f"dbapi:{member}"))


@pytest.mark.parametrize(
    "name",
    [name for name in able(language="sql") if registry.system(name).dialect.name in DIALECTS],
)
def test_through_a_module_a_system_can_do_no_more_than_by_itself(name: str) -> None:
    itself = registry.system(name)
    through = registry.system(f"dbapi:some.module+{itself.dialect.name}")
    assert not through.capabilities - itself.capabilities


def test_a_module_that_is_not_known_can_name_its_dialect() -> None:
    assert registry.system("dbapi:some.module").dialect.name == "standard"
    named = registry.system("dbapi:some.module+mysql")
    assert (named.name, named.dialect.name) == ("dbapi:some.module+mysql", "mysql")


class Error(Exception):
    """As modules have it: with a code in one place or another."""

    def __init__(self, *args: object, **more: object) -> None:
        super().__init__(*args)
        self.__dict__.update(more)


class Full:
    full_code = "ORA-00060"


class Closed:
    closed = 2


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (Error("dup", pgcode="23505"), ("constraint", "23505", "dup", False)),
        (Error("x", sqlstate="40P01"), ("deadlock", "40P01", "x", False)),
        (Error({"C": "42P01", "M": "no table"}), ("unknown object", "42P01", "no table", False)),
        (Error(1213, "Deadlock found"), ("deadlock", "1213", "Deadlock found", False)),
        (Error(2013, "Lost connection"), ("lost connection", "2013", "Lost connection", True)),
        (Error((1205, b"Lock wait")), ("timeout", "1205", "Lock wait", False)),
        (Error(1045, "denied"), ("permission", "1045", "denied", False)),
        (
            Error("40001", "[40001] (3960)"),
            ("serialization", "40001", "40001: [40001] (3960)", False),
        ),
        (Error("SQL0911N SQLSTATE=40001 SQLCODE=-911"), ("serialization", "SQL0911N", ..., False)),
        (Error(Full()), ("other", "ORA-00060", ..., False)),
        (Error(f"password {PASSWORD} is wrong"), ("other", "", "password *** is wrong", False)),
        (ConnectionResetError(104, "reset"), ("lost connection", "", ..., True)),
        (OverflowError("too large"), ("data", "", "too large", False)),
    ],
)
def test_the_code_of_an_exception_decides_its_class(error: Exception, expected: Any) -> None:
    describe = Describer("builtins", MYSQL.error_classes, {}, [PASSWORD], "pgcode")
    found = describe(error, object())
    assert found == tuple(
        is_ if should is ... else should for is_, should in zip(found, expected, strict=True)
    )


def test_a_closed_connection_is_not_mistaken_for_one_that_never_was() -> None:
    describe = Describer("builtins", MYSQL.error_classes, SQLITE.error_phrases, [])
    assert describe(Error("gone"), Closed())[0] == "lost connection"
    assert describe(Error(1045, "denied"), None)[0] == "authentication"
    assert describe(Error("no route"), None)[0] == "connection refused"
    assert describe(Error("no such table: t"), object())[0] == "unknown object"


_OUTSIDE_THE_STANDARD = re.compile(r"\b(limit|regexp)\b", re.IGNORECASE)


@pytest.mark.parametrize("workload", registry.workloads())
def test_what_a_dialect_cannot_say_is_refused_before_anything_starts(workload: str) -> None:
    found = reader.read(workload)
    for dialect in map(DIALECTS.__getitem__, ("db2", "ingres", "oracle", "sqlserver", "standard")):
        for test in found.tests.values():
            if test.not_expressible.keys() & {dialect.name, dialect.language}:
                continue
            for script in test.scripts:
                if found.is_spoken(script, dialect):
                    text = re.sub(r"--.*", "", found.script_for(script, dialect).text)
                    where = f"{dialect.name}: {test.name}: {script}"
                    assert not _OUTSIDE_THE_STANDARD.search(text), where
