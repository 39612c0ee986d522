"""Versions of every spelling are read, kept as they are, and in the order of their releases."""

from __future__ import annotations

import random

import pytest

from assay.text.versions import (
    is_below,
    is_of,
    is_version,
    version_in,
    version_numbers,
    version_order,
)


@pytest.mark.parametrize(
    ("said", "version", "numbers"),
    [
        ("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", "15.18", "15.18"),
        ("postgres (PostgreSQL) 19devel", "19devel", "19devel"),
        ("postgres (PostgreSQL) 18beta1 (Debian 18~beta1-1)", "18beta1", "18beta1"),
        ("postgres (PostgreSQL) 17rc1", "17rc1", "17rc1"),
        ("mariadbd  Ver 11.8.2-MariaDB-log for Linux", "11.8.2-MariaDB-log", "11.8.2"),
        ("Ver 10.11.14-MariaDB-0+deb12u2 for", "10.11.14-MariaDB-0+deb12u2", "10.11.14"),
        ("mysqld  Ver 8.4.6-0ubuntu0.24.04.1 for", "8.4.6-0ubuntu0.24.04.1", "8.4.6"),
        ("DuckDB v1.5.0-dev123", "1.5.0-dev123", "1.5.0-dev123"),
        ("version: v2.0.0-rc.1+dirty", "2.0.0-rc.1+dirty", "2.0.0-rc.1"),
        ("v1.4.1-12-gabc1234", "1.4.1-12-gabc1234", "1.4.1-12-gabc1234"),
        ("5.1-SNAPSHOT", "5.1-SNAPSHOT", "5.1-SNAPSHOT"),
        ("2.0.0b2", "2.0.0b2", "2.0.0b2"),
        ("1.5.6.post1", "1.5.6.post1", "1.5.6.post1"),
    ],
)
def test_a_version_is_read_as_a_program_says_it(said: str, version: str, numbers: str) -> None:
    assert version_in(said) == version
    assert version_numbers(version) == numbers
    assert version_numbers(f"v{version}") == numbers
    assert is_version(version)
    assert is_version(f"v{version}")


@pytest.mark.parametrize(
    "said", ["", "cannot be run", "error 127", "abc19devel", "version unknown"]
)
def test_what_says_no_version_has_none(said: str) -> None:
    assert version_in(said) is None


@pytest.mark.parametrize("word", ["", "devel", "15secret", "15 18", "v", "latest"])
def test_other_words_are_no_versions(word: str) -> None:
    assert not is_version(word)


@pytest.mark.parametrize(
    "ascending",
    [
        ["9.9", "9.10", "10"],
        ["19devel", "19alpha1", "19beta1", "19beta2", "19beta10", "19rc1", "19", "19.1", "20devel"],
        ["1.4.0", "1.4.1-rc1", "1.4.1", "1.4.1-12-gabc1234", "1.4.2-dev7", "1.4.2"],
        ["2.0.0a1", "2.0.0b1", "2.0.0b2", "2.0.0rc1", "2.0.0", "2.0.1"],
        ["18~beta1", "18", "18-1"],
        ["5.0-SNAPSHOT", "5.0", "5.0.9"],
    ],
)
def test_a_version_before_its_release_comes_before_it(ascending: list[str]) -> None:
    shuffled = random.Random(1).sample(ascending, len(ascending))
    assert sorted(shuffled, key=version_order) == ascending
    assert sorted((f"v{one}" for one in shuffled), key=version_order) == [
        f"v{one}" for one in ascending
    ]


@pytest.mark.parametrize(
    ("version", "beginning", "expected"),
    [
        ("15.18", "15", True),
        ("15.18", "15.18", True),
        ("150.1", "15", False),
        ("19devel", "19", True),
        ("18beta1", "18beta1", True),
        ("18beta10", "18beta1", False),
        ("18beta1", "18rc1", False),
        ("1.4.1-12-gabc1234", "1.4.1", True),
    ],
)
def test_a_version_is_of_its_beginning(version: str, beginning: str, *, expected: bool) -> None:
    assert is_of(version, beginning) is expected


@pytest.mark.parametrize(
    ("version", "least", "expected"),
    [
        ("1.4", "1.5", True),
        ("1.4rc1", "1.5", True),
        ("v1.4.1-12-gabc1234", "1.5", True),
        ("1.5.0-dev12", "1.5", False),
        ("1.5", "1.5", False),
        ("1", "1.5", False),
        ("1.10", "1.5", False),
        ("2devel", "1.5", False),
    ],
)
def test_a_version_before_its_release_can_do_what_the_release_can(
    version: str, least: str, *, expected: bool
) -> None:
    assert is_below(version, least) is expected
