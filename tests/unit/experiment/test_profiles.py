"""Profiles of settings: data in the folders of systems, which what else is asked for wins over."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import registry
from assay.contracts.systems.abilities import HasProfiles
from assay.errors import ArgumentError
from assay.experiment import SystemChoice
from assay.experiment import from_file as experiment_file
from assay.experiment.choices import profiles
from assay.experiment.from_command_line import Words, experiment
from assay.systems.sqlite import settings as sqlite

EXPERIMENTS = Path(__file__).parents[3] / "experiments"


def choices(*words: str, on: str) -> tuple[SystemChoice, ...]:
    return experiment(Words("ssd.insert", on=(on,), set=words))[0].systems


def test_every_profile_is_read_and_says_what_it_is() -> None:
    found = {
        name: system.profiles()
        for name, system in registry.usable_systems()
        if isinstance(system, HasProfiles)
    }
    with_durable = {name for name, known in found.items() if "durable" in known}
    lacking = {name for name in found if name not in with_durable}
    assert with_durable and not lacking, "each system that has profiles has a durable one"
    for known in found.values():
        for profile in known.values():
            assert profile.title and (profile.settings or profile.options)


def test_what_is_tuned_loses_no_commit_either() -> None:
    tuned = registry.system("sqlite").profiles()["tuned"]  # type: ignore[attr-defined]
    assert not sqlite.durability_lowered_by(tuned.settings)


def test_levels_of_a_profile_are_a_factor_named_by_it_alone() -> None:
    paper, durable = choices("mysql.profile=paper,durable", on="mysql")
    assert (paper.label, durable.label) == ("mysql profile=paper", "mysql profile=durable")
    assert paper.settings["innodb_flush_log_at_trx_commit"] == "0"
    assert durable.settings["innodb_flush_log_at_trx_commit"] == "1"
    assert paper.options == {"buffer": "4GB"}


def test_no_profile_is_a_level_too() -> None:
    none, tuned = choices("sqlite.profile=none,tuned", on="sqlite")
    assert (none.label, tuned.label) == ("sqlite", "sqlite profile=tuned")
    assert none == SystemChoice("sqlite")


def test_a_misspelt_profile_is_not_taken_for_a_setting() -> None:
    for key in ("profil", "Profile"):
        with pytest.raises(ArgumentError, match=f"the setting {key} is not one") as raised:
            choices(f"sqlite.{key}=tuned", on="sqlite")
        assert "did you mean 'profile'?" in str(raised.value.hint)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_setting_wins_over_the_profile(is_first: bool) -> None:
    words = ["mysql.profile=paper", "mysql.innodb_flush_log_at_trx_commit=2"]
    (chosen,) = choices(*(words if is_first else reversed(words)), on="mysql")
    assert chosen.settings["innodb_flush_log_at_trx_commit"] == "2"
    assert chosen.label == "mysql innodb_flush_log_at_trx_commit=2 profile=paper"


def test_a_users_own_value_that_the_profile_has_too_stays_when_the_profile_changes() -> None:
    found = choices("mysql.buffer=4GB", "mysql.profile=paper,tuned,none", on="mysql")
    assert [one.options.get("buffer") for one in found] == ["4GB"] * 3
    assert [one.label.replace("mysql buffer=4GB", "") for one in found] == [
        " profile=paper", " profile=tuned", ""
    ]  # fmt: skip
    (file_choice,) = choices("mysql.profile=paper", "mysql.buffer=4GB", on="mysql")
    assert profiles.applied(file_choice, "none").options == {"buffer": "4GB"}
    assert "buffer" not in file_choice.of_profile


def test_the_systems_own_setting_replaces_the_buffer_of_a_profile() -> None:
    (chosen,) = choices(
        "postgresql.profile=paper", "postgresql.shared_buffers=64MB", on="postgresql"
    )
    assert not chosen.options
    assert chosen.settings["shared_buffers"] == "64MB"


def test_an_experiment_names_printed_settings_that_are_gone() -> None:
    asked, _ = experiment(Words("ssd.insert", on=("mysql",), set=("mysql.profile=paper",)))
    (used,) = asked.profiles
    assert "query_cache_size = 64M" in used.printed


@pytest.mark.parametrize(
    ("on", "word", "complaint"),
    [
        ("mysql", "mysql.profile=papr", "unknown profile of mysql 'papr'"),
        ("null", "null.profile=paper", "null has no profiles of settings"),
        (
            "mysql://me@localhost/db",
            "mysql.profile=paper",
            "a profile is for a server that Assay starts",
        ),
    ],
)
def test_a_profile_that_cannot_be_is_refused(on: str, word: str, complaint: str) -> None:
    with pytest.raises(ArgumentError, match=complaint):
        choices(word, on=on)


def test_what_reproduces_msql_flushes_nothing() -> None:
    systems = experiment_file.read(EXPERIMENTS / "kreymer-1995.toml")[0].systems
    assert all("profile=unflushed" in choice.label for choice in systems)
    sqlite_choice = next(choice for choice in systems if choice.name == "sqlite")
    lowered = sqlite.durability_lowered_by(sqlite_choice.settings)
    assert lowered and profiles.durability(sqlite_choice, lowered) == "D1"
    assert not profiles.durability(sqlite_choice, [*lowered, "another = off"]), "not the profile's"
    assert not profiles.durability(SystemChoice("sqlite"), lowered)
