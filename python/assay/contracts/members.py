"""Takes a plugin and a protocol; returns the members that the plugin lacks or declares
differently."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any, Protocol


def protocols_of(module: str) -> tuple[type, ...]:
    """The protocols that the module has defined so far, in its order."""
    defined = [*vars(sys.modules[module]).values()]  # other threads may import meanwhile
    return tuple(
        found
        for found in defined
        if isinstance(found, type) and found.__module__ == module and Protocol in found.__bases__
    )


class ContractBroken(Exception):
    """All violations of a plugin, one per line."""

    def __init__(self, what: str, violations: list[str]) -> None:
        super().__init__(
            "\n".join([f"{what} breaks its contract:", *(f"- {v}" for v in violations)])
        )
        self.violations = violations


def members_broken(plugin: Any, contract: type) -> dict[str, str]:
    """The members of a protocol that a plugin lacks, or has with another signature: name →
    violation."""
    broken: dict[str, str] = {}
    for name in sorted(_members(contract)):
        declared = getattr(contract, name, None)
        try:
            found = getattr(plugin, name)
        except AttributeError:
            broken[name] = f"{name} is missing"
        except Exception as error:
            broken[name] = f"{name} cannot be read: {error!r}"
        else:
            if inspect.isfunction(declared):
                other = _other_signature(name, declared, found)
                broken.update({name: other} if other else {})
    return broken


def half_an_ability(plugin: Any, ability: type) -> Iterator[str]:
    """An ability is implemented completely or not at all."""
    broken = members_broken(plugin, ability)
    missing = {name for name in _members(ability) if broken.get(name) == f"{name} is missing"}
    if missing != _members(ability):
        for violation in broken.values():
            yield f"{violation}, as {ability.__name__} has it"


def _members(contract: type) -> set[str]:
    members = [*vars(contract).items()]  # a class may get members while other threads look at it
    functions = {name for name, member in members if inspect.isfunction(member)}
    names = functions | set(inspect.get_annotations(contract))
    return {name for name in names if not name.startswith("_")}


def _other_signature(name: str, declared: Callable[..., Any], value: Any) -> str:
    """How the signature found differs from the declared one; empty: calls as declared work."""
    if not callable(value):
        return f"{name}: expected a method, found {type(value).__name__}"
    expected = inspect.signature(declared)
    without_self = list(expected.parameters.values())[1:]
    positional = [
        None for parameter in without_self if parameter.kind is not parameter.KEYWORD_ONLY
    ]
    keywords = {
        parameter.name: None
        for parameter in without_self
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    try:
        inspect.signature(value).bind(*positional, **keywords)
    except (TypeError, ValueError) as error:
        return f"{name}: expected {name}{expected.replace(parameters=without_self)}: {error}"
    return ""
