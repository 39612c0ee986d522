"""Options of bibtosql and bibsql are read as in the original programs."""

from __future__ import annotations

import pytest

from assay.cli.bibsql.options import Option, help_text, parse
from assay.errors import ArgumentError

OPTIONS = (
    Option("author", ""),
    Option("create", ""),
    Option("database", "", "NAME"),
    Option("server", "", "NAME"),
    Option("strict", "", is_original=False),
    Option("replicas", "", "N", is_original=False),
    Option("report", "", is_original=False),
)


@pytest.mark.parametrize("spelling", ["-s m", "--s m", "-serv m", "--server m", "--serv=m", "-s=m"])
def test_one_or_two_hyphens_and_any_unique_beginning(spelling: str) -> None:
    parsed = parse([*spelling.split(), "a.bib"], OPTIONS, pass_unknown=False)
    assert (parsed.last("server"), parsed.rest) == ("m", ["a.bib"])


def test_an_option_of_the_original_keeps_its_short_form() -> None:
    parsed = parse(["-s", "m", "--st", "-c", "-"], OPTIONS, pass_unknown=False)
    assert (parsed.last("server"), parsed.given, parsed.rest) == ("m", {"strict", "create"}, ["-"])


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


def test_help_fits_into_80_columns() -> None:
    options = (*OPTIONS, Option("a-long-name", "word " * 60, "A-LONG-VALUE"))
    text = help_text("program [OPTIONS]", "Does something.", options, "  program -s m\n")
    assert max(map(len, text.splitlines())) < 80
    assert "Example:\n  program -s m\n" in text
