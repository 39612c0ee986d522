"""What a plugin declares: takes a plugin and a protocol, returns the members that the plugin lacks
or declares differently; takes the options that it declares and those that a person gave,
returns the value of each."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

from msgspec import Struct

from assay.errors import ArgumentError
from assay.text.phrases import did_you_mean, nearest
from assay.text.quantities import Quantity
from assay.text.secrets import without_secrets


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


class OptionSpec(Struct, frozen=True):
    """An option of a system or a storage, declared by its plugin; not a setting of the server
    (``engine``)."""

    name: str
    """As it stands in brackets: ``SYSTEM[NAME=VALUE]``."""
    default: str
    """Its value where it is not given."""
    levels: tuple[str, ...]
    """Allowed values; empty: any."""
    help: str
    """One sentence, for lists and references."""
    quantity: Quantity | None = None
    """The range of a numeric option; None: not numeric."""
    refuse: Callable[[str], None] | None = None
    """Raises `ArgumentError` for an invalid value; None: any value is valid."""
    spelling: Callable[[str], str] | None = None
    """The one way to write a valid value, so that equal ones are equal words; None: as given."""

    def check(self, value: str) -> None:
        """Raises `ArgumentError` for an invalid value. The default is always valid, even if
        empty."""
        if value == self.default:
            return
        if self.quantity is not None:
            try:
                self.quantity.of_word(value)
            except ValueError as error:
                raise ArgumentError(f"{self.name}: {error}", hint=self.help) from None
        if self.refuse is not None:
            self.refuse(value)

    def is_number_of_default(self, value: str) -> bool:
        """Whether a valid number is that of the default (``60.0``, ``60``)."""
        if self.quantity is None or not self.default:
            return False
        try:
            return self.quantity.of_word(value) == self.quantity.of_word(self.default)
        except ValueError:  # a default that is no number, such as ``auto``
            return False

    def level(self, value: str, owner: str) -> str:
        """The value as it is declared, whatever its case; any value where there are no levels.
        Raises `ArgumentError` for a value that is none of the levels."""
        levels = {level.lower(): level for level in self.levels}
        if levels and value.lower() not in levels:
            known = [level for level in levels.values() if level]
            meant = nearest(value, known)
            from assay.text.phrases import alternatives

            raise ArgumentError(
                f"{self.name} of {owner}: expected {alternatives(known)}, "
                f"found {without_secrets(value)}",
                # The message has the list.
                hint=f"did you mean {meant!r}?" if meant else None,
            )
        return levels.get(value.lower(), value)


def spelled(spec: OptionSpec, value: str, owner: str) -> str:
    """The value in its one spelling. Raises `ArgumentError` for an invalid one."""
    level = spec.level(value, owner)
    spec.check(level)
    if spec.is_number_of_default(level):
        return spec.default
    if level == spec.default:
        return level
    if spec.spelling is not None:
        return spec.spelling(level)
    return level if spec.quantity is None else _one_spelling(spec.quantity.of_word(level))


def _one_spelling(number: float) -> str:
    """``1e3`` and ``1000.0`` as ``1000``."""
    return f"{int(number)}" if float(number).is_integer() else f"{number:.15g}"


def option_values(
    specs: Iterable[OptionSpec], given: Mapping[str, str], owner: str
) -> dict[str, str]:
    """The value of every option: the one given, else its default. Raises `ArgumentError` for an
    option that is not declared, and for an invalid value; ``owner`` is named in the message."""
    declared = {spec.name: spec for spec in specs}
    for name in given:
        if name not in declared:
            hint = did_you_mean(name, declared) if declared else "it has none"
            raise ArgumentError(f"{owner} has no option {name!r}", hint=hint)
    values = {name: spec.default for name, spec in declared.items()}
    for name, value in given.items():
        values[name] = declared[name].level(value, owner)
        declared[name].check(values[name])
    return values


def options_broken(specs: Iterable[object]) -> Iterator[str]:
    """What is wrong with the options that a plugin declares, a sentence for each violation."""
    declared = list(specs)
    names = [spec.name for spec in declared if isinstance(spec, OptionSpec)]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"option_specs: {name} is listed twice"
    for spec in declared:
        if not isinstance(spec, OptionSpec):
            yield f"option_specs: expected OptionSpec, found {type(spec).__name__}"
            continue
        if not spec.help.strip():
            yield f"option_specs: {spec.name} has no help"
        if spec.levels and spec.default not in spec.levels:
            yield (
                f"option_specs: {spec.name} has the default {spec.default!r}, which is not among "
                "its values"
            )
