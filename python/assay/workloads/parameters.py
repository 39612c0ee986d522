"""What a user may set for a workload: read from ``[parameters]`` and from words of ``--set``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from assay.errors import ArgumentError
from assay.registry import unknown
from assay.toml_file import Section

Scalar = str | int | float | bool


@dataclass(frozen=True)
class Parameter:
    """Something a user may set for a workload: ``--set copies=10``."""

    name: str
    type: str
    """``int``, ``float``, ``text`` or ``bool``."""
    default: Scalar
    help: str
    least: int | None = None
    levels: tuple[str, ...] = ()
    """The values allowed; empty: any."""
    tests: tuple[str, ...] = ()
    """Tests that take it; empty: all."""

    def value(self, word: str) -> Scalar:
        """The word as a value of this parameter; raises `ArgumentError` saying what it may be."""
        try:
            found = _READERS[self.type](word)
        except (ValueError, KeyError):
            raise ArgumentError(
                f"{self.name}={word}: expected {_NAMES[self.type]}", hint=self.help
            ) from None
        self.check(found)
        return found

    def check(self, value: Scalar) -> None:
        """Raises `ArgumentError` where a value of the right type is out of range."""
        if self.levels and value not in self.levels:
            raise unknown(f"value of {self.name}", str(value), self.levels)
        if self.least is not None and isinstance(value, int | float) and value < self.least:
            raise ArgumentError(f"{self.name}={value}: must be at least {self.least}")

    def fits(self, value: object) -> bool:
        """Whether a value from a file has this parameter's type."""
        if self.type == "float":
            return isinstance(value, int | float) and not isinstance(value, bool)
        return type(value) is _TYPES[self.type]


_TYPES: Mapping[str, type] = {"int": int, "float": float, "text": str, "bool": bool}
_NAMES = {"int": "a whole number", "float": "a number", "text": "a word", "bool": "true or false"}
_READERS: Mapping[str, Callable[[str], Scalar]] = {
    "int": lambda word: int(word.replace("_", "")),
    "float": float,
    "text": str,
    "bool": lambda word: {"true": True, "false": False}[word.lower()],
}
PARAMETER_TYPES = tuple(_TYPES)


def read(section: Section) -> list[Parameter]:
    """Every parameter of ``[parameters]``; raises `ExperimentError` with the line."""
    return [_parameter(name, section.section(name)) for name in section.names()]


def _parameter(name: str, section: Section) -> Parameter:
    parameter = Parameter(
        name=name,
        type=section.choice("type", PARAMETER_TYPES),
        default=section.scalar("default"),
        help=section.text("help"),
        least=section.whole("least", 0) if "least" in section else None,
        levels=section.texts("levels", ()),
        tests=section.texts("tests", ()),
    )
    if not parameter.fits(parameter.default):
        raise section.error(f"default of {name} is not of type {parameter.type}", "default")
    try:
        parameter.check(parameter.default)
    except ArgumentError as error:
        raise section.error(error.message, "default", hint=error.hint) from error
    section.done()
    return parameter
