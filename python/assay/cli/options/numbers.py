"""Takes a quantity; returns the click type of an option with such a number."""

from __future__ import annotations

from typing import Any

import click

from assay.text.quantities import Quantity, shown


class NumberType(click.ParamType):  # type: ignore[type-arg]  # older releases take none
    """A number in a declared range; anything else is an error that names the range."""

    name = "number"

    def __init__(self, quantity: Quantity) -> None:
        self.quantity = quantity

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | float:
        if not isinstance(value, str):  # a default
            number: int | float = value
            return number
        if value != value.strip():
            self.fail(f"expected {self.quantity.expected}, found {shown(value)}", param, ctx)
        try:
            return self.quantity.of_word(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
