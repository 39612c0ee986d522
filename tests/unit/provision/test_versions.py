"""Which programs are used where several versions of a system are on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from assay import registry
from assay.contracts.experiment import VERSION, SystemChoice
from assay.contracts.systems.abilities import FoundPrograms
from assay.contracts.systems.protocol import System
from assay.env_vars import EnvVar
from assay.errors import SystemMissing
from assay.provision.install import versions

VARIABLE = EnvVar("ASSAY_VERSIONED", "Where the programs of the test's system are.")


class Versioned:
    """A system whose programs are folders with a file that says their version."""

    name = "versioned"
    chosen_by = VARIABLE

    def __init__(self, shelf: Path) -> None:
        self._shelf = shelf

    def find(self) -> FoundPrograms:
        return self.find_at(self.places()[0])

    def places(self) -> Sequence[str]:
        return sorted(map(str, self._shelf.iterdir()))

    def find_at(self, place: str) -> FoundPrograms:
        try:
            return FoundPrograms((Path(place) / "version").read_text("utf-8"), place)
        except OSError as error:
            raise SystemMissing(f"{place} has no version") from error


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path / "shelf"
    here.mkdir()
    made: Any = Versioned(here)
    monkeypatch.setattr(registry, "system", lambda _name: made)
    return here


def put(folder: Path, version: str) -> Path:
    folder.mkdir()
    (folder / "version").write_text(version, "utf-8")
    return folder


def asked(version: str) -> SystemChoice:
    return SystemChoice("versioned", options={VERSION: version} if version else {})


def system() -> System:
    return registry.system("versioned")


def test_a_version_is_named_by_its_first_numbers_and_known_by_all_of_them(shelf: Path) -> None:
    put(shelf / "a", "10.11.9-debian")
    newest = put(shelf / "b", "10.11.14-debian")
    put(shelf / "c", "1.0")
    for words in ("10", "10.11", "10.11.14"):
        choice = versions.with_programs(asked(words))
        assert (choice.version, choice.programs) == ("10.11.14", str(newest))
    assert versions.with_programs(asked("1")).version == "1.0", "1 is no beginning of 10"


def test_without_a_version_nothing_is_chosen(shelf: Path) -> None:
    put(shelf / "a", "1.0")
    assert versions.with_programs(asked("")) == asked("")
    assert versions.programs_of(asked("")) == FoundPrograms("1.0", str(shelf / "a"))


def test_what_cannot_be_used_is_no_version(shelf: Path) -> None:
    (shelf / "a").mkdir()
    put(shelf / "b", "2.0")
    assert [found.version for found in versions.here(system())] == ["2.0"]


def test_of_a_version_that_is_here_twice_the_one_that_the_environment_names_is_used(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(shelf / "a", "2.0")
    named = put(tmp_path / "named", "2.0-debian")
    monkeypatch.setenv(VARIABLE.name, str(named))
    assert versions.with_programs(asked("2")).programs == str(named)


def test_a_version_that_is_not_here_is_refused_with_those_that_are(shelf: Path) -> None:
    put(shelf / "a", "15.18")
    put(shelf / "b", "9.6.24")
    with pytest.raises(SystemMissing) as refused:
        versions.with_programs(asked("18"))
    assert refused.value.message == (
        "versioned 18 is not on this machine, which has versioned 15.18, 9.6.24"
    )
    assert refused.value.hint == "name where its programs are in ASSAY_VERSIONED"


@pytest.mark.parametrize(
    ("asked_for", "hint"),
    [
        ("15", "assay install versioned@15; or "),
        ("13.2", "assay install versioned@13.2; or "),
        ("99", "assay install brings versioned 15 or 13; or "),
    ],
)
def test_an_install_is_named_only_of_a_release_that_there_is(
    shelf: Path, monkeypatch: pytest.MonkeyPatch, asked_for: str, hint: str
) -> None:
    for name in ("install", "find_in"):
        monkeypatch.setattr(Versioned, name, Versioned.find_at, raising=False)
    for name in ("installable_version", "install_source", "install_bytes"):
        monkeypatch.setattr(Versioned, name, "", raising=False)
    monkeypatch.setattr(Versioned, "installable_releases", ("15", "13"), raising=False)
    put(shelf / "a", "9.6.24")
    with pytest.raises(SystemMissing) as refused:
        versions.with_programs(asked(asked_for))
    assert refused.value.hint == f"{hint}name where its programs are in ASSAY_VERSIONED"


def test_beside_a_version_the_one_that_is_used_without_it_is_named(shelf: Path) -> None:
    put(shelf / "a", "15.18-debian")
    choice = versions.in_its_version(asked(""))
    assert (choice.version, choice.programs) == ("15.18", str(shelf / "a"))
