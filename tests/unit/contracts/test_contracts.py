"""Every registered system and storage keeps its contract, and violations are reported together."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from assay import registry, storages, systems
from assay.contracts.capabilities import CAPABILITIES, missing
from assay.contracts.experiment import StorageChoice, SystemChoice
from assay.contracts.members import ContractBroken
from assay.contracts.option_spec import option_values
from assay.contracts.systems.abilities import capabilities_of
from assay.dialects.postgresql import PostgresqlDialect
from assay.dialects.validation import validate as validate_dialect
from assay.errors import ArgumentError
from assay.systems import OptionSpec
from assay.systems.null import NULL
from assay.systems.sqlite import SQLITE


@pytest.mark.parametrize("name", registry.systems())
def test_every_registered_system_keeps_its_contract(name: str) -> None:
    systems.validate(registry.system(name))


@pytest.mark.parametrize("name", registry.storages())
def test_every_registered_storage_keeps_its_contract(name: str) -> None:
    storages.validate(registry.storage(name))


def null_but(**members: Any) -> object:
    """The null system with other members; None takes one away."""
    kept = {name: getattr(NULL, name) for name in dir(NULL) if not name.startswith("_")}
    return SimpleNamespace(
        **{name: one for name, one in {**kept, **members}.items() if one is not None}
    )


def refuses_all(choice: object) -> None:
    raise ValueError(choice)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"provision": None}, "provision is missing"),
        ({"driver": "telepathy"}, "driver: the engine has none called 'telepathy'"),
        ({"name": "Null System"}, "name: expected lower-case letters"),
        ({"check": lambda: None}, "check: expected check(choice:"),
        ({"check": refuses_all}, "check() refuses the system without any option"),
        ({"capabilities": NULL.capabilities | {"magic"}}, "capabilities: 'magic' is none"),
        (
            {"capabilities": NULL.capabilities | {"restart"}},
            "it says that it has 'restart', and settings_of_the_data() shows not",
        ),
        ({"option_specs": (OptionSpec("a", "z", ("x", "y"), ""),)}, "a has no help"),
        ({"option_specs": (OptionSpec("a", "z", ("x", "y"), ""),)}, "the default 'z', which is no"),
        (
            {"capabilities_with": lambda _choice: frozenset({"sql", "restart"})},
            "capabilities_with() gives 'restart', which is not in capabilities",
        ),
        ({"attach": None}, "attach is missing, as ReachedByUrl has it"),
        ({"check_url": lambda text: int(text)}, "raises ValueError, not ArgumentError"),
        ({"url_schemes": ("NULL",)}, "url_schemes: expected lower-case letters"),
        ({"counters": lambda: {}}, "counters: expected counters(deployment:"),
        ({"profiles": lambda _system: {}}, "profiles: expected profiles() -> "),
        (
            {"table_files_bytes": lambda: 0},
            "table_files_bytes: expected table_files_bytes(deployment:",
        ),
    ],
)
def test_violations_of_the_contract_of_a_system_are_reported(
    members: dict[str, Any], message: str
) -> None:
    with pytest.raises(ContractBroken) as broken:
        systems.validate(null_but(**members))
    assert any(message in one for one in broken.value.violations), broken.value


def test_half_an_ability_of_a_dialect_breaks_its_contract() -> None:
    class Half(PostgresqlDialect):
        name = "half"

        def lock_table(self) -> list[str]:
            return []

    with pytest.raises(ContractBroken) as broken:
        validate_dialect(Half())
    (violation,) = broken.value.violations
    assert violation.startswith("lock_table: expected lock_table(table:"), violation
    assert violation.endswith("as LocksTables has it"), violation


def test_a_broken_member_hides_no_other_violation() -> None:
    system = null_but(capabilities=NULL.capabilities | {"magic"}, provision=lambda _choice: None)
    system.dialect = None  # type: ignore[attr-defined]
    with pytest.raises(ContractBroken) as broken:
        systems.validate(system)
    found = "\n".join(broken.value.violations)
    assert "provision: expected provision(choice:" in found
    assert "dialect: expected a Dialect, found NoneType: add_foreign_keys is missing" in found
    assert "capabilities: 'magic' is none" in found


def test_a_password_in_a_message_about_a_url_breaks_the_contract() -> None:
    def shows_the_password(text: str) -> None:
        raise ArgumentError(f"{text} cannot be right")

    with pytest.raises(ContractBroken, match="shows the password"):
        systems.validate(null_but(check_url=shows_the_password))


def test_all_violations_are_reported_together() -> None:
    with pytest.raises(ContractBroken) as broken:
        systems.validate(null_but(name="A b", driver="telepathy", option_specs=()))
    assert len(broken.value.violations) == 2
    assert str(broken.value).count("\n- ") == 2


def values_of(choice: StorageChoice) -> None:
    option_values((), choice.options, "x")


@pytest.mark.parametrize(
    ("storage", "message"),
    [
        (SimpleNamespace(name="x", check=lambda _choice: None), "prepare is missing"),
        (
            SimpleNamespace(
                name="x",
                option_specs=(),
                check=lambda _choice: None,
                prepare=lambda _choice: None,
            ),
            "accepts an unknown option",
        ),
        (
            SimpleNamespace(
                name="x",
                option_specs=(OptionSpec("size", "2G", ("1G",), "How large."),),
                check=values_of,
                prepare=lambda _choice: None,
            ),
            "size has the default '2G', which is not among its values",
        ),
        (
            SimpleNamespace(
                name="x",
                option_specs=(),
                check=values_of,
                prepare=lambda _choice: None,
                cut_power=lambda _prepared: None,
            ),
            "restore_power is missing, as PowerCut has it",
        ),
    ],
)
def test_violations_of_the_contract_of_a_storage_are_reported(
    storage: object, message: str
) -> None:
    with pytest.raises(ContractBroken, match=message):
        storages.validate(storage)


def test_a_test_that_needs_a_missing_capability_is_refused_with_the_reason() -> None:
    assert missing(["sql", "restart"], "sqlite", SQLITE.capabilities) is None
    assert missing(["sql", "restart", "foreign keys"], "null", NULL.capabilities) == (
        "null does not support restart (a private server can be stopped and started again on its "
        "data), foreign keys (a table can refer to rows of another)"
    )
    with pytest.raises(ArgumentError, match="unknown capability 'tansactions'") as unknown:
        missing(["tansactions"], "null", NULL.capabilities)
    assert all(name in str(unknown.value.hint) for name in CAPABILITIES)


def test_an_option_can_remove_capabilities() -> None:
    mariadb = registry.system("mariadb")
    assert "transactions" in capabilities_of(mariadb, SystemChoice("mariadb"))
    without = SystemChoice("mariadb", options={"engine": "MyISAM"})
    assert "transactions" not in capabilities_of(mariadb, without)
    assert "bulk load" in capabilities_of(mariadb, without)
