"""Takes named values from several sources, the first wins; returns each value and its origin.

A URL is completed by what the system's own clients read: variables of the environment, option
files. What a run used, and where that came from, can be shown.
"""

from __future__ import annotations

from collections.abc import Mapping

from assay.env_vars import EnvVar
from assay.errors import ArgumentError
from assay.text.files import text_file

URL = "URL"
"""The origin of what stands in the URL itself."""
LOGIN_NAME = "login name"
"""The origin of a user that nothing names."""


class Sourced:
    """Values by the names that the system's own clients have for them."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[str, str]] = {}

    def add(self, origin: str, values: Mapping[str, str | None]) -> None:
        """Values that are not known yet; an empty one says nothing. Raises `ArgumentError` for one
        that is no text."""
        for name, value in values.items():
            if value and name not in self._found:
                if text_file.shown_if_not_utf8(value) is not None:
                    raise ArgumentError(f"{name} ({origin}): expected UTF-8")
                self._found[name] = (value, origin)

    def with_values(self, values: Mapping[str, str | None]) -> Sourced:
        """A copy in which these names have these values, with their origins; None: no value."""
        made = Sourced()
        for name, (value, origin) in self._found.items():
            made.add(origin, {name: values.get(name, value)})
        return made

    def add_environment(self, variables: Mapping[str, EnvVar]) -> None:
        for name, variable in variables.items():
            self.add(variable.name, {name: variable.get()})

    def get(self, name: str) -> str | None:
        return self._found[name][0] if name in self._found else None

    def origin(self, name: str) -> str | None:
        return self._found[name][1] if name in self._found else None

    def spelled(self, name: str) -> str:
        """For messages: ``port=0 in the URL``, ``port=0 (PGPORT)``."""
        value, origin = self._found[name]
        return f"{name}={value} " + ("in the URL" if origin == URL else f"({origin})")

    def from_elsewhere(self, *names: str) -> dict[str, str]:
        """Those of the names that the URL does not hold."""
        return {
            name: self._found[name][0]
            for name in names
            if name in self._found and self._found[name][1] != URL
        }
