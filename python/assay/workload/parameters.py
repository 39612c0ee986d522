"""The parameters of a workload, read from ``[parameters]``, and their values from ``--set``; those
that nothing uses are a mistake."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Struct, field

from assay.contracts import capabilities, factors
from assay.contracts.capabilities import LANGUAGES
from assay.errors import ArgumentError, ExperimentError
from assay.registry import WORKLOAD_FILE, row_source, unknown
from assay.text import pattern, toml_file
from assay.text.keys import SCALAR, TEXT, TEXTS, NumberWithin, OneOf, in_file, named
from assay.text.phrases import did_you_mean
from assay.text.quantities import (
    BYTES_PER_UNIT,
    INTEGER,
    MULTIPLE,
    NUMBER,
    Quantity,
    Real,
    Whole,
    shown,
)
from assay.text.toml_file import TomlTable

if TYPE_CHECKING:
    from assay.workload.values import Workload

Scalar = str | int | float | bool
_TYPES: Mapping[str, type] = {"int": int, "float": float, "text": str, "bool": bool}
_BOOLEANS = {"yes": True, "true": True, "no": False, "false": False}
PARAMETER_TYPES = tuple(_TYPES)


def _needs(section: TomlTable, level: str) -> tuple[str, ...]:
    needs = section.texts(level)
    try:
        capabilities.check_capabilities(needs)
    except ArgumentError as error:
        raise section.error(error.message, level, hint=error.hint) from error
    return needs


def _languages(section: TomlTable, level: str) -> tuple[str, ...]:
    languages = section.texts(level)
    for word in languages:
        if word not in LANGUAGES:
            hint = did_you_mean(word, LANGUAGES)
            raise section.error(f"unknown language {word!r}", level, hint=hint)
    return languages


class Parameter(Struct, frozen=True):
    """A parameter that a user can set: ``--set copies=10``."""

    name: str
    type: Annotated[str, in_file(OneOf(PARAMETER_TYPES), "The type of its values.")]
    default: Annotated[Scalar, in_file(SCALAR, "Its value where none is given.")]
    help: Annotated[str, in_file(TEXT, "What it is, with its unit.")]
    least: Annotated[
        int | float | None, in_file(NumberWithin(NUMBER), "The least number allowed.")
    ] = None
    most: Annotated[
        int | float | None, in_file(NumberWithin(NUMBER), "The largest number allowed.")
    ] = None
    multiple_of: Annotated[
        int,
        in_file(NumberWithin(MULTIPLE), "The number of which a whole number must be a multiple."),
    ] = 1
    bytes_per_unit: Annotated[
        float | None,
        in_file(
            NumberWithin(BYTES_PER_UNIT),
            "How many bytes of data each unit of it makes, as the source counts them: reports then "
            "have the size that a search over it found.",
        ),
    ] = None
    levels: Annotated[tuple[str, ...], in_file(TEXTS, "The values allowed.")] = ()
    """Empty: any."""
    tests: Annotated[tuple[str, ...], in_file(TEXTS, "The tests that have it; otherwise all.")] = ()
    quick: Annotated[Scalar | None, in_file(SCALAR, "Its value in a quick version (--quick).")] = (
        None
    )
    """None: the same as otherwise."""
    needs: Annotated[Mapping[str, tuple[str, ...]], in_file(
        (), "Level → capabilities that a run needs at this level.", below=named(TEXTS, _needs)
    )] = field(default_factory=dict)  # fmt: skip
    languages: Annotated[Mapping[str, tuple[str, ...]], in_file(
        (), "Level → the languages of the systems that have it; otherwise all.",
        below=named(TEXTS, _languages),
    )] = field(default_factory=dict)  # fmt: skip

    def value(self, word: str) -> Scalar:
        """The word as a value of this parameter; raises `ArgumentError` with what is expected."""
        found: Scalar = word
        quantity = self.quantity
        if quantity is not None:
            try:
                found = quantity.of_word(word)
            except ValueError as error:
                raise ArgumentError(f"{self.name}: {error}", hint=self.help) from None
        elif self.type == "bool":
            if word.lower() not in _BOOLEANS:
                raise ArgumentError(
                    f"{self.name}: expected yes or no (true or false), found {shown(word)}",
                    hint=self.help,
                )
            found = _BOOLEANS[word.lower()]
        self.check(found)
        return found

    @property
    def quantity(self) -> Quantity | None:
        """The range of a numeric parameter; None for other types."""
        if self.type == "int":
            least, most = self._range(INTEGER.least, INTEGER.most)
            return Whole(int(least), int(most))
        return Real(*self._range(NUMBER.least, NUMBER.most)) if self.type == "float" else None

    def _range(self, least: float, most: float) -> tuple[float, float]:
        return (
            least if self.least is None else self.least,
            most if self.most is None else self.most,
        )

    def check(self, value: Scalar) -> None:
        """Raises `ArgumentError` for a value of the right type that is out of range."""
        if self.levels and value not in self.levels:
            raise unknown(f"value of {self.name}", str(value), self.levels)
        quantity = self.quantity
        if quantity is not None and not quantity.holds(value):
            raise ArgumentError(f"{self.name}: expected {quantity.expected}, found {shown(value)}")
        if isinstance(value, int) and value % self.multiple_of:
            raise ArgumentError(
                f"{self.name}: expected a multiple of {self.multiple_of:,}, found {shown(value)}",
                hint=self.help,
            )

    def fits(self, value: object) -> bool:
        """Whether a value from a file has this parameter's type."""
        if self.type == "float":
            return isinstance(value, int | float) and not isinstance(value, bool)
        return type(value) is _TYPES[self.type]


