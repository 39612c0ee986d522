"""The registry of systems, storages, dialects and workloads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from assay import registry
from assay.contracts.systems.abilities import AlsoCalled
from assay.errors import ArgumentError
from assay.experiment.choices.checked_choices import system_choice


def test_names_are_known_without_importing_their_modules() -> None:
    program = (
        "import sys; from assay import registry; registry.systems(); registry.storages(); "
        "print([m for m in sys.modules if m.startswith(('assay.systems.', 'assay.storages.'))])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"


def test_every_registered_name_is_that_of_its_object() -> None:
    assert registry.systems()
    assert [registry.system(name).name for name in registry.systems()] == list(registry.systems())
    assert [registry.storage(name).name for name in registry.storages()] == list(
        registry.storages()
    )
    for form in registry.report_forms():
        assert callable(registry.report_form(form))


def test_no_url_scheme_means_two_systems() -> None:
    schemes = [one for name in registry.systems() for one in registry.system(name).url_schemes]
    assert len(schemes) == len(set(schemes))


def test_a_system_is_found_by_the_names_that_people_use_for_it() -> None:
    for word, name in (
        ("pg", "postgresql"),
        ("Postgres", "postgresql"),
        ("psql", "postgresql"),
        ("oracle", "dbapi:oracledb"),
        ("mssql", "dbapi:mssql_python"),
        ("psycopg2", "dbapi:psycopg2"),
    ):
        with pytest.raises(ArgumentError, match=f"unknown system '{word}'") as caught:
            system_choice(word)
        assert str(caught.value.hint).startswith(f"did you mean {name!r}? known: cassandra")
    called = [one for name in registry.systems() for one in _also_called(name)]
    assert len(called) == len(set(called)) and not set(called) & set(registry.systems())


def test_a_name_in_other_letters_means_that_system() -> None:
    for name in registry.systems():
        hint = registry.unknown_system(name.upper()).hint
        assert hint is not None and hint.startswith(f"did you mean {name!r}?")


def _also_called(name: str) -> tuple[str, ...]:
    found = registry.system(name)
    return found.also_called if isinstance(found, AlsoCalled) else ()


def test_a_workload_is_a_name_or_a_folder(tmp_path: Path) -> None:
    assert registry.workload_folder("bibsql").name == "bibsql"
    with pytest.raises(ArgumentError, match=r"without workload\.toml"):
        registry.workload_folder(str(tmp_path))
    (tmp_path / "workload.toml").touch()
    assert registry.workload_folder(str(tmp_path)) == tmp_path


def test_a_script_in_place_of_a_workload_is_said_with_the_key_that_names_it(tmp_path: Path) -> None:
    file = tmp_path / "one.sql"
    file.write_text("select 1;\n")
    with pytest.raises(ArgumentError) as raised:
        registry.workload_folder(str(file))
    assert f'script = "{file}"' in raised.value.hint
