"""No password in a message, a label or a record."""

from __future__ import annotations

import pytest

from assay.contracts.server_url import without_password
from assay.errors import ArgumentError
from assay.experiment.choices.checked_choices import system_choice
from assay.registry import workload_folder
from assay.text.secrets import without_secrets


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
    "text", ["see http://x:8080 and me@home", "see http://localhost:8080/a me@b", "a: b@c"]
)
def test_a_port_before_a_blank_is_none(text: str) -> None:
    assert without_secrets(text) == text


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


def test_the_form_of_a_url_in_a_hint_stays() -> None:
    hint = "write it as a URL: scheme://USER:PASSWORD@HOST:PORT/DATABASE"
    assert without_secrets(hint) == hint


def test_a_setting_that_is_a_password_is_hidden_in_the_label() -> None:
    assert system_choice("postgresql[password=geheim]").label == "postgresql password=***"


@pytest.mark.parametrize("word", ["postgresql://me:geheim@host/db", "host=h password=geheim"])
def test_a_server_in_place_of_a_workload_is_refused_with_the_place_for_it(word: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        workload_folder(word)
    assert "found a URL or a connection string" in refused.value.message
    assert "after --on" in str(refused.value.hint)
    assert "geheim" not in refused.value.message