def read(section: TomlTable) -> list[Parameter]:
    """Every parameter of ``[parameters]``; raises `ExperimentError` with the line."""
    for name in section.names():
        try:
            refuse_factor(name)
        except ArgumentError as error:
            raise section.error(error.message, name, hint=error.hint) from error
    return [_parameter(name, section.section(name)) for name in section.names()]


def refuse_factor(name: str) -> None:
    """Raises `ArgumentError` where a parameter or variable has the name of another factor."""
    if name in factors.NAMES:
        raise ArgumentError(
            f"a parameter cannot be called {name}: that names another factor of the cells, whose "
            "levels it would hide",
            hint=f"choose another name, such as {name}_given",
        )


def _refuse_of_other_types(section: TomlTable, parameter: Parameter) -> None:
    """Raises `ExperimentError` for a key that parameters of this type do not have."""
    for key, bound in (("least", parameter.least), ("most", parameter.most)):
        if bound is not None and parameter.type != "float" and not float(bound).is_integer():
            raise section.error(f"{key} = {bound}: expected a whole number", key)
    if "multiple_of" in section and parameter.type != "int":
        raise section.error(
            "multiple_of: only of whole numbers", "multiple_of", hint='type = "int"'
        )
    if "bytes_per_unit" in section and parameter.type not in ("int", "float"):
        raise section.error(
            "bytes_per_unit: only of numbers", "bytes_per_unit", hint='type = "int"'
        )


def _parameter(name: str, section: TomlTable) -> Parameter:
    parameter: Parameter = section.thing(Parameter, name=name)
    for key in ("needs", "languages"):
        for level in getattr(parameter, key):
            if level not in parameter.levels:
                known = ", ".join(parameter.levels) or "none"
                raise section.section(key).error(f"{level} is not a level: {known}", level)
    _refuse_of_other_types(section, parameter)
    least, most = parameter.least, parameter.most
    if least is not None and most is not None and least > most:
        raise section.error(f"least = {least} is above most = {most}", "least")
    for key, value in (("default", parameter.default), ("quick", parameter.quick)):
        if value is None:
            continue
        if not parameter.fits(value):
            raise section.error(f"{key} of {name} is not of type {parameter.type}", key)
        try:
            parameter.check(value)
        except ArgumentError as error:
            raise section.error(error.message, key, hint=error.hint) from error
    return parameter


_VARIABLE = pattern(r":\{?([A-Za-z_]\w*)")
_ONLY_SHOW = ("parameters", "report", "series")
"""Tables of the workload file in which a parameter is declared or shown, and not used."""


def unused_parameters(workload: Workload) -> Iterator[ExperimentError]:
    """None where rows come from a source that does not say which parameters it reads, and where
    script files are run in place of those that would use them."""
    read = row_source(workload.data_source).reads_parameters
    if read is None or workload.is_ad_hoc or workload.given_scripts:
        return
    top = toml_file.read(workload.folder / WORKLOAD_FILE)
    used = {*read}
    for name, value in top.plain().items():
        if name not in _ONLY_SHOW:
            used |= _words(value)
    from assay.workload.expected_answers import EXPECTED_FILE

    for path, text in workload.texts.items():
        if path not in (WORKLOAD_FILE, EXPECTED_FILE):
            used |= set(_VARIABLE.findall(text))
    own = top.section("parameters").names()
    for name, parameter in workload.parameters.items():
        if name in own and name not in used and not parameter.needs:
            yield top.section("parameters").error(
                f"nothing uses the parameter {name}",
                name,
                hint=f":{name} in a script or an expression, or leave it out",
            )


def _words(value: Any) -> set[str]:
    """The variables in all texts below, and the texts themselves, as keys name parameters."""
    if isinstance(value, str):
        return {value, *_VARIABLE.findall(value)}
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {word for one in inner for word in _words(one)}
