"""Takes a plugin and a protocol; returns the members that the plugin lacks or declares
differently."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any


class ContractBroken(Exception):
    """All violations of a plugin, one per line."""

    def __init__(self, what: str, violations: list[str]) -> None:
        super().__init__(
            "\n".join([f"{what} breaks its contract:", *(f"- {v}" for v in violations)])
        )
        self.violations = violations


def members_missing(plugin: Any, contract: type) -> Iterator[str]:
    """The members of a protocol that a plugin lacks, or has with another signature."""
    for name in sorted(_members(contract)):
        if not hasattr(plugin, name):
            yield f"{name} is missing"
            continue
        declared = getattr(contract, name, None)
        if inspect.isfunction(declared):
            yield from _other_signature(name, declared, getattr(plugin, name))


def half_an_ability(plugin: Any, ability: type) -> Iterator[str]:
    """An ability is implemented completely or not at all."""
    names = _members(ability)
    if any(hasattr(plugin, name) for name in names):
        for violation in members_missing(plugin, ability):
            yield f"{violation}, as {ability.__name__} has it"


def _members(contract: type) -> set[str]:
    functions = {name for name, member in vars(contract).items() if inspect.isfunction(member)}
    names = functions | set(inspect.get_annotations(contract))
    return {name for name in names if not name.startswith("_")}


def _other_signature(name: str, declared: Callable[..., Any], found: Any) -> Iterator[str]:
    if not callable(found):
        yield f"{name}: expected a method, found {type(found).__name__}"
        return
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
        inspect.signature(found).bind(*positional, **keywords)
    except TypeError as error:
        yield f"{name}: expected {name}{expected.replace(parameters=without_self)}: {error}"
