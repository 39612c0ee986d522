"""Takes a typed document; gives the JSON text that the engine takes. Takes the text that the engine
returns; gives it typed.

The classes of this folder have the names and the fields of the engine's structs. A field that is
`UNSET` is left out: the engine has a default for it.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar, TypeVar

import msgspec

from assay.contracts.observation.parts.shape import convert

Answer = TypeVar("Answer")


class EngineDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The base of the documents."""

    first: ClassVar[tuple[str, ...]] = ()
    """Keys that JSON has before those that a base class declares."""

    @property
    def plain(self) -> dict[str, Any]:
        """The same as plain data, as JSON has it."""
        found = dict(msgspec.to_builtins(self, enc_hook=_base))
        return {**{name: found[name] for name in self.first if name in found}, **found}

    @property
    def json(self) -> str:
        """As the engine takes it; holds passwords."""
        return json.dumps(self.plain)


class ScriptDocument(EngineDocument, frozen=True):
    """One transaction type: its name, its path, and its text in the system's dialect."""

    name: str
    path: str
    """Relative to the workload folder, as messages and records name it."""
    text: str
    weight: int = 1
    is_plain: bool = False
    """The text is one statement of a plain file, sent unchanged."""


def _base(value: object) -> object:
    """The value of a subclass of text, as JSON has it."""
    if isinstance(value, str):
        return str.__str__(value)
    raise TypeError(f"expected what JSON has, found {type(value).__name__}")


def read_answer(text: str, kind: type[Answer]) -> Answer:
    """What the engine has returned."""
    return convert(json.loads(text), kind, kind.__name__)
